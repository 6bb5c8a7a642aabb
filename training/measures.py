"""Accuracy, exact-set match, precision, recall and F1, each with a 95 % bootstrap interval over rows.

Accuracy: the top label is one of the gold labels. F1: micro over distinct (field, span text) pairs. Exact match: the
first span equals the first gold span.
"""

from __future__ import annotations

import random
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass

RESAMPLES = 1000


@dataclass(frozen=True, slots=True)
class Measure:
    """A figure and the interval that 95 % of bootstrap resamples fall in."""

    name: str
    value: float
    low: float
    high: float


@dataclass(frozen=True, slots=True)
class Counts:
    """What one row adds to a measure: successes and the totals they are divided by."""

    hits: float
    predicted: float
    gold: float


def pairs(fields: Mapping[str, Sequence[str]]) -> set[tuple[str, str]]:
    """Distinct (field, span text) pairs."""
    return {(field, span) for field, spans in fields.items() for span in spans}


def count_pairs(found: Mapping[str, Sequence[str]], gold: Mapping[str, Sequence[str]]) -> Counts:
    """Pairs found, predicted and wanted in one row."""
    predicted, wanted = pairs(found), pairs(gold)
    return Counts(len(predicted & wanted), len(predicted), len(wanted))


def precision(rows: Sequence[Counts]) -> float:
    """Share of predictions that are right; 0 when nothing was predicted."""
    return _ratio(sum(row.hits for row in rows), sum(row.predicted for row in rows))


def recall(rows: Sequence[Counts]) -> float:
    """Share of gold pairs that were found."""
    return _ratio(sum(row.hits for row in rows), sum(row.gold for row in rows))


def f1(rows: Sequence[Counts]) -> float:
    """Harmonic mean of precision and recall."""
    return _ratio(2 * sum(row.hits for row in rows), sum(row.predicted + row.gold for row in rows))


def share(rows: Sequence[Counts]) -> float:
    """Share of rows that are right; used for accuracy and the matches."""
    return _ratio(sum(row.hits for row in rows), len(rows))


def _ratio(part: float, whole: float) -> float:
    return part / whole if whole else 0.0


def bootstrap(name: str, rows: Sequence[Counts], measure: Callable[[Sequence[Counts]], float]) -> Measure:
    """Resample rows with a fixed seed."""
    rng = random.Random(0)
    values = sorted(measure(rng.choices(rows, k=len(rows))) for _ in range(RESAMPLES))
    return Measure(name, measure(rows), values[int(0.025 * RESAMPLES)], values[int(0.975 * RESAMPLES) - 1])
