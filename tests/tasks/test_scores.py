"""Softmax, mass, means and ranks; what is not known stays unknown."""

from __future__ import annotations

import math

import pytest
from hypothesis import given
from hypothesis import strategies as st

from seqgpt_ui.tasks import scores

LOGPROBS = st.dictionaries(st.text(max_size=3), st.floats(-800, 0) | st.none(), min_size=1, max_size=8)


def test_softmax_is_relative_to_the_set() -> None:
    found = scores.softmax({"甲": math.log(0.02), "乙": math.log(0.06)})
    assert found == {"甲": pytest.approx(0.25), "乙": pytest.approx(0.75)}


def test_very_unlikely_sets_still_have_scores() -> None:
    assert scores.softmax({"甲": -5000.0, "乙": -5000.0}) == {"甲": 0.5, "乙": 0.5}


@pytest.mark.parametrize("value", [None, -math.inf, math.nan])
def test_what_is_not_known_stays_unknown(value: float | None) -> None:
    assert scores.softmax({"甲": -1.0, "乙": value}) == {"甲": 1.0, "乙": None}
    assert scores.softmax({"乙": value}) == {"乙": None}
    assert scores.probabilities({"乙": value}) == {"乙": None}
    assert scores.mass({"甲": 0.0, "乙": value}) == 1.0
    assert scores.mass({"乙": value}) is None


def test_mass_is_the_probability_of_the_set_and_never_over_one() -> None:
    assert scores.mass({"甲": math.log(0.1), "乙": math.log(0.2)}) == pytest.approx(0.3)
    assert scores.mass({"甲": 0.0, "乙": math.log(1e-9)}) == 1.0


def test_the_mean_counts_tokens() -> None:
    found = scores.weighted_mean([{"甲": 1.0, "乙": 0.0}, {"甲": 0.0, "乙": 1.0}], [30.0, 10.0])
    assert found == {"甲": 0.75, "乙": 0.25}


def test_windows_that_do_not_know_a_label_do_not_count_for_it() -> None:
    assert scores.weighted_mean([{"甲": 0.5}, {"甲": None}], [1.0, 9.0]) == {"甲": 0.5}
    assert scores.weighted_mean([{"甲": None}], [1.0]) == {"甲": None}
    assert scores.mean([None, 0.5], [3.0, 1.0]) == 0.5
    assert scores.mean([None], [3.0]) is None


def test_the_highest_score_of_any_window() -> None:
    assert scores.highest([{"甲": 0.2}, {"甲": 0.7, "乙": None}]) == {"甲": 0.7, "乙": None}


def test_equal_scores_keep_their_order_and_unknown_ones_come_last() -> None:
    assert scores.ranked({"甲": 0.2, "乙": None, "丙": 0.2, "丁": 0.9}) == ["丁", "甲", "丙", "乙"]


@given(LOGPROBS)
def test_softmax_sums_to_one_and_keeps_the_order(logprobs: dict[str, float | None]) -> None:
    found = scores.softmax(logprobs)
    assert set(found) == set(logprobs)
    known = [value for value in found.values() if value is not None]
    assert not known or math.isclose(math.fsum(known), 1.0)
    for one in logprobs:
        for other in logprobs:
            left, right = logprobs[one], logprobs[other]
            if left is not None and right is not None and left > right:
                assert (found[one] or 0.0) >= (found[other] or 0.0)


@given(st.lists(LOGPROBS, min_size=1, max_size=4), st.data())
def test_means_lie_between_the_windows(windows: list[dict[str, float | None]], data: st.DataObject) -> None:
    weights = data.draw(st.lists(st.floats(1, 1000), min_size=len(windows), max_size=len(windows)))
    softmaxes = list(map(scores.softmax, windows))
    for label, value in scores.weighted_mean(softmaxes, weights).items():
        known = [score for item in softmaxes if (score := item.get(label)) is not None]
        assert (value is None) == (not known)
        assert value is None or min(known) - 1e-9 <= value <= max(known) + 1e-9
