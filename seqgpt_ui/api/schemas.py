"""Bodies that the REST interface accepts. Unknown fields are refused; the names are the product's public contract."""

from __future__ import annotations

from typing import Annotated

from pydantic import BaseModel, ConfigDict, Field

from seqgpt_ui.protocol import Mode
from seqgpt_ui.tasks.requests import ClassifyRequest, ExtractRequest, PromptRequest

Texts = str | Annotated[list[str], Field(min_length=1)]
Names = str | Annotated[list[str], Field(min_length=1)] | None
NAMES_HELP = "a list, or one string in which any of , ， 、 ; ； | and line breaks separate; null = the template's own"


class Body(BaseModel):
    """Base of all bodies: strict types, no unknown fields, no NaN or infinity."""

    model_config = ConfigDict(extra="forbid", strict=True, frozen=True, allow_inf_nan=False)


class ClassifyBody(Body):
    """Texts to classify and the labels to choose from."""

    text: Texts = Field(description="a text, or a list of texts answered in their order")
    labels: Names = Field(default=None, description=NAMES_HELP)
    multi_label: bool | None = Field(default=False, description="true or false, or null: what the template says")
    threshold: float | None = Field(default=None, ge=0, le=1, description="a number from 0 to 1: drop lower scores")
    min_labels: int | None = Field(default=None, ge=0, description="a whole number: at least so many labels")
    max_labels: int | None = Field(default=None, ge=1, description="a whole number from 1: at most so many labels")
    fallback_label: str | None = Field(default=None, description="a label to answer when none passes the threshold")
    all_scores: bool | None = Field(default=None, description="true: a score for every label, however many there are")
    mode: Mode = Field(default="fast", description="fast, precise or official")
    template: str | None = Field(default=None, description="a name from GET /api/templates")

    def to_request(self, deadline_s: float) -> ClassifyRequest:
        """The pipeline's form of this body."""
        return ClassifyRequest(
            texts=as_tuple(self.text),
            labels=as_names(self.labels),
            multi_label=self.multi_label,
            threshold=self.threshold,
            min_labels=self.min_labels,
            max_labels=self.max_labels,
            fallback_label=self.fallback_label,
            all_scores=self.all_scores,
            mode=self.mode,
            template=self.template,
            deadline_s=deadline_s,
        )


class ExtractBody(Body):
    """Texts to read and the fields to look for."""

    text: Texts = Field(description="a text, or a list of texts answered in their order")
    fields: Names = Field(default=None, description=NAMES_HELP)
    mode: Mode = Field(default="fast", description="fast, precise or official")
    template: str | None = Field(default=None, description="a name from GET /api/templates")

    def to_request(self, deadline_s: float) -> ExtractRequest:
        """The pipeline's form of this body."""
        return ExtractRequest(
            texts=as_tuple(self.text),
            fields=as_names(self.fields),
            mode=self.mode,
            template=self.template,
            deadline_s=deadline_s,
        )


class PromptBody(Body):
    """A free prompt; greedy unless ``do_sample`` is set."""

    prompt: str = Field(min_length=1, description="a text that is not empty")
    max_new_tokens: int = Field(default=256, ge=1, le=1024, description="a whole number from 1 to 1024")
    repetition_penalty: float = Field(default=1.0, ge=0.5, le=4, description="a number from 0.5 to 4")
    do_sample: bool = Field(default=False, description="true: sample, false: greedy")
    temperature: float = Field(default=1.0, gt=0, le=5, description="a number above 0, up to 5")
    top_p: float = Field(default=1.0, gt=0, le=1, description="a number above 0, up to 1")
    seed: int | None = Field(default=None, ge=0, lt=2**63, description="a whole number from 0, below 2^63")
    stream: bool = Field(default=False, description="true: answer in server-sent events")

    def to_request(self, deadline_s: float) -> PromptRequest:
        """The pipeline's form of this body."""
        return PromptRequest(**self.model_dump(exclude={"stream"}), deadline_s=deadline_s)


def as_tuple(text: str | list[str]) -> tuple[str, ...]:
    """One text or several, as several."""
    return (text,) if isinstance(text, str) else tuple(text)


def as_names(names: str | list[str] | None) -> str | tuple[str, ...] | None:
    """Labels as typed stay a string, so that one place alone splits them; a list keeps its items whole."""
    return tuple(names) if isinstance(names, list) else names
