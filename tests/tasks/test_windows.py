"""Windows cover a text, go forward and end where sentences do."""

from __future__ import annotations

import itertools

import pytest
from hypothesis import given
from hypothesis import strategies as st

from seqgpt_ui.tasks.windows import Window, cut_windows

TEXTS = st.text(st.sampled_from("天地人ab c.。！?;，,\n\r”）😀\u3000"), min_size=1, max_size=300)


def by_character(text: str) -> list[int]:
    return list(range(len(text)))


def pieces(text: str, room: int, overlap: int = 0) -> list[str]:
    return [text[window.start : window.end] for window in cut_windows(text, by_character(text), room, overlap)]


def test_a_short_text_is_one_window() -> None:
    assert cut_windows("你好", [0, 1], 2) == [Window(0, 2, 2)]
    assert cut_windows("你好", [0, 1], 100, 15) == [Window(0, 2, 2)]


@pytest.mark.parametrize(
    ("text", "room", "expected"),
    [
        ("今天很好。明天更好。", 8, ["今天很好。", "明天更好。"]),
        ("今天很好！明天更好？", 8, ["今天很好！", "明天更好？"]),
        ("他说：“好。”我也说好。", 9, ["他说：“好。”", "我也说好。"]),
        ("One two. Three four.", 14, ["One two.", " Three four."]),
        ("pi was 3.14159265358", 12, ["pi was ", "3.1415926535", "8"]),
        ("第一行\n第二行的字", 7, ["第一行\n", "第二行的字"]),
        ("第一行的字\r\n第二行", 8, ["第一行的字\r\n", "第二行"]),
        ("甲乙丙，丁戊己庚", 6, ["甲乙丙，", "丁戊己庚"]),
        ("甲乙丙丁戊己庚", 3, ["甲乙丙", "丁戊己", "庚"]),
        ("好。甲乙丙丁戊己庚辛", 6, ["好。甲乙丙丁", "戊己庚辛"]),
    ],
)
def test_sentence_ends_come_first_then_clauses_then_anywhere(text: str, room: int, expected: list[str]) -> None:
    assert pieces(text, room) == expected


def test_the_overlap_begins_at_a_sentence_or_clause_if_it_can() -> None:
    text = "甲乙丙丁戊己，庚辛。" * 3
    found = pieces(text, 20, 6)
    assert found[0] == text[:20]
    assert found[1].startswith("庚辛。甲乙")


def test_without_punctuation_neighbours_share_the_overlap() -> None:
    text = "甲" * 50
    windows = cut_windows(text, by_character(text), 20, 5)
    assert [(window.start, window.end) for window in windows] == [(0, 20), (15, 35), (30, 50)]


def test_tokens_that_share_a_character_are_never_parted() -> None:
    starts = [place for place in range(10) for _ in range(4)]
    windows = cut_windows("😀" * 10, starts, 10)
    assert [(window.start, window.end) for window in windows] == [(0, 2), (2, 4), (4, 6), (6, 8), (8, 10)]


def test_a_room_smaller_than_a_character_still_ends() -> None:
    windows = cut_windows("😀😀", [0, 0, 0, 0, 1, 1, 1, 1], 2)
    assert windows[-1].end == 2
    assert windows[0].start == 0


@given(TEXTS, st.integers(1, 80), st.integers(0, 40))
def test_every_character_is_covered_and_windows_go_forward(text: str, room: int, overlap: int) -> None:
    windows = cut_windows(text, by_character(text), room, overlap)
    assert windows[0].start == 0
    assert windows[-1].end == len(text)
    for before, after in itertools.pairwise(windows):
        assert before.start < after.start <= before.end < after.end or after.end == len(text)
        assert before.end - after.start <= overlap
        assert after.start == before.end or overlap
    assert all(window.end - window.start <= room for window in windows)
    assert all(window.num_tokens == window.end - window.start for window in windows)


@given(TEXTS, st.integers(4, 60), st.data())
def test_any_token_places_give_windows(text: str, room: int, data: st.DataObject) -> None:
    starts = sorted(data.draw(st.lists(st.integers(0, len(text) - 1), max_size=200)))
    windows = cut_windows(text, starts, room, room // 4)
    covered: set[int] = set()
    for window in windows:
        covered.update(range(window.start, window.end))
    assert covered == set(range(len(text)))


@pytest.mark.parametrize("unit", ["甲", "甲乙丙。", "a b ", "\n", "。”", "..", ". "])
def test_a_hundred_thousand_characters_are_cut(unit: str) -> None:
    text = unit * (100_000 // len(unit))
    windows = cut_windows(text, by_character(text), 900, 64)
    assert 100 < len(windows) < 300
    assert windows[-1].end == len(text)
