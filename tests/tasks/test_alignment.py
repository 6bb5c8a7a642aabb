"""Values are found exactly first, then apart from case and width."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from seqgpt_ui.prompt.fold import fold
from seqgpt_ui.tasks.alignment import Aligner, find_all

TEXTS = st.text(st.one_of(st.characters(), st.sampled_from("张三ＡａAİ㈱ﬁ \r\n\t\u3000💩👨\u200d👩𠀀")), max_size=80)


@pytest.mark.parametrize(
    ("text", "value", "expected"),
    [
        ("张三在北京", "北京", (3, 5)),
        ("ABC abc", "abc", (4, 7)),
        ("价格：１２元", "12元", (3, 6)),
        ("Apple Inc.", "apple inc.", (0, 10)),
        ("㈱东方", "(株)东方", (0, 3)),
        ("👨‍👩‍👧在𠀀城", "𠀀城", (6, 8)),
        ("💩💩北京", "北京", (2, 4)),
        ("张三", "李四", None),
        ("张三", "", None),
        ("", "张三", None),
    ],
)
def test_exact_places_first_then_apart_from_case_and_width(
    text: str, value: str, expected: tuple[int, int] | None
) -> None:
    assert Aligner(text).align(value) == expected


def test_the_first_place_not_yet_used_is_taken() -> None:
    aligner = Aligner("北京和北京")
    assert aligner.align("北京") == (0, 2)
    assert aligner.align("北京", {(0, 2)}) == (3, 5)
    assert aligner.align("北京", {(0, 2), (3, 5)}) == (0, 2)


def test_used_places_count_apart_from_case_too() -> None:
    aligner = Aligner("ABC和ABC")
    assert aligner.align("abc", {(0, 3)}) == (4, 7)


@given(TEXTS, st.integers(0, 80), st.integers(1, 20))
def test_every_piece_is_found_where_it_stands(text: str, begin: int, length: int) -> None:
    value = text[begin : begin + length]
    span = Aligner(text).align(value)
    if value:
        assert span is not None
        assert text[span[0] : span[1]] == value


@given(TEXTS, TEXTS)
def test_a_place_always_holds_the_value(text: str, value: str) -> None:
    span = Aligner(text).align(value)
    if span is not None:
        assert fold(text[span[0] : span[1]]) == fold(value)


@given(TEXTS, st.integers(0, 80), st.integers(1, 20))
def test_changing_case_keeps_the_value_in_the_text(text: str, begin: int, length: int) -> None:
    value = text[begin : begin + length]
    if value and fold(value.swapcase()) == fold(value):
        assert Aligner(text).align(value.swapcase()) is not None


def test_all_places_overlapping_ones_too() -> None:
    assert find_all("aaa", "aa", 10) == ((0, 2), (1, 3))
    assert find_all("北京到北京", "北京", 10) == ((0, 2), (3, 5))
    assert find_all("北京", "", 10) == ()
    assert find_all("aaaa", "a", 2) == ((0, 1), (1, 2))
