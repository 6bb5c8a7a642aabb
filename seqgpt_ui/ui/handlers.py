"""What the pages' buttons do: read the widgets, ask the pipeline, hand the answer to a presenter. No widget here."""

from __future__ import annotations

from collections.abc import AsyncIterator

from seqgpt_ui.api.service import Service
from seqgpt_ui.errors import SeqGPTError
from seqgpt_ui.protocol import InfoResponse, Mode
from seqgpt_ui.tasks.requests import ClassifyRequest, ExtractRequest, PromptRequest
from seqgpt_ui.ui.i18n import Language
from seqgpt_ui.ui.presenters.classification import (
    ClassificationView,
    failed_classification,
    present_classifications,
)
from seqgpt_ui.ui.presenters.extraction import ExtractionView, failed_extraction, present_extraction
from seqgpt_ui.ui.presenters.free_prompt import FreeView, failed_free, present_free, present_partial


class Handlers:
    """One method per action; every one answers a view and never raises one of our own errors."""

    def __init__(self, service: Service) -> None:
        self._service = service
        self._deadline_s = service.settings.deadline_s

    async def classify(
        self,
        text: str,
        is_several: bool,
        labels: str,
        multi_label: bool,
        threshold: float,
        all_scores: bool,
        mode: Mode,
        template: str,
        language: Language,
    ) -> ClassificationView:
        """Classify one text, or with ``is_several`` every line that is not blank."""
        texts = tuple(line for line in text.splitlines() if line.strip()) if is_several else (text,)
        request = ClassifyRequest(
            texts=texts or (text,),
            labels=labels,
            multi_label=multi_label,
            threshold=threshold or None,
            all_scores=all_scores or None,
            mode=mode,
            template=template or None,
            deadline_s=self._deadline_s,
        )
        try:
            results = await self._service.pipeline.classify(request)
        except SeqGPTError as error:
            return failed_classification(error, language)
        return present_classifications(request.texts, results, await self._service.model(), language)

    async def extract(self, text: str, fields: str, mode: Mode, template: str, language: Language) -> ExtractionView:
        """Look for the fields in one text."""
        request = ExtractRequest(
            texts=(text,), fields=fields, mode=mode, template=template or None, deadline_s=self._deadline_s
        )
        try:
            results = await self._service.pipeline.extract(request)
        except SeqGPTError as error:
            return failed_extraction(error, language)
        return present_extraction(text, results[0], await self._service.model(), language)

    async def prompt(
        self,
        prompt: str,
        max_new_tokens: float,
        repetition_penalty: float,
        do_sample: bool,
        temperature: float,
        top_p: float,
        seed: float | None,
        language: Language,
    ) -> AsyncIterator[FreeView]:
        """Answer a free prompt, view by view as the answer grows."""
        request = PromptRequest(
            prompt=prompt,
            max_new_tokens=int(max_new_tokens),
            repetition_penalty=repetition_penalty,
            do_sample=do_sample,
            temperature=temperature,
            top_p=top_p,
            seed=None if seed is None else int(seed),
            deadline_s=self._deadline_s,
        )
        written = ""
        try:
            async for event in self._service.pipeline.stream_prompt(request):
                if isinstance(event, str):
                    written += event
                    yield present_partial(written)
                else:
                    yield present_free(event, await self._service.model(), language)
        except SeqGPTError as error:
            yield failed_free(error, written, language)

    async def info(self) -> InfoResponse:
        """State of the worker."""
        return await self._service.info()
