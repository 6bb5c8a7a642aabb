"""Arithmetic of label scores. A log-probability that is not known stays None all the way."""

from __future__ import annotations

import math
from collections.abc import Iterable, Mapping, Sequence
from typing import TypeGuard

Scores = Mapping[str, float | None]


def softmax(logprobs: Scores) -> dict[str, float | None]:
    """Probabilities relative to the set: they sum to one over the labels that have a log-probability."""
    known = [value for value in logprobs.values() if _is_finite(value)]
    if not known:
        return dict.fromkeys(logprobs)
    top = max(known)
    total = sum(math.exp(value - top) for value in known)
    return {label: math.exp(value - top) / total if _is_finite(value) else None for label, value in logprobs.items()}


def probabilities(logprobs: Scores) -> dict[str, float | None]:
    """Each log-probability as a probability."""
    return {label: _exp(value) for label, value in logprobs.items()}


def mass(logprobs: Scores) -> float | None:
    """The probability of the whole set; None if no member is known."""
    known = [probability for value in logprobs.values() if (probability := _exp(value)) is not None]
    return min(1.0, math.fsum(known)) if known else None


def weighted_mean(scores: Sequence[Scores], weights: Sequence[float]) -> dict[str, float | None]:
    """The mean over windows, by weight; windows that do not know a label do not count for it."""
    return {label: mean([item.get(label) for item in scores], weights) for label in _labels(scores)}


def mean(values: Sequence[float | None], weights: Sequence[float]) -> float | None:
    """The weighted mean of the values that are known."""
    known = [(value, weight) for value, weight in zip(values, weights, strict=True) if value is not None]
    total = math.fsum(weight for _, weight in known)
    return math.fsum(value * weight for value, weight in known) / total if total else None


def highest(scores: Sequence[Scores]) -> dict[str, float | None]:
    """The highest score of every label over the windows."""
    return {
        label: max((value for item in scores if (value := item.get(label)) is not None), default=None)
        for label in _labels(scores)
    }


def ranked(scores: Scores) -> list[str]:
    """Labels from the highest score down; equal scores keep their order, unknown ones come last."""
    return sorted(scores, key=lambda label: -value if (value := scores[label]) is not None else math.inf)


def _labels(scores: Iterable[Scores]) -> list[str]:
    return list(dict.fromkeys(label for item in scores for label in item))


def _is_finite(value: float | None) -> TypeGuard[float]:
    return value is not None and math.isfinite(value)


def _exp(value: float | None) -> float | None:
    return min(1.0, math.exp(value)) if _is_finite(value) else None
