"""The named endpoints of the page server, for ``gradio_client`` and the two-step curl. The same JSON as REST."""

# No postponed annotations here: Gradio reads the return types of these functions as they stand.
from collections.abc import Awaitable, Callable
from typing import Any, TypeVar

import gradio as gr
from gradio.events import api
from pydantic import ValidationError

from seqgpt_ui.api.errors import describe_validation
from seqgpt_ui.api.schemas import Body, ClassifyBody, ExtractBody, PromptBody
from seqgpt_ui.api.serialize import Json, status_json
from seqgpt_ui.api.service import Service
from seqgpt_ui.errors import InvalidRequest, SeqGPTError
from seqgpt_ui.ui.context import LIGHT_LIMIT, MODEL_LIMIT

B = TypeVar("B", bound=Body)


def declare_endpoints(service: Service) -> None:
    """Declare ``/classify``, ``/extract``, ``/prompt``, ``/templates`` and ``/status`` in the Blocks being built."""
    deadline_s = service.settings.deadline_s

    async def classify(
        text: str | list[str],
        labels: str | list[str] | None = None,
        multi_label: bool = False,
        threshold: float | None = None,
        all_scores: bool | None = None,
        mode: str = "fast",
        template: str | None = None,
    ) -> dict[str, Any]:
        """Choose the labels that fit each text."""
        values = {"text": text, "labels": labels, "multi_label": multi_label, "threshold": threshold,
                  "all_scores": all_scores, "mode": mode, "template": template}  # fmt: skip
        return await _answer(lambda: service.classify(_body(ClassifyBody, values).to_request(deadline_s)))

    async def extract(
        text: str | list[str],
        fields: str | list[str] | None = None,
        mode: str = "fast",
        template: str | None = None,
    ) -> dict[str, Any]:
        """Find the pieces of each text that the fields name."""
        values = {"text": text, "fields": fields, "mode": mode, "template": template}
        return await _answer(lambda: service.extract(_body(ExtractBody, values).to_request(deadline_s)))

    async def prompt(
        prompt: str,
        max_new_tokens: int = 256,
        repetition_penalty: float = 1.0,
        do_sample: bool = False,
        temperature: float = 1.0,
        top_p: float = 1.0,
        seed: int | None = None,
    ) -> dict[str, Any]:
        """Answer a free prompt."""
        values = {"prompt": prompt, "max_new_tokens": max_new_tokens, "repetition_penalty": repetition_penalty,
                  "do_sample": do_sample, "temperature": temperature, "top_p": top_p, "seed": seed}  # fmt: skip
        return await _answer(lambda: service.prompt(_body(PromptBody, values).to_request(deadline_s)))

    async def templates() -> dict[str, Any]:
        """List the template library."""
        return service.template_list()

    async def status() -> dict[str, Any]:
        """Tell which model answers and how busy it is."""
        return status_json(await service.info())

    for asks_model in (classify, extract, prompt):
        api(asks_model, api_name=asks_model.__name__, concurrency_id="model", concurrency_limit=MODEL_LIMIT)
    for light in (templates, status):
        api(light, api_name=light.__name__, concurrency_id="light", concurrency_limit=LIGHT_LIMIT)


def _body(model: type[B], values: Json) -> B:
    """The same checks as REST. Raises ``InvalidRequest``."""
    try:
        return model.model_validate(values)
    except ValidationError as error:
        expectations = {name: info.description or "another value" for name, info in model.model_fields.items()}
        errors = [{**item, "loc": ("body", *item["loc"])} for item in error.errors()]
        param, message = describe_validation(errors, expectations)
        raise InvalidRequest(message, param=param) from error


async def _answer(work: Callable[[], Awaitable[Json]]) -> Json:
    """Await the answer; our errors become Gradio's, code first, without a stack trace."""
    try:
        return await work()
    except SeqGPTError as error:
        raise gr.Error(f"{error.code}: {error.message}", print_exception=False) from error
