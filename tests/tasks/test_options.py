"""Threshold, bounds and fallback decide which labels are answered."""

from __future__ import annotations

from dataclasses import replace
from typing import Any

import pytest

from seqgpt_ui.errors import InvalidLabels, InvalidRequest
from seqgpt_ui.tasks.options import ClassifyOptions
from seqgpt_ui.tasks.requests import ClassifyRequest

SCORES = {"甲": 0.6, "乙": 0.3, "丙": 0.1}
RANKED = ["甲", "乙", "丙"]


def select(
    options: ClassifyOptions, candidates: list[str], scores: dict[str, float | None]
) -> tuple[list[str], list[str]]:
    chosen, notices = options.select(candidates, scores)
    return [item.label for item in chosen], [notice.code for notice in notices]


def single(**values: Any) -> ClassifyOptions:
    return ClassifyOptions(**values)


def multi(**values: Any) -> ClassifyOptions:
    return ClassifyOptions(multi_label=True, **values)


def test_single_answers_the_best_label_with_its_score() -> None:
    chosen, notices = single().select(["甲"], SCORES)
    assert [(item.label, item.score) for item in chosen] == [("甲", 0.6)]
    assert notices == ()


@pytest.mark.parametrize(
    ("options", "expected"),
    [
        (single(threshold=0.6), (["甲"], [])),
        (single(threshold=0.7), ([], ["below_threshold"])),
        (single(threshold=0.7, fallback_label="其他"), (["其他"], ["below_threshold", "fallback_used"])),
        (single(threshold=0.7, min_labels=1), (["甲"], [])),
        (single(threshold=0.0), (["甲"], [])),
        (single(fallback_label="其他"), (["甲"], [])),
    ],
)
def test_single_with_a_threshold(options: ClassifyOptions, expected: tuple[list[str], list[str]]) -> None:
    assert select(options, ["甲"], dict(SCORES)) == expected


@pytest.mark.parametrize(
    ("options", "expected"),
    [
        (multi(), (["甲", "乙", "丙"], [])),
        (multi(threshold=0.3), (["甲", "乙"], [])),
        (multi(threshold=0.9), ([], ["below_threshold"])),
        (multi(threshold=0.9, fallback_label="丁"), (["丁"], ["below_threshold", "fallback_used"])),
        (multi(threshold=0.9, min_labels=2), (["甲", "乙"], [])),
        (multi(threshold=0.3, min_labels=1), (["甲", "乙"], [])),
        (multi(max_labels=2), (["甲", "乙"], [])),
        (multi(max_labels=1, threshold=0.0), (["甲"], [])),
        (multi(min_labels=3, max_labels=3), (["甲", "乙", "丙"], [])),
    ],
)
def test_multi_keeps_what_passes(options: ClassifyOptions, expected: tuple[list[str], list[str]]) -> None:
    assert select(options, RANKED, dict(SCORES)) == expected


def test_a_fallback_has_no_score_unless_it_is_one_of_the_labels() -> None:
    options = single(threshold=0.9, fallback_label="其他")
    assert options.select(["甲"], SCORES)[0][0].score is None
    assert replace(options, fallback_label="丙").select(["甲"], SCORES)[0][0].score == 0.1


def test_scores_that_are_not_known_pass_and_that_is_told() -> None:
    assert select(single(threshold=0.9), ["甲"], {}) == (["甲"], ["threshold_ignored"])
    assert select(multi(threshold=0.9), ["甲", "乙"], {"乙": 0.1}) == (["甲"], ["threshold_ignored"])


def test_an_answer_without_labels_is_told() -> None:
    assert select(single(), [], {}) == ([], ["no_valid_label"])
    assert select(single(fallback_label="其他"), [], {}) == (["其他"], ["no_valid_label", "fallback_used"])


@pytest.mark.parametrize(
    ("all_scores", "num_labels", "given"),
    [(None, 50, True), (None, 51, False), (True, 51, True), (False, 2, False)],
)
def test_scores_of_all_labels_are_given_for_few_or_on_request(
    all_scores: bool | None, num_labels: int, given: bool
) -> None:
    labels = [str(number) for number in range(num_labels)]
    shown = ClassifyOptions(all_scores=all_scores).shown_scores(labels, {"0": 0.5})
    assert (shown is not None) == given
    if shown is not None:
        assert list(shown) == labels
        assert shown["0"] == 0.5
        assert shown["1"] is None


def from_request(num_labels: int = 3, multi_label: bool = True, **values: Any) -> ClassifyOptions:
    return ClassifyOptions.from_request(ClassifyRequest(("x",), **values), num_labels, multi_label)


def test_a_request_becomes_options() -> None:
    options = from_request(
        threshold=0.5, min_labels=1, max_labels=2, fallback_label=" 其他 ", all_scores=True, mode="precise"
    )
    assert options == ClassifyOptions(True, 0.5, 1, 2, "其他", True, "precise")
    assert from_request(multi_label=False) == ClassifyOptions()


@pytest.mark.parametrize(
    ("values", "param"),
    [
        ({"threshold": -0.1}, "threshold"),
        ({"threshold": 1.5}, "threshold"),
        ({"threshold": float("nan")}, "threshold"),
        ({"min_labels": -1}, "min_labels"),
        ({"min_labels": 4}, "min_labels"),
        ({"max_labels": 0}, "max_labels"),
        ({"min_labels": 3, "max_labels": 2}, "min_labels"),
        ({"min_labels": 2, "multi_label": False}, "min_labels"),
        ({"max_labels": 2, "multi_label": False}, "max_labels"),
    ],
)
def test_values_out_of_range_are_refused_naming_the_field(values: dict[str, Any], param: str) -> None:
    with pytest.raises(InvalidRequest, match=param) as caught:
        from_request(**values)
    assert caught.value.param == param


@pytest.mark.parametrize("fallback", ["", " ", "a\nb", "x" * 201])
def test_a_fallback_must_be_a_label(fallback: str) -> None:
    with pytest.raises(InvalidLabels) as caught:
        from_request(fallback_label=fallback)
    assert caught.value.param == "fallback_label"


def test_bounds_beyond_the_number_of_labels_are_fine_upwards() -> None:
    assert from_request(max_labels=99).max_labels == 99
    assert from_request(min_labels=1, max_labels=1, multi_label=False).max_labels == 1
