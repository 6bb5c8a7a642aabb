"""Measures by hand-made counts, and intervals that hold their value."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from training.measures import Counts, bootstrap, count_pairs, f1, precision, recall, share

COUNTS = st.lists(
    st.tuples(st.integers(0, 3), st.integers(0, 3), st.integers(0, 3)).map(
        lambda c: Counts(c[0], c[0] + c[1], c[0] + c[2])
    ),
    min_size=1,
    max_size=20,
)


def test_pairs_are_counted_once() -> None:
    counts = count_pairs({"a": ["x", "x", "y"], "b": ["x"]}, {"a": ["x"], "b": ["z"]})
    assert counts == Counts(1, 3, 2)


def test_figures() -> None:
    rows = [Counts(1, 2, 1), Counts(0, 0, 1), Counts(2, 2, 2)]
    assert precision(rows) == pytest.approx(3 / 4)
    assert recall(rows) == pytest.approx(3 / 4)
    assert f1(rows) == pytest.approx(3 / 4)
    assert share([Counts(1, 1, 1), Counts(0, 1, 1)]) == 0.5
    assert f1([Counts(0, 0, 0)]) == precision([]) == 0.0


@given(COUNTS)
def test_f1_lies_between_precision_and_recall(rows: list[Counts]) -> None:
    low, high = sorted((precision(rows), recall(rows)))
    assert low - 1e-9 <= f1(rows) <= high + 1e-9


def test_intervals_hold_the_value_and_repeat() -> None:
    rows = [Counts(index % 3 == 0, 1, 1) for index in range(60)]
    measure = bootstrap("accuracy", rows, share)
    assert measure.low <= measure.value <= measure.high
    assert measure == bootstrap("accuracy", rows, share)
    assert measure.value == pytest.approx(1 / 3)
