"""Labels are parted and texts cut so that every prompt fits."""

from __future__ import annotations

import functools
import itertools

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from seqgpt_ui.errors import LabelsTooLong
from seqgpt_ui.prompt.profile import FormatProfile
from seqgpt_ui.tasks.planner import MAX_OVERLAP, Layout, Planner, balanced
from seqgpt_ui.tokens import TokenCounter
from tests.fakes import LIBRARY, CharacterCounter, planner, tokenizer_response


@functools.cache
def real_counter() -> TokenCounter:
    return TokenCounter.from_response(tokenizer_response())


def sizes(parts: tuple[tuple[str, ...], ...]) -> list[int]:
    return list(map(len, parts))


def names(count: int) -> list[str]:
    return [f"标签{number:03}" for number in range(count)]


@pytest.mark.parametrize(
    ("count", "num_parts", "expected"),
    [
        (6, 1, [6]),
        (7, 2, [4, 3]),
        (12, 2, [6, 6]),
        (13, 3, [5, 4, 4]),
        (3, 3, [1, 1, 1]),
        (500, 84, [6] * 80 + [5] * 4),
    ],
)
def test_parts_are_those_of_array_split(count: int, num_parts: int, expected: list[int]) -> None:
    assert sizes(balanced(names(count), num_parts)) == expected


@given(st.integers(1, 200), st.data())
def test_parts_are_balanced_whole_and_in_order(count: int, data: st.DataObject) -> None:
    num_parts = data.draw(st.integers(1, count))
    parts = balanced(names(count), num_parts)
    assert [label for part in parts for label in part] == names(count)
    assert len(parts) == num_parts
    assert max(sizes(parts)) - min(sizes(parts)) <= 1
    assert sizes(parts) == sorted(sizes(parts), reverse=True)


@pytest.mark.parametrize(("count", "expected"), [(1, [1]), (6, [6]), (7, [4, 3]), (13, [5, 4, 4])])
def test_short_texts_have_one_window_and_the_fewest_parts(count: int, expected: list[int]) -> None:
    layout = planner("extract").layout("短文本", names(count), part_size=6, overlap=True)
    assert sizes(layout.parts) == expected
    assert [(window.start, window.end) for window in layout.windows] == [(0, 3)]


def fits(found: Layout, text: str, limit: int, task: str = "classify") -> bool:
    measured = planner(task, limit)
    return all(
        CharacterCounter().count_prompt(str(measured.render(text[window.start : window.end], part))) <= limit
        for part in found.parts
        for window in found.windows
    )


def covered(found: Layout, text: str) -> bool:
    places = {place for window in found.windows for place in range(window.start, window.end)}
    return all(place in places or character.isspace() for place, character in enumerate(text))


@settings(max_examples=60)
@given(
    st.text(st.sampled_from("天地人abc 。，\n"), min_size=1, max_size=1200).filter(str.strip),
    st.integers(1, 30),
    st.integers(120, 400),
    st.booleans(),
)
def test_every_prompt_fits_and_every_character_is_asked(text: str, count: int, limit: int, overlap: bool) -> None:
    found = planner("classify", limit).layout(text, names(count), part_size=1000, overlap=overlap)
    assert fits(found, text, limit)
    assert covered(found, text)
    assert [label for part in found.parts for label in part] == names(count)


def test_labels_are_parted_until_a_quarter_is_left_for_the_text() -> None:
    found = planner("classify", 200).layout("甲" * 1000, names(60), part_size=1000, overlap=False)
    assert len(found.parts) == 3
    assert min(window.num_tokens for window in found.windows[:-1]) >= 50
    assert fits(found, "甲" * 1000, 200)


def test_a_short_text_needs_no_more_room_than_itself() -> None:
    found = planner("classify", 200).layout("甲" * 20, names(24), part_size=1000, overlap=False)
    assert len(found.parts) == 1
    assert len(found.windows) == 1


def test_windows_overlap_for_extraction_only() -> None:
    text = "甲" * 3000
    over = planner("extract").layout(text, ["人名"], part_size=6, overlap=True).windows
    assert all(before.end - after.start == MAX_OVERLAP for before, after in itertools.pairwise(over))
    apart = planner("extract").layout(text, ["人名"], part_size=6, overlap=False).windows
    assert all(before.end == after.start for before, after in itertools.pairwise(apart))


def test_a_small_context_overlaps_by_its_share() -> None:
    windows = planner("extract", 125).layout("甲" * 400, ["人名"], part_size=6, overlap=True).windows
    assert {before.end - after.start for before, after in itertools.pairwise(windows)} == {15}


def test_windows_of_white_space_are_not_asked() -> None:
    text = "甲乙。" + " " * 3000 + "丙丁。"
    found = planner("classify", 200).layout(text, ["正面"], part_size=1000, overlap=False)
    assert all(text[window.start : window.end].strip() for window in found.windows)
    assert covered(found, text)
    assert len(found.windows) == 2


@pytest.mark.parametrize(("task", "param"), [("classify", "labels"), ("extract", "fields")])
def test_labels_that_leave_no_room_are_refused(task: str, param: str) -> None:
    with pytest.raises(LabelsTooLong, match="tokens for the text") as caught:
        planner(task, 120).layout("甲" * 50, ["长" * 100], part_size=6, overlap=True)
    assert caught.value.param == param


def test_parts_are_never_smaller_than_asked() -> None:
    labels = ["长" * 60, "短" * 60]
    with pytest.raises(LabelsTooLong):
        planner("classify", 160).layout("甲" * 100, labels, part_size=1000, min_part=2, overlap=False)
    assert len(planner("classify", 160).layout("甲" * 100, labels, part_size=1000, overlap=False).parts) == 2


@settings(max_examples=25, deadline=None)
@given(
    st.text(st.characters(exclude_categories=["Cs"]), min_size=1, max_size=400).filter(str.strip),
    st.integers(1, 12),
)
def test_the_real_tokenizer_agrees(text: str, count: int) -> None:
    counter = real_counter()
    real = Planner("extract", LIBRARY.get("official"), FormatProfile(), counter, 256)
    found = real.layout(text, names(count), part_size=6, overlap=True)
    assert covered(found, text)
    for part in found.parts:
        for window in found.windows:
            assert counter.count_prompt(str(real.render(text[window.start : window.end], part))) <= 256


@pytest.mark.parametrize("unit", ["没有标点的一段话", "有标点，也有句号。", "plain english words ", "😀"])
def test_a_hundred_thousand_characters_are_planned(unit: str) -> None:
    counter = real_counter()
    real = Planner("extract", LIBRARY.get("official"), FormatProfile(), counter, 1024)
    text = unit * (100_000 // len(unit))
    found = real.layout(text, names(13), part_size=6, overlap=True)
    assert found.windows[-1].end >= len(text.rstrip())
    assert len(found.windows) < 600
