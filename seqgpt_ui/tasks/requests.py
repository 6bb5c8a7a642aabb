"""What may be asked of the pipeline. Values only: they are checked where they are used."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Literal

from seqgpt_ui.protocol import Mode

Priority = Literal["interactive", "bulk"]


@dataclass(frozen=True, slots=True)
class ClassifyRequest:
    """Texts to label. ``labels`` None means the template's own; a string is split at its separators.

    ``multi_label`` None means what the template says. ``threshold`` acts on scores: the softmax over the labels
    (single label) or the probability of an emitted label (multi). ``min_labels`` best labels are kept whatever the
    threshold says; ``fallback_label`` is answered where no label is left. ``all_scores`` None gives the scores of
    all labels when there are at most 50.
    """

    texts: tuple[str, ...]
    labels: str | tuple[str, ...] | None = None
    multi_label: bool | None = False
    threshold: float | None = None
    min_labels: int | None = None
    max_labels: int | None = None
    fallback_label: str | None = None
    all_scores: bool | None = None
    mode: Mode = "fast"
    template: str | None = None
    priority: Priority = "interactive"
    deadline_s: float = 60.0


@dataclass(frozen=True, slots=True)
class ExtractRequest:
    """Texts to take pieces from. ``fields`` None means the template's own; a string is split at its separators."""

    texts: tuple[str, ...]
    fields: str | tuple[str, ...] | None = None
    mode: Mode = "fast"
    template: str | None = None
    priority: Priority = "interactive"
    deadline_s: float = 60.0


@dataclass(frozen=True, slots=True)
class PromptRequest:
    """A free prompt. Greedy unless ``do_sample``; whatever it says, it is sent with the official ending."""

    prompt: str
    max_new_tokens: int = 256
    repetition_penalty: float = 1.0
    do_sample: bool = False
    temperature: float = 1.0
    top_p: float = 1.0
    seed: int | None = None
    deadline_s: float = 60.0
