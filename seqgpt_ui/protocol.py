"""The wire between client and worker: what may be asked and what comes back. Unknown fields are refused.

The worker knows prompts, tokens and constraints; tasks, files and pages are none of its business.
"""

from __future__ import annotations

from typing import Annotated, Literal

from pydantic import BaseModel, ConfigDict, Field

MAX_ITEMS = 256
Mode = Literal["fast", "precise", "official"]
FinishReason = Literal["stop", "length", "cancelled"]


class Wire(BaseModel):
    """Base of all messages."""

    model_config = ConfigDict(extra="forbid", frozen=True)


class SegmentMessage(Wire):
    """A run of the prompt; only a run that is not content may hold control tokens such as ``[GEN]``."""

    text: str
    is_content: bool


class ChoiceConstraint(Wire):
    """The answer is one of ``choices``, or with ``multi`` several of them, each at most once.

    Single: nothing is decoded; every choice is scored under the whole vocabulary. ``choices`` are as the prompt shows
    them. ``min_choices``/``max_choices`` bound a multi answer.
    """

    type: Literal["choice"] = "choice"
    choices: list[str] = Field(min_length=1, max_length=2000)
    separator: str = "，"
    multi: bool = False
    min_choices: int = Field(default=1, ge=1)
    max_choices: int | None = Field(default=None, ge=1)


class CopyConstraint(Wire):
    """The answer has one ``field: value`` line per field; values are pieces of ``source``, the text in the prompt."""

    type: Literal["copy"] = "copy"
    fields: list[str] = Field(min_length=1, max_length=64)
    source: str
    span_separator: str = "\t"
    absent: str | None = "None"


Constraint = Annotated[ChoiceConstraint | CopyConstraint, Field(discriminator="type")]


class DecodingParams(Wire):
    """How to decode. ``mode`` is for constrained items; sampling values are for free prompts alone."""

    mode: Mode = "fast"
    max_new_tokens: int = Field(default=256, ge=1, le=1024)
    repetition_penalty: float = Field(default=1.0, ge=0.5, le=4.0)
    do_sample: bool = False
    temperature: float = Field(default=1.0, gt=0.0, le=5.0)
    top_p: float = Field(default=1.0, gt=0.0, le=1.0)
    seed: int | None = Field(default=None, ge=0, lt=2**63)


class GenerateItem(Wire):
    """One prompt. Without a constraint (or in mode official) the answer is free text."""

    segments: list[SegmentMessage] = Field(min_length=1)
    constraint: Constraint | None = None
    params: DecodingParams = DecodingParams()


class GenerateRequest(Wire):
    """Prompts to complete. ``deadline_s`` counts from arrival at the worker; ``stream`` goes with exactly one item."""

    items: list[GenerateItem] = Field(min_length=1, max_length=MAX_ITEMS)
    priority: Literal["interactive", "bulk"] = "interactive"
    deadline_s: float = Field(default=60.0, gt=0.0, le=3600.0)
    stream: bool = False


class ChoiceScore(Wire):
    """One choice of the constraint. ``logprob`` is None when the choice was not opened or not emitted."""

    choice: str
    logprob: float | None


class SpanMessage(Wire):
    """A piece of the source: code point offsets into ``CopyConstraint.source``; score in (0, 1], None if unknown."""

    field: str
    text: str
    start: int
    end: int
    score: float | None


class Completion(Wire):
    """The answer to one item.

    ``choices`` is set for choice constraints (single: every choice with its log-probability; multi: the emitted ones
    in order). ``spans`` is set for copy constraints. Both are None for free text, also in mode official.
    """

    text: str
    finish_reason: FinishReason
    num_prompt_tokens: int
    num_completion_tokens: int
    choices: list[ChoiceScore] | None = None
    spans: list[SpanMessage] | None = None
    elapsed_ms: float = 0.0


class ItemError(Wire):
    """What went wrong with one item; the others are not touched."""

    code: str
    message: str
    param: str | None = None
    http_status: int = 500
    retryable: bool = False
    retry_after_s: float | None = None


class ItemResult(Wire):
    """Exactly one of the two is set."""

    completion: Completion | None = None
    error: ItemError | None = None


class GenerateResponse(Wire):
    """Results in the order of the items."""

    items: list[ItemResult]


class StreamEvent(Wire):
    """One line of a streamed answer (JSON Lines): text that was added, and at the very end the result."""

    delta: str = ""
    result: ItemResult | None = None


class FormatMessage(Wire):
    """The answer syntax of the worker's checkpoint (see ``prompt.profile.FormatProfile``)."""

    has_gen: bool
    label_separator: str
    span_separator: str
    absent: str | None


class TokenizerResponse(Wire):
    """All that counting tokens and building prompts takes. Served with an ETag."""

    tokenizer_json: str
    format: FormatMessage
    gen_id: int | None
    max_prompt_tokens: int


class ModelInfo(Wire):
    """Which checkpoint answers, and how it runs."""

    name: str
    is_demo: bool
    path: str
    num_parameters: int
    vocab_size: int
    backend: str
    device: str
    dtype: str
    quantization: str
    max_prompt_tokens: int


class InfoResponse(Wire):
    """State of the worker. ``model`` is None until it is loaded; ``cause`` says why loading failed and what to do."""

    state: Literal["loading", "ready", "failed", "stopping"]
    cause: str | None = None
    model: ModelInfo | None = None
    choice_reason: str = ""
    num_waiting: int = 0
    num_running: int = 0
    max_queue: int = 0
    max_concurrency: int = 1
    uptime_s: float = 0.0
    num_finished: int = 0
    tokens_per_s: float = 0.0
    rss_bytes: int = 0
    device_memory_bytes: int | None = None
    version: str = ""


class ErrorBody(Wire):
    """The inside of the one JSON error envelope."""

    code: str
    message: str
    param: str | None = None
    request_id: str | None = None


class ErrorEnvelope(Wire):
    """``{"error": {"code", "message", "param", "request_id"}}``, the same for the worker and the public API."""

    error: ErrorBody
