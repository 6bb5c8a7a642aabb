"""The byte automaton of an extraction answer: ``field: span<separator>span LF`` for every field, copied from the text.

It runs over the whole rest of the answer, so one token may cover the end of a span and what follows it. Several
readings (threads) live side by side where the text repeats itself; values and offsets come from the winning path,
never from parsing the answer again.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from enum import IntEnum
from typing import NamedTuple

from seqgpt_ui.decoding.source import Source

_LF = 0x0A


class Kind(IntEnum):
    """Where a thread stands."""

    HEAD = 0  # in "field: "
    START = 1  # a span (or the word for "absent") begins with the next byte
    ABSENT = 2  # in the word for "absent"
    SPAN = 3  # in a span
    SEPARATOR = 4  # in a separator of several bytes
    END = 5  # the answer is complete


class SpanPath(NamedTuple):
    """A finished span: byte range in the source, and its tokens [first, last] of the answer, the ending included."""

    field: int
    start: int
    end: int
    first: int
    last: int


class Thread(NamedTuple):
    """One reading. ``position`` counts bytes of the head, word or separator, or is the place in the source."""

    kind: Kind
    field: int
    position: int
    start: int
    first: int
    spans: tuple[SpanPath, ...]

    @property
    def key(self) -> tuple[int, int, int, int]:
        """Threads of one key have the same future, but for the occurrences that they used up."""
        return (self.kind, self.field, self.position, self.start)


class CopyAutomaton:
    """Steps threads byte by byte. ``fields`` are as the prompt shows them; ``absent`` None: lines may be left out."""

    def __init__(self, fields: Sequence[str], source: Source, *, separator: str, absent: str | None) -> None:
        self.heads = [f"{field}: ".encode() for field in fields]
        self.source = source
        self._separator = separator.encode()
        self._absent = absent.encode() if absent is not None else None

    @property
    def first_run(self) -> bytes | None:
        """How every answer begins, short of the blank that the first value carries; None if lines may be left out."""
        return None if self._absent is None else self.heads[0][:-1]

    def begin(self) -> tuple[Thread, ...]:
        """The threads before the first byte."""
        return tuple(self._lines(0, ()))

    def _lines(self, field: int, spans: tuple[SpanPath, ...]) -> Iterator[Thread]:
        """The threads at the beginning of a line, when the lines before ``field`` are done."""
        last = len(self.heads) if self._absent is None else field + 1
        for index in range(field, min(last, len(self.heads))):
            yield Thread(Kind.HEAD, index, 0, 0, 0, spans)
        if field == len(self.heads) or self._absent is None:
            yield Thread(Kind.END, len(self.heads), 0, 0, 0, spans)

    def expand(self, threads: Sequence[Thread], token: int) -> dict[int, tuple[Thread, ...]]:
        """All legal next bytes and the threads behind each. ``token`` is the index of the token being read."""
        after: dict[int, dict[tuple[int, int, int, int], Thread]] = {}
        for thread in threads:
            for byte, successor in self._successors(thread, token):
                after.setdefault(byte, {}).setdefault(successor.key, successor)
        return {byte: tuple(found.values()) for byte, found in after.items()}

    def _successors(self, thread: Thread, token: int) -> Iterator[tuple[int, Thread]]:
        if thread.kind is Kind.HEAD:
            yield self._next_of(thread, self.heads[thread.field], Kind.START)
        elif thread.kind is Kind.SEPARATOR:
            yield self._next_of(thread, self._separator, Kind.START)
        elif thread.kind is Kind.ABSENT:
            yield from self._in_absent(thread)
        elif thread.kind is Kind.START:
            yield from self._at_start(thread, token)
        elif thread.kind is Kind.SPAN:
            yield from self._in_span(thread, token)

    def _next_of(self, thread: Thread, word: bytes, then: Kind) -> tuple[int, Thread]:
        """One more byte of a fixed word; behind its last byte comes ``then``."""
        position = thread.position + 1
        if position < len(word):
            return word[thread.position], thread._replace(position=position)
        return word[thread.position], thread._replace(kind=then, position=0)

    def _in_absent(self, thread: Thread) -> Iterator[tuple[int, Thread]]:
        assert self._absent is not None
        if thread.position < len(self._absent):
            yield self._absent[thread.position], thread._replace(position=thread.position + 1)
        else:
            yield from ((_LF, line) for line in self._lines(thread.field + 1, thread.spans))

    def _at_start(self, thread: Thread, token: int) -> Iterator[tuple[int, Thread]]:
        used = self._used(thread)
        if self._absent is not None and not used:
            # Before the spans: where the text holds this very word, the answer still means "absent".
            yield self._absent[0], thread._replace(kind=Kind.ABSENT, position=1)
        for byte, starts in self.source.starts.items():
            for start in starts:
                if self._can_end(start, start + 1, used):
                    yield byte, Thread(Kind.SPAN, thread.field, start + 1, start, token, thread.spans)

    def _in_span(self, thread: Thread, token: int) -> Iterator[tuple[int, Thread]]:
        position, limit, used = thread.position, self.source.run_end(thread.start), self._used(thread)
        if position < limit and self._can_end(thread.start, position + 1, used):
            yield self.source.data[position], thread._replace(position=position + 1)
        if not self.source.is_end(position) or (thread.start, position) in used:
            return
        spans = (*thread.spans, SpanPath(thread.field, thread.start, position, thread.first, token))
        # Where the text itself goes on like a separator, reading on is part of the span.
        continues = self.source.data[position : min(limit, position + len(self._separator))] == self._separator
        if not continues and self._any_left({*used, (thread.start, position)}):
            head = Thread(Kind.SEPARATOR, thread.field, 0, 0, 0, spans)
            yield self._next_of(head, self._separator, Kind.START)
        yield from ((_LF, line) for line in self._lines(thread.field + 1, spans))

    def _used(self, thread: Thread) -> set[tuple[int, int]]:
        return {(span.start, span.end) for span in thread.spans if span.field == thread.field}

    def _can_end(self, start: int, first: int, used: set[tuple[int, int]]) -> bool:
        """Whether a span from ``start`` has an unused legal end at ``first`` or later: no reading runs into a wall."""
        limit = self.source.run_end(start)
        if not any(begin == start for begin, _ in used):
            return self.source.has_end(first, limit)
        return any((start, end) not in used for end in self.source.ends_between(first, limit))

    def _any_left(self, used: set[tuple[int, int]]) -> bool:
        return any(self._can_end(start, start + 1, used) for starts in self.source.starts.values() for start in starts)
