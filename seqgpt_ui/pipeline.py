"""The one way from a request to its results, for every entrance: page, REST, command line, jobs.

Checks the request, plans prompts, has the worker answer them, merges the answers. Loads no model and shows nothing.
"""

from __future__ import annotations

import asyncio
import time
from collections.abc import AsyncGenerator, Sequence
from contextlib import aclosing
from dataclasses import dataclass
from typing import TypeVar

from pydantic import ValidationError

from seqgpt_ui.dispatch import Call, Client, Clock, Dispatcher, completion_of
from seqgpt_ui.errors import InvalidLabels, InvalidRequest, TextTooLong, WorkerError
from seqgpt_ui.prompt.constraint import profile_from
from seqgpt_ui.prompt.lint import lint_prompt
from seqgpt_ui.prompt.profile import FormatProfile
from seqgpt_ui.prompt.render import Prompt, render_free
from seqgpt_ui.prompt.templates import TaskTemplate, TemplateLibrary
from seqgpt_ui.protocol import Completion, DecodingParams, GenerateItem, InfoResponse, Mode, SegmentMessage
from seqgpt_ui.tasks.classification import ClassificationTask
from seqgpt_ui.tasks.extraction import ExtractionTask
from seqgpt_ui.tasks.labels import LabelSet, read_labels
from seqgpt_ui.tasks.limits import Limits as Limits
from seqgpt_ui.tasks.limits import check_mode, pick_template
from seqgpt_ui.tasks.options import ClassifyOptions
from seqgpt_ui.tasks.planner import Planner
from seqgpt_ui.tasks.requests import ClassifyRequest, ExtractRequest, PromptRequest
from seqgpt_ui.tasks.results import Classification, Extraction, FreeAnswer, Notice
from seqgpt_ui.tasks.task import Answered, Document, Shard, Task
from seqgpt_ui.tokens import TokenCounter

FREE_TEMPLATE = "free"
ResultT = TypeVar("ResultT")


@dataclass(frozen=True, slots=True)
class _Checkpoint:
    """What prompts depend on: answer syntax, tokenizer and context of the loaded checkpoint."""

    tokenizer_json: str
    profile: FormatProfile
    counter: TokenCounter
    max_prompt_tokens: int


class Pipeline:
    """Answers requests through one worker client. Safe to share between concurrent requests."""

    def __init__(
        self, client: Client, templates: TemplateLibrary, limits: Limits | None = None, clock: Clock = time.monotonic
    ) -> None:
        self._client = client
        self._templates = templates
        self._limits = limits or Limits()
        self._dispatcher = Dispatcher(client, clock)
        self._checkpoint: _Checkpoint | None = None

    async def classify(self, request: ClassifyRequest, *, request_id: str | None = None) -> list[Classification]:
        """Label every text, results in their order. Raises what ``errors`` has for bad requests and failed workers."""
        call = self._dispatcher.open(request.deadline_s, request.priority, request_id)
        check_mode(request.mode)
        documents = self._limits.documents(request.texts)
        template = pick_template(self._templates, request.template, "classify")
        labels = self._labels(request.labels, template, "labels")
        multi = template.multi_label if request.multi_label is None else request.multi_label
        options = ClassifyOptions.from_request(request, len(labels.labels), multi)
        planner = await self._planner("classify", template)
        return await self._run(ClassificationTask(labels, options, planner), documents, request.mode, call)

    async def extract(self, request: ExtractRequest, *, request_id: str | None = None) -> list[Extraction]:
        """Find the fields in every text, results in their order. Raises as ``classify`` does."""
        call = self._dispatcher.open(request.deadline_s, request.priority, request_id)
        check_mode(request.mode)
        documents = self._limits.documents(request.texts)
        template = pick_template(self._templates, request.template, "extract")
        fields = self._labels(request.fields, template, "fields")
        planner = await self._planner("extract", template)
        return await self._run(ExtractionTask(fields, request.mode, planner), documents, request.mode, call)

    async def prompt(self, request: PromptRequest, *, request_id: str | None = None) -> FreeAnswer:
        """Complete a free prompt. Raises ``TextTooLong`` when the model's context cannot hold it."""
        call = self._dispatcher.open(request.deadline_s, "interactive", request_id)
        prompt, item = await self._free_item(request)
        (completion,) = await self._dispatcher.send([item], call)
        return _free_answer(request, prompt, completion)

    async def stream_prompt(
        self, request: PromptRequest, *, request_id: str | None = None
    ) -> AsyncGenerator[str | FreeAnswer, None]:
        """Yield pieces of the answer as they come, at the very end the whole answer. Closing it stops the worker."""
        call = self._dispatcher.open(request.deadline_s, "interactive", request_id)
        prompt, item = await self._free_item(request)
        async with aclosing(self._dispatcher.stream(item, call)) as events:
            async for event in events:
                if event.delta:
                    yield event.delta
                if event.result is not None:
                    yield _free_answer(request, prompt, completion_of(event.result))
                    return
        raise WorkerError("the worker's stream ended without a result")

    async def info(self) -> InfoResponse:
        """The worker's state."""
        return await self._client.info()

    async def _run(self, task: Task[ResultT], documents: Sequence[Document], mode: Mode, call: Call) -> list[ResultT]:
        """Rounds of prompts until every document has its result. Planning runs beside the event loop."""
        params = DecodingParams(mode=mode, max_new_tokens=self._limits.max_new_tokens)
        answers: list[list[Answered]] = [[] for _ in documents]
        results: dict[int, ResultT] = {}
        waiting = await asyncio.to_thread(lambda: [(i, task.plan(document)) for i, document in enumerate(documents)])
        while waiting:
            pairs = [(index, shard) for index, shards in waiting for shard in shards]
            completions = await self._dispatcher.send([_item(shard, params) for _, shard in pairs], call)
            for (index, shard), completion in zip(pairs, completions, strict=True):
                answers[index].append(Answered(shard, completion))
            merged = await asyncio.to_thread(_merge, task, documents, answers, [index for index, _ in waiting])
            waiting = [(index, outcome) for index, outcome in merged if isinstance(outcome, list)]
            results.update((index, outcome) for index, outcome in merged if not isinstance(outcome, list))
        return [results[index] for index in range(len(documents))]

    def _labels(self, given: str | tuple[str, ...] | None, template: TaskTemplate, param: str) -> LabelSet:
        if given is None and not template.labels:
            raise InvalidLabels(f"{param} are missing and template {template.id} has none", param=param)
        source = template.labels if given is None else given
        return read_labels(source, param=param, max_labels=self._limits.max_labels)

    async def _planner(self, task: str, template: TaskTemplate) -> Planner:
        checkpoint = await self._current_checkpoint()
        return Planner(task, template, checkpoint.profile, checkpoint.counter, checkpoint.max_prompt_tokens)

    async def _current_checkpoint(self) -> _Checkpoint:
        response = await self._client.tokenizer()
        known = self._checkpoint
        if known is not None and known.tokenizer_json == response.tokenizer_json:
            counter = known.counter
        else:
            counter = await asyncio.to_thread(TokenCounter.from_response, response)
        profile = profile_from(response.format)
        self._checkpoint = _Checkpoint(response.tokenizer_json, profile, counter, response.max_prompt_tokens)
        return self._checkpoint

    async def _free_item(self, request: PromptRequest) -> tuple[Prompt, GenerateItem]:
        self._limits.check_text(request.prompt, "prompt", "prompt")
        params = _sampling(request)
        checkpoint = await self._current_checkpoint()
        prompt = render_free(request.prompt, self._templates.get(FREE_TEMPLATE), checkpoint.profile)
        count = checkpoint.counter.count_prompt(str(prompt))
        if count > checkpoint.max_prompt_tokens:
            message = f"the prompt has {count} tokens; the model takes {checkpoint.max_prompt_tokens}"
            raise TextTooLong(message, param="prompt")
        return prompt, GenerateItem(segments=_segments(prompt), params=params)


def _merge(
    task: Task[ResultT], documents: Sequence[Document], answers: Sequence[Sequence[Answered]], indices: Sequence[int]
) -> list[tuple[int, ResultT | list[Shard]]]:
    return [(index, task.merge(documents[index], answers[index])) for index in indices]


def _segments(prompt: Prompt) -> list[SegmentMessage]:
    return [SegmentMessage(text=segment.text, is_content=segment.is_content) for segment in prompt.segments]


def _item(shard: Shard, params: DecodingParams) -> GenerateItem:
    return GenerateItem(segments=_segments(shard.prompt), constraint=shard.constraint, params=params)


def _sampling(request: PromptRequest) -> DecodingParams:
    """The decoding values of a free prompt. Raises ``InvalidRequest`` naming the first one out of range."""
    try:
        return DecodingParams(
            max_new_tokens=request.max_new_tokens,
            repetition_penalty=request.repetition_penalty,
            do_sample=request.do_sample,
            temperature=request.temperature,
            top_p=request.top_p,
            seed=request.seed,
        )
    except ValidationError as error:
        first = error.errors()[0]
        param = str(first["loc"][0])
        raise InvalidRequest(f"{param}: {first['msg']}", param=param) from error


def _free_answer(request: PromptRequest, prompt: Prompt, completion: Completion) -> FreeAnswer:
    notices = list(lint_prompt(request.prompt))
    if completion.finish_reason == "length":
        limit = request.max_new_tokens
        notices.append(Notice("truncated_output", f"the answer reached its limit of {limit} tokens", {"limit": limit}))
    return FreeAnswer(
        prompt=str(prompt),
        text=completion.text,
        finish_reason=completion.finish_reason,
        num_prompt_tokens=completion.num_prompt_tokens,
        num_tokens=completion.num_completion_tokens,
        warnings=tuple(notices),
    )
