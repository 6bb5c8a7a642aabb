"""The text that spans are copied from, as bytes: where a span may start and end, and how far it may run.

Spans start and end on code points, hold no line break or TAB, and neither begin nor end with white space.
"""

from __future__ import annotations

from bisect import bisect_left

# Everything that ends a line for Python or for a spreadsheet, and the TAB that separates spans.
BREAKS = frozenset("\t\n\r\v\f\x1c\x1d\x1e\x85\u2028\u2029")


class Source:
    """Precomputed positions of one text; all positions are byte offsets unless said otherwise."""

    def __init__(self, text: str) -> None:
        self.data = text.encode("utf-8")
        self._characters: dict[int, int] = {}
        self.ends: list[int] = []
        self._run_end: dict[int, int] = {}
        self.starts: dict[int, tuple[int, ...]] = {}
        self._scan(text)

    def _scan(self, text: str) -> None:
        starts: dict[int, list[int]] = {}
        run: list[int] = []
        position = 0
        for index, character in enumerate(text):
            self._characters[position] = index
            if character in BREAKS:
                self._close_run(run, position)
                run = []
            elif not character.isspace():
                starts.setdefault(self.data[position], []).append(position)
                run.append(position)
                self.ends.append(position + len(character.encode("utf-8")))
            position += len(character.encode("utf-8"))
        self._characters[position] = len(text)
        self._close_run(run, position)
        self.starts = {byte: tuple(positions) for byte, positions in starts.items()}
        self._end_set = frozenset(self.ends)

    def _close_run(self, run: list[int], end: int) -> None:
        for start in run:
            self._run_end[start] = end

    def run_end(self, start: int) -> int:
        """The first position that a span starting at ``start`` can never pass."""
        return self._run_end[start]

    def is_end(self, position: int) -> bool:
        """Whether a span may end here: on a code point and behind something that is not white space."""
        return position in self._end_set

    def ends_between(self, first: int, last: int) -> list[int]:
        """All legal ends in [first, last]."""
        return self.ends[bisect_left(self.ends, first) : bisect_left(self.ends, last + 1)]

    def has_end(self, first: int, last: int) -> bool:
        """Whether any legal end lies in [first, last]."""
        index = bisect_left(self.ends, first)
        return index < len(self.ends) and self.ends[index] <= last

    def character(self, position: int) -> int:
        """Code point offset of a byte position on a code point's edge."""
        return self._characters[position]

    def is_edge(self, position: int) -> bool:
        """Whether a code point begins or the text ends here."""
        return position in self._characters

    def text(self, start: int, end: int) -> str:
        """The characters between two edges."""
        return self.data[start:end].decode("utf-8")
