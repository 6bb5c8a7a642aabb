"""Shapes of the answers, for the OpenAPI document; what is really sent comes from ``serialize``."""

from __future__ import annotations

from typing import Any, Literal

from pydantic import BaseModel, ConfigDict, Field

from seqgpt_ui.protocol import Mode


class Answer(BaseModel):
    """Base of all answers."""

    model_config = ConfigDict(extra="forbid")


class ModelAnswer(Answer):
    """Which model answered, and how it runs."""

    name: str
    is_demo: bool
    device: str
    dtype: str
    quantization: str


class WarningAnswer(Answer):
    """Something worth knowing about a result; ``code`` is stable, ``message`` is English."""

    code: str
    message: str
    values: dict[str, Any]


class ShardAnswer(Answer):
    """One prompt that was asked: some labels, one window of the text (code points)."""

    prompt: str
    raw: str
    labels: list[str]
    start: int
    end: int
    num_tokens: int
    finish_reason: str
    scores: dict[str, float | None] | None


class ResultAnswer(Answer):
    """What every labelled text tells about how it was answered."""

    prompt: str
    raw: str
    windows: int
    num_tokens: int
    warnings: list[WarningAnswer]
    shards: list[ShardAnswer]
    template: str
    mode: Mode


class LabelAnswer(Answer):
    """A label and its score; null when the score is not known."""

    label: str
    score: float | None


class ClassificationAnswer(ResultAnswer):
    """One classified text. ``mass``: probability of the whole label set before it was scaled to 1."""

    labels: list[LabelAnswer]
    scores: dict[str, float | None] | None
    mass: float | None


class EntityAnswer(Answer):
    """A piece of the text: ``text[start:end]`` in code points, null when it does not stand in the text."""

    field: str
    text: str
    start: int | None
    end: int | None
    score: float | None
    occurrences: list[tuple[int, int]]


class ExtractionAnswer(ResultAnswer):
    """One text whose fields were looked for."""

    entities: list[EntityAnswer]
    fields: dict[str, list[str]]


class FreeAnswerBody(Answer):
    """The answer to a free prompt."""

    text: str
    prompt: str
    finish_reason: str
    num_prompt_tokens: int
    num_tokens: int
    warnings: list[WarningAnswer]


class ClassifyResponse(Answer):
    """Results in the order of the texts."""

    results: list[ClassificationAnswer]
    model: ModelAnswer | None


class ExtractResponse(Answer):
    """Results in the order of the texts."""

    results: list[ExtractionAnswer]
    model: ModelAnswer | None


class PromptResponse(Answer):
    """One answer; streamed, it is the last event."""

    result: FreeAnswerBody
    model: ModelAnswer | None


class ErrorAnswer(Answer):
    """The inside of the error envelope. ``param`` names the field at fault."""

    code: str
    message: str
    param: str | None
    request_id: str | None


class ErrorResponse(Answer):
    """The one shape of every error."""

    error: ErrorAnswer


class AcceptedResponse(Answer):
    """A request that runs by itself; ask ``GET /api/requests/{id}``."""

    id: str
    status: Literal["queued", "in_progress"]


class RequestResponse(Answer):
    """State of such a request; ``result`` once completed, ``error`` once failed."""

    id: str
    status: Literal["queued", "in_progress", "completed", "failed"]
    result: ClassifyResponse | None = None
    error: ErrorAnswer | None = None


class TemplateExample(Answer):
    """A text to try a template with."""

    text: str
    labels: list[str] | None


class TemplateAnswer(Answer):
    """One entry of the template library."""

    id: str
    name: str
    version: int
    task: Literal["classify", "extract", "prompt", "any"]
    title: dict[str, str]
    labels: list[str]
    multi_label: bool
    examples: list[TemplateExample]


class TemplatesResponse(Answer):
    """The template library, newest versions."""

    templates: list[TemplateAnswer]


class StatusModel(ModelAnswer):
    """The model with all that is known about it."""

    num_parameters: int
    vocab_size: int
    backend: str
    max_prompt_tokens: int


class StatusResponse(Answer):
    """State of the worker. ``cause`` says why it is not ready and what to do."""

    state: Literal["loading", "ready", "failed", "stopping"]
    cause: str | None
    model: StatusModel | None
    choice_reason: str
    num_waiting: int = Field(ge=0)
    num_running: int = Field(ge=0)
    max_queue: int
    max_concurrency: int
    uptime_s: float
    num_finished: int
    tokens_per_s: float
    rss_bytes: int
    device_memory_bytes: int | None
    version: str


class HealthResponse(Answer):
    """The process lives (``ok``), or says what it waits for."""

    status: Literal["ok", "loading", "failed", "stopping"]
    cause: str | None = None
