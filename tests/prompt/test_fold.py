"""Folding of case and width maps back to whole characters."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from seqgpt_ui.prompt.fold import FoldedText, fold

TEXTS = st.text(max_size=60)


@pytest.mark.parametrize(
    ("one", "other"),
    [
        ("ＡＢＣ１２", "abc12"),
        ("：", ":"),
        ("，", ","),
        ("İstanbul", "i̇stanbul"),
        ("㈱", "(株)"),
        ("ﬁ", "fi"),
        ("STRASSE", "straße"),
    ],
)
def test_case_and_width_do_not_matter(one: str, other: str) -> None:
    assert fold(one) == fold(other)


@pytest.mark.parametrize(
    ("text", "value", "expected"),
    [
        ("来自ＡＢＣ公司", "abc", (2, 5)),
        ("㈱东方", "东方", (1, 3)),
        ("在İstanbul见", "ISTANBUL", None),
        ("在İstanbul见", "stanbul", (2, 9)),
        ("café", "cafe", None),
        ("cafe\u0301!", "café", (0, 5)),
        ("ﬁn", "f", None),
        ("ﬁn", "i", None),
        ("ﬁn", "FI", (0, 1)),
        ("", "a", None),
        ("abc", "", None),
    ],
)
def test_places_are_whole_characters_of_the_text(text: str, value: str, expected: tuple[int, int] | None) -> None:
    assert FoldedText(text).find(fold(value)) == expected


def test_find_goes_on_from_a_place() -> None:
    text = FoldedText("Ａa Ａ")
    assert text.find("a", 0) == (0, 1)
    assert text.find("a", 1) == (1, 2)
    assert text.find("a", 2) == (3, 4)
    assert text.find("a", 4) is None


@given(TEXTS, st.integers(0, 60), st.integers(0, 20))
def test_every_piece_of_a_text_is_found(text: str, begin: int, length: int) -> None:
    piece = text[begin : begin + length]
    found = FoldedText(text).find(fold(piece))
    assert (found is None) == (piece == "")
    if found is not None:
        assert fold(text[found[0] : found[1]]) == fold(piece)


@given(TEXTS)
def test_slices_map_back(text: str) -> None:
    folded = FoldedText(text)
    assert folded.slice(0, len(folded.folded)) == text
    assert folded.origin(len(folded.folded)) == len(text)
