"""Extractions as highlighted text and rows."""

from __future__ import annotations

from hypothesis import given
from hypothesis import strategies as st

from seqgpt_ui.errors import TextTooLong
from seqgpt_ui.tasks.results import Entity
from seqgpt_ui.ui.presenters.extraction import (
    PALETTE,
    failed_extraction,
    field_colors,
    present_extraction,
    segments,
    table_headers,
    table_row,
)
from tests.fakes_web import NOTICE, extraction

TEXT = "小明在北京"


def entity(start: int | None, end: int | None, field: str = "f") -> Entity:
    return Entity(field, "x", start, end, None)


def test_view() -> None:
    view = present_extraction(TEXT, extraction(warnings=(NOTICE,)), {"name": "m"}, "en")
    assert view.segments == [("小明", "人名"), ("在北京", None)]
    assert view.rows == [["人名", "小明", "0", "2", "0.900"]]
    assert view.colors == {"人名": PALETTE[0], "地点": PALETTE[1]}
    assert "Repeated labels" in view.notes or "given twice" in view.notes
    assert view.raw == "人名: 小明\n地点: None\n"
    assert view.json is not None
    assert view.json["model"] == {"name": "m"}


def test_nothing_found() -> None:
    view = present_extraction(TEXT, extraction(entities=()), None, "zh")
    assert view.segments == [(TEXT, None)]
    assert view.rows == []
    assert "没有找到" in view.notes


def test_of_two_that_overlap_the_first_and_longer_is_marked() -> None:
    found = [entity(1, 3, "b"), entity(0, 2, "a"), entity(0, 3, "c"), entity(3, 5, "d")]
    assert segments(TEXT, found) == [("小明在", "c"), ("北京", "d")]


def test_what_is_not_in_the_text_is_not_marked() -> None:
    found = [entity(None, None), entity(3, 3), entity(4, 9), entity(-1, 2)]
    assert segments(TEXT, found) == [(TEXT, None)]


def test_neighbours_stay_apart() -> None:
    assert segments("甲乙", [entity(0, 1, "a"), entity(1, 2, "b")]) == [("甲", "a"), ("乙", "b")]


def test_empty_text() -> None:
    assert segments("", [entity(0, 1)]) == []


@given(
    st.text(max_size=60),
    st.lists(st.tuples(st.integers(-2, 70), st.integers(-2, 70), st.sampled_from("abc")), max_size=12),
)
def test_pieces_are_the_text(text: str, places: list[tuple[int, int, str]]) -> None:
    found = segments(text, [entity(start, end, field) for start, end, field in places])
    assert "".join(piece for piece, _ in found) == text
    assert all(piece for piece, _ in found)
    marked = {text[start:end] for start, end, _ in places if 0 <= start < end <= len(text)}
    assert all(piece in marked for piece, field in found if field is not None)


def test_row_of_a_span_that_is_not_in_the_text() -> None:
    assert table_row(entity(None, None)) == ["f", "x", "—", "—", "—"]


def test_colors_begin_again_after_the_last() -> None:
    names = [str(number) for number in range(len(PALETTE) + 1)]
    assert field_colors(names)[names[-1]] == PALETTE[0]
    assert len(set(PALETTE)) == len(PALETTE)


def test_error() -> None:
    view = failed_extraction(TextTooLong("text has 9 characters"), "en")
    assert view.segments == []
    assert "text has 9 characters" in view.notes


def test_headers_follow_the_language() -> None:
    assert table_headers("zh") == ["字段", "内容", "起", "止", "分数"]
    assert table_headers("en") == ["Field", "Span", "Start", "End", "Score"]
