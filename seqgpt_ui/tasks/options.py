"""Which labels of a scored text are answered: threshold, least and most number, fallback."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

from seqgpt_ui.errors import InvalidRequest
from seqgpt_ui.prompt.notice import Notice
from seqgpt_ui.protocol import Mode
from seqgpt_ui.tasks.labels import check_label
from seqgpt_ui.tasks.requests import ClassifyRequest
from seqgpt_ui.tasks.results import LabelScore
from seqgpt_ui.tasks.scores import Scores

MAX_SHOWN_SCORES = 50


@dataclass(frozen=True, slots=True)
class ClassifyOptions:
    """Checked choices of a request (see ``ClassifyRequest``)."""

    multi_label: bool = False
    threshold: float | None = None
    min_labels: int = 0
    max_labels: int | None = None
    fallback_label: str | None = None
    all_scores: bool | None = None
    mode: Mode = "fast"

    @classmethod
    def from_request(cls, request: ClassifyRequest, num_labels: int, multi_label: bool) -> ClassifyOptions:
        """Check the values of a request. Raises ``InvalidRequest`` naming the field."""
        _check_threshold(request.threshold)
        _check_bounds(request.min_labels, request.max_labels, num_labels if multi_label else 1, multi_label)
        fallback = request.fallback_label
        return cls(
            multi_label=multi_label,
            threshold=request.threshold,
            min_labels=request.min_labels or 0,
            max_labels=request.max_labels,
            fallback_label=None if fallback is None else check_label(fallback, "fallback_label"),
            all_scores=request.all_scores,
            mode=request.mode,
        )

    def select(self, candidates: Sequence[str], scores: Scores) -> tuple[tuple[LabelScore, ...], tuple[Notice, ...]]:
        """Keep the candidates (best first) that pass; without a threshold all do. Unknown scores always pass."""
        passing = [label for label in candidates if self._passes(scores.get(label))]
        kept = passing if len(passing) >= self.min_labels else list(candidates[: self.min_labels])
        kept = kept[: self.max_labels] if self.multi_label else kept[:1]
        notices = self._remarks(candidates, kept, scores)
        if not kept and self.fallback_label is not None:
            kept = [self.fallback_label]
            message = f"answered the fallback label {self.fallback_label}"
            notices.append(Notice("fallback_used", message, {"label": self.fallback_label}))
        return tuple(LabelScore(label, scores.get(label)) for label in kept), tuple(notices)

    def _remarks(self, candidates: Sequence[str], kept: Sequence[str], scores: Scores) -> list[Notice]:
        if not candidates:
            return [Notice("no_valid_label", "the answer holds none of the labels")]
        if self.threshold is None:
            return []
        if not kept:
            message = f"no label reaches the threshold {self.threshold}"
            return [Notice("below_threshold", message, {"threshold": self.threshold})]
        if all(scores.get(label) is None for label in kept):
            return [Notice("threshold_ignored", "the threshold was not applied: this mode gives no scores")]
        return []

    def shown_scores(self, labels: Sequence[str], scores: Scores) -> dict[str, float | None] | None:
        """The score of every label asked, or None when there are many and nobody asked for them."""
        wanted = len(labels) <= MAX_SHOWN_SCORES if self.all_scores is None else self.all_scores
        return {label: scores.get(label) for label in labels} if wanted else None

    def _passes(self, score: float | None) -> bool:
        return self.threshold is None or score is None or score >= self.threshold


def _check_threshold(threshold: float | None) -> None:
    if threshold is not None and not 0.0 <= threshold <= 1.0:
        raise InvalidRequest(f"threshold is {threshold}; expected a number from 0 to 1", param="threshold")


def _check_bounds(least: int | None, most: int | None, limit: int, multi_label: bool) -> None:
    allowed = f"at most {limit}, the number of labels" if multi_label else "at most 1 without multi_label"
    if least is not None and not 0 <= least <= limit:
        raise InvalidRequest(f"min_labels is {least}; expected {allowed}", param="min_labels")
    if most is not None and (most < 1 or (most > 1 and not multi_label)):
        expected = "1 or more" if multi_label else "1 without multi_label"
        raise InvalidRequest(f"max_labels is {most}; expected {expected}", param="max_labels")
    if least is not None and most is not None and least > most:
        raise InvalidRequest(f"min_labels is {least}, more than max_labels, {most}", param="min_labels")
