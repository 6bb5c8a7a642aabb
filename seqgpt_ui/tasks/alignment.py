"""Finds where values stand in a text: exactly first, then apart from case and width; never a guess."""

from __future__ import annotations

from collections.abc import Callable, Collection
from functools import cached_property

from seqgpt_ui.prompt.fold import FoldedText, fold

Span = tuple[int, int]
Finder = Callable[[str, int], Span | None]


class Aligner:
    """Aligns values with one text. Offsets are code points of that text."""

    def __init__(self, text: str) -> None:
        self._text = text

    @cached_property
    def _folded(self) -> FoldedText:
        return FoldedText(self._text)

    def align(self, value: str, used: Collection[Span] = ()) -> Span | None:
        """The first place of ``value`` that is not ``used``, or its first place if all are; None if it is not there."""
        return self._first_free(self._exact, value, used) or self._first_free(self._apart_from_case, value, used)

    def _exact(self, value: str, start: int) -> Span | None:
        place = self._text.find(value, start)
        return (place, place + len(value)) if place >= 0 and value else None

    def _apart_from_case(self, value: str, start: int) -> Span | None:
        return self._folded.find(fold(value), start)

    @staticmethod
    def _first_free(find: Finder, value: str, used: Collection[Span]) -> Span | None:
        first = span = find(value, 0)
        while span is not None and span in used:
            span = find(value, span[0] + 1)
        return span or first


def find_all(text: str, value: str, limit: int) -> tuple[Span, ...]:
    """Every place of ``value`` in ``text``, overlapping ones too, at most ``limit`` of them."""
    spans: list[Span] = []
    place = text.find(value) if value else -1
    while place >= 0 and len(spans) < limit:
        spans.append((place, place + len(value)))
        place = text.find(value, place + 1)
    return tuple(spans)
