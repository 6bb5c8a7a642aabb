"""Constraints show labels, fields and texts as the prompt does."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from seqgpt_ui.prompt.constraint import choice_constraint, copy_constraint, copy_source, profile_from
from seqgpt_ui.prompt.profile import FormatProfile
from seqgpt_ui.prompt.render import render
from seqgpt_ui.prompt.templates import TemplateLibrary
from seqgpt_ui.protocol import FormatMessage

OFFICIAL = TemplateLibrary.from_folder().get("official")
PROFILE = FormatProfile()


def test_choices_are_as_the_prompt_shows_them() -> None:
    constraint = choice_constraint(["a,b", " 正面 "], PROFILE)
    assert constraint.choices == ["a，b", "正面"]
    assert constraint.separator == "，"
    assert not constraint.multi


@pytest.mark.parametrize(
    ("least", "most", "expected"),
    [(0, None, (1, None)), (2, None, (2, None)), (9, None, (3, None)), (1, 9, (1, 3)), (3, 2, (2, 2)), (1, 1, (1, 1))],
)
def test_bounds_are_cut_to_the_number_of_labels(least: int, most: int | None, expected: tuple[int, int | None]) -> None:
    constraint = choice_constraint(["甲", "乙", "丙"], PROFILE, multi=True, min_choices=least, max_choices=most)
    assert (constraint.min_choices, constraint.max_choices) == expected


def test_the_profile_decides_separators() -> None:
    profile = FormatProfile(label_separator=";", span_separator="；", absent=None)
    assert choice_constraint(["a"], profile).separator == ";"
    constraint = copy_constraint(["人名"], "张三", profile)
    assert (constraint.span_separator, constraint.absent) == ("；", None)


def test_fields_are_as_the_prompt_shows_them() -> None:
    assert copy_constraint(["甲,乙"], "x", PROFILE).fields == ["甲，乙"]


@given(st.text(st.characters(exclude_categories=["Cs"]), min_size=1).filter(str.strip))
def test_the_source_is_the_text_in_the_prompt(text: str) -> None:
    source, skipped = copy_source(text)
    assert text[skipped : skipped + len(source)] == source
    assert copy_constraint(["人名"], text, PROFILE).source == source
    segments = render("extract", text, ["人名"], OFFICIAL, PROFILE).segments
    assert next(segment.text for segment in segments if segment.is_content) == source


def test_the_profile_comes_over_the_wire() -> None:
    message = FormatMessage(has_gen=False, label_separator=";", span_separator=" ", absent="无")
    assert profile_from(message) == FormatProfile(False, ";", " ", "无")
