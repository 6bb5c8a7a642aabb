"""Where spans may start and end."""

from __future__ import annotations

from hypothesis import given
from hypothesis import strategies as st

from seqgpt_ui.decoding.source import BREAKS, Source

TEXTS = st.text(st.characters(exclude_categories=["Cs"]), max_size=40)


@given(TEXTS)
def test_starts_and_ends_are_exactly_the_legal_ones(text: str) -> None:
    source = Source(text)
    starts = {source.character(position) for positions in source.starts.values() for position in positions}
    ends = {source.character(position) for position in source.ends}
    legal = {index for index, character in enumerate(text) if not character.isspace() and character not in BREAKS}
    assert starts == legal
    assert ends == {index + 1 for index in legal}


@given(TEXTS)
def test_runs_stop_at_breaks(text: str) -> None:
    source = Source(text)
    for positions in source.starts.values():
        for position in positions:
            run = source.text(position, source.run_end(position))
            assert not BREAKS & set(run)
            after = source.character(source.run_end(position))
            assert after == len(text) or text[after] in BREAKS


def test_byte_positions_map_to_code_points() -> None:
    source = Source("a😀𠀀b")
    assert [source.character(position) for position in (0, 1, 5, 9, 10)] == [0, 1, 2, 3, 4]
    assert not source.is_edge(2)
    assert source.is_edge(10)
    assert source.text(1, 5) == "😀"


def test_ends_between_is_inclusive() -> None:
    source = Source("ab c")
    assert source.ends_between(1, 4) == [1, 2, 4]
    assert source.has_end(3, 4)
    assert not source.has_end(3, 3)
    assert source.is_end(2)
    assert not source.is_end(3)


def test_an_empty_text_has_nothing() -> None:
    source = Source("")
    assert not source.starts
    assert not source.ends
    assert source.is_edge(0)
