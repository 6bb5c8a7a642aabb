"""A scripted worker client, a character counter, and builders that tests of tasks and pipeline share."""

from __future__ import annotations

import asyncio
import math
from collections.abc import AsyncIterator, Callable, Mapping, Sequence

from seqgpt_ui.errors import SeqGPTError
from seqgpt_ui.prompt.profile import GEN_TOKEN, FormatProfile
from seqgpt_ui.prompt.templates import TemplateLibrary
from seqgpt_ui.protocol import (
    ChoiceConstraint,
    ChoiceScore,
    Completion,
    CopyConstraint,
    FinishReason,
    FormatMessage,
    GenerateItem,
    GenerateRequest,
    GenerateResponse,
    InfoResponse,
    ItemError,
    ItemResult,
    SpanMessage,
    StreamEvent,
    TokenizerResponse,
)
from seqgpt_ui.tasks.planner import Planner
from seqgpt_ui.tasks.task import Answered, Shard
from tests.checkpoints import tokenizer_json

LIBRARY = TemplateLibrary.from_folder()
PROFILE = FormatProfile()
Answer = Callable[[GenerateItem], Completion | ItemError]


class CharacterCounter:
    """Every code point is one token, and so is ``[GEN]``."""

    def count_prompt(self, prompt: str) -> int:
        head = prompt.removesuffix(GEN_TOKEN)
        return len(head) + (head != prompt)

    def starts(self, text: str) -> list[int]:
        return list(range(len(text)))


def planner(task: str, max_prompt_tokens: int = 1024, template: str = "official") -> Planner:
    """A planner that counts characters."""
    return Planner(task, LIBRARY.get(template), PROFILE, CharacterCounter(), max_prompt_tokens)


def completion(
    text: str = "",
    *,
    choices: Mapping[str, float | None] | None = None,
    spans: Sequence[SpanMessage] | None = None,
    finish_reason: FinishReason = "stop",
    num_prompt_tokens: int = 10,
) -> Completion:
    """A completion; ``choices`` maps shown labels to log-probabilities."""
    scores = None if choices is None else [ChoiceScore(choice=name, logprob=value) for name, value in choices.items()]
    return Completion(
        text=text,
        finish_reason=finish_reason,
        num_prompt_tokens=num_prompt_tokens,
        num_completion_tokens=len(text),
        choices=scores,
        spans=None if spans is None else list(spans),
    )


def probabilities(item: Mapping[str, float]) -> Completion:
    """The completion of a choice whose probabilities are given."""
    best = max(item, key=lambda name: item[name])
    return completion(best + "\n", choices={name: math.log(value) for name, value in item.items()})


def span(field: str, source: str, text: str, score: float | None = 0.5, nth: int = 0) -> SpanMessage:
    """The ``nth`` occurrence of ``text`` in ``source`` as a span of ``field``."""
    start = -1
    for _ in range(nth + 1):
        start = source.index(text, start + 1)
    return SpanMessage(field=field, text=text, start=start, end=start + len(text), score=score)


def find_values(values: Mapping[str, Sequence[str]]) -> Answer:
    """A model that finds each field's values wherever they stand in the source."""

    def answer(item: GenerateItem) -> Completion:
        assert isinstance(item.constraint, CopyConstraint)
        source = item.constraint.source
        found = [
            span(field, source, value)
            for field in item.constraint.fields
            for value in values.get(field, ())
            if value in source
        ]
        return completion("".join(f"{piece.field}: {piece.text}\n" for piece in found), spans=found)

    return answer


def prefer(*labels: str) -> Answer:
    """A model that ranks ``labels`` first, in that order, and thinks all others equally unlikely."""

    def answer(item: GenerateItem) -> Completion:
        assert isinstance(item.constraint, ChoiceConstraint)
        ranks = {label: rank for rank, label in enumerate(labels)}
        choices = {choice: -1.0 - ranks.get(choice, 9) for choice in item.constraint.choices}
        if item.constraint.multi:
            choices = {choice: value for choice, value in choices.items() if choice in ranks}
        best = max(choices, key=lambda choice: choices[choice])
        return completion(best + "\n", choices=choices)

    return answer


def answer_all(shards: Sequence[Shard], answer: Callable[[Shard], Completion]) -> list[Answered]:
    """Shards with the answers of a function."""
    return [Answered(shard, answer(shard)) for shard in shards]


def prompt_text(item: GenerateItem) -> str:
    """The prompt of an item as one string."""
    return "".join(segment.text for segment in item.segments)


def tokenizer_response(max_prompt_tokens: int = 1024, has_gen: bool = True) -> TokenizerResponse:
    """What a worker with a small BLOOM-like tokenizer serves."""
    return TokenizerResponse(
        tokenizer_json=tokenizer_json(with_gen=has_gen),
        format=FormatMessage(has_gen=has_gen, label_separator="，", span_separator="\t", absent="None"),
        gen_id=511 if has_gen else None,
        max_prompt_tokens=max_prompt_tokens,
    )


class ScriptedClient:
    """Answers every item by a function and remembers what it was asked."""

    def __init__(self, answer: Answer, *, max_prompt_tokens: int = 1024, has_gen: bool = True) -> None:
        self.requests: list[GenerateRequest] = []
        self.request_ids: list[str | None] = []
        self.num_tokenizer_calls = 0
        self.most_at_once = 0
        self.deltas: Sequence[str] = ()
        self.failure: SeqGPTError | None = None
        self.closed = False
        self._answer = answer
        self._at_once = 0
        self._response = tokenizer_response(max_prompt_tokens, has_gen)

    @property
    def items(self) -> list[GenerateItem]:
        """All items asked so far."""
        return [item for request in self.requests for item in request.items]

    @property
    def prompts(self) -> list[str]:
        """All prompts asked so far."""
        return list(map(prompt_text, self.items))

    async def generate(self, request: GenerateRequest, *, request_id: str | None = None) -> GenerateResponse:
        self.requests.append(request)
        self.request_ids.append(request_id)
        self._at_once += 1
        self.most_at_once = max(self.most_at_once, self._at_once)
        await asyncio.sleep(0)
        self._at_once -= 1
        if self.failure is not None:
            raise self.failure
        return GenerateResponse(items=list(map(self._result, request.items)))

    async def stream(self, request: GenerateRequest, *, request_id: str | None = None) -> AsyncIterator[StreamEvent]:
        self.requests.append(request)
        self.request_ids.append(request_id)
        try:
            for delta in self.deltas:
                yield StreamEvent(delta=delta)
            yield StreamEvent(result=self._result(request.items[0]))
        finally:
            self.closed = True

    async def tokenizer(self) -> TokenizerResponse:
        self.num_tokenizer_calls += 1
        return self._response

    async def info(self) -> InfoResponse:
        return InfoResponse(state="ready")

    def _result(self, item: GenerateItem) -> ItemResult:
        answered = self._answer(item)
        return ItemResult(error=answered) if isinstance(answered, ItemError) else ItemResult(completion=answered)
