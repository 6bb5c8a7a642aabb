"""Cuts a long text into windows by token places: at sentence ends if it can, at clauses, else anywhere.

Linear in the text; every character lies in a window. Knows nothing of tokenizers: token places come from outside.
"""

from __future__ import annotations

import re
from bisect import bisect_left
from collections.abc import Sequence
from dataclasses import dataclass

_SENTENCE_END = re.compile(r"(?:\r\n|[。！？；!?;\n\r\u2028\u2029]|\.(?=\s))[\"'”’」』）)\]】》]*")
_CLAUSE_END = re.compile(r"[，,、：:]|\s(?=\S)")


@dataclass(frozen=True, slots=True)
class Window:
    """A piece of a text, in code points, and about how many tokens it has."""

    start: int
    end: int
    num_tokens: int


def cut_windows(text: str, starts: Sequence[int], room: int, overlap: int = 0) -> list[Window]:
    """Cut ``text`` into windows of at most ``room`` tokens, neighbours sharing up to ``overlap`` tokens.

    ``starts`` has the place of every token, ascending. Without overlap the windows adjoin.
    """
    return _Cutter(text, starts, max(1, room), overlap).windows()


class _Cutter:
    """One pass over one text."""

    def __init__(self, text: str, starts: Sequence[int], room: int, overlap: int) -> None:
        self._text = text
        self._starts = starts
        self._room = room
        self._overlap = min(overlap, room // 3)
        self._sentences = [match.end() for match in _SENTENCE_END.finditer(text)]
        self._clauses = [match.end() for match in _CLAUSE_END.finditer(text)]

    def windows(self) -> list[Window]:
        found: list[Window] = []
        start = 0
        while True:
            first = bisect_left(self._starts, start)
            if first + self._room >= len(self._starts):
                found.append(Window(start, len(self._text), len(self._starts) - first))
                return found
            end = self._end(start, first)
            found.append(Window(start, end, bisect_left(self._starts, end) - first))
            start = max(start + 1, self._next_start(end))

    def _end(self, start: int, first: int) -> int:
        """The last sentence end in the second half of the room, else the last clause end there, else the whole room."""
        hard = max(self._starts[first + self._room], start + 1)
        low = max(self._starts[first + self._room // 2], start)
        for ends in (self._sentences, self._clauses):
            place = bisect_left(ends, hard + 1) - 1
            if place >= 0 and ends[place] > low:
                return ends[place]
        return hard

    def _next_start(self, end: int) -> int:
        """Where the next window begins: the first sentence or clause that begins within the overlap."""
        if not self._overlap:
            return end
        earliest = self._starts[max(0, bisect_left(self._starts, end) - self._overlap)]
        for ends in (self._sentences, self._clauses):
            place = bisect_left(ends, earliest)
            if place < len(ends) and ends[place] < end:
                return ends[place]
        return min(earliest, end)
