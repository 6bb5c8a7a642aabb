"""What the pipeline answers. Offsets are code points of the text as it came; a score that is not known is None."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass

from seqgpt_ui.prompt.notice import Notice as Notice


@dataclass(frozen=True, slots=True)
class LabelScore:
    """A label in the user's spelling and its score in [0, 1]."""

    label: str
    score: float | None


@dataclass(frozen=True, slots=True)
class ShardTrace:
    """One prompt of a result: the labels and the piece of the text (code points) that it held, and its answer.

    ``num_tokens`` counts the prompt. ``scores`` are those of this prompt alone (classification).
    """

    prompt: str
    raw: str
    labels: tuple[str, ...]
    start: int
    end: int
    num_tokens: int
    finish_reason: str
    scores: Mapping[str, float | None] | None = None


@dataclass(frozen=True, slots=True)
class Classification:
    """Labels of one text, best first.

    Single label: scores are a softmax over the label set, and ``mass`` is the probability that the model gives to the
    whole set. Multi-label: scores are the probabilities of the emitted labels and do not sum to one; ``mass`` is None.
    With several prompts, ``prompt`` and ``raw`` are joined by a blank line and ``num_tokens`` is the sum.
    """

    labels: tuple[LabelScore, ...]
    scores: Mapping[str, float | None] | None
    prompt: str
    raw: str
    windows: int
    num_tokens: int
    warnings: tuple[Notice, ...]
    shards: tuple[ShardTrace, ...]
    template: str
    mode: str
    mass: float | None


@dataclass(frozen=True, slots=True)
class Entity:
    """A piece of the text: ``text[start:end] == text``; offsets are None where the answer is not in the text.

    ``occurrences`` lists every place of these characters in the text. Fields are not grouped by event.
    """

    field: str
    text: str
    start: int | None
    end: int | None
    score: float | None
    occurrences: tuple[tuple[int, int], ...] = ()


@dataclass(frozen=True, slots=True)
class Extraction:
    """Entities of one text by their place, and the distinct values of every field asked."""

    entities: tuple[Entity, ...]
    fields: Mapping[str, tuple[str, ...]]
    prompt: str
    raw: str
    windows: int
    num_tokens: int
    warnings: tuple[Notice, ...]
    shards: tuple[ShardTrace, ...]
    template: str
    mode: str


@dataclass(frozen=True, slots=True)
class FreeAnswer:
    """The answer to a free prompt, with the prompt exactly as it was sent."""

    prompt: str
    text: str
    finish_reason: str
    num_prompt_tokens: int
    num_tokens: int
    warnings: tuple[Notice, ...]
