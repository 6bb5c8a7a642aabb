"""The guide of extraction: the copy automaton over tokens, with canonical jumps and drafts."""

from __future__ import annotations

from typing import NamedTuple

from seqgpt_ui.decoding.copy import CopyAutomaton, Kind, SpanPath, Thread
from seqgpt_ui.decoding.vocabulary import Vocabulary

MAX_DRAFT_BYTES = 48


class CopyState(NamedTuple):
    """Tokens read so far and the readings that are still possible; ``ended`` after the end token."""

    num_tokens: int
    threads: tuple[Thread, ...]
    ended: bool


class CopyGuide:
    """A token is legal if its bytes keep at least one reading alive."""

    def __init__(self, vocabulary: Vocabulary, automaton: CopyAutomaton, *, read: bytes = b"") -> None:
        """``read`` is the beginning of the answer that the prompt holds already."""
        self._vocabulary = vocabulary
        self._automaton = automaton
        threads = automaton.begin()
        for byte in read:
            threads = automaton.expand(threads, 0)[byte]
        self._start = CopyState(0, threads, False)
        self._cache: dict[CopyState, tuple[int, ...]] = {}

    @property
    def start(self) -> CopyState:
        """The state before the first head."""
        return self._start

    def allowed(self, state: CopyState) -> tuple[int, ...]:
        """The canonical token of a run that must follow, or every token that keeps a reading alive."""
        if state not in self._cache:
            forced = self.forced(state)
            self._cache[state] = forced[:1] or tuple(sorted(self._walk(state)))
        return self._cache[state]

    def _walk(self, state: CopyState) -> set[int]:
        """Walk vocabulary and automaton side by side, byte by byte."""
        found = {self._vocabulary.eos_id} if self._has_end(state) else set()
        pending = [(b"", self._vocabulary.prefix_range(b""), state.threads)]
        while pending:
            prefix, (low, high), threads = pending.pop()
            for byte, after in self._automaton.expand(threads, state.num_tokens).items():
                longer = prefix + bytes([byte])
                first, last = self._vocabulary.prefix_range(longer, low, high)
                if first == last:
                    continue
                exact = self._vocabulary.tokens_at(first, longer)
                found.update(exact)
                if last - first > len(exact):
                    pending.append((longer, (first, last), after))
        return found

    def advance(self, state: CopyState, token: int) -> CopyState:
        """Read all bytes of ``token``. Raises ``ValueError`` when no reading survives."""
        if token == self._vocabulary.eos_id and self._has_end(state):
            return CopyState(state.num_tokens + 1, state.threads, True)
        threads = state.threads
        data = self._vocabulary.bytes_of(token)
        for byte in data:
            threads = self._automaton.expand(threads, state.num_tokens).get(byte, ())
        if not threads or not data:
            raise ValueError(f"token {token} is not allowed here")
        return CopyState(state.num_tokens + 1, threads, False)

    def forced(self, state: CopyState) -> tuple[int, ...]:
        """The canonical tokens of a head (without its blank, which the value's first token carries), or the end."""
        if state.ended or len(state.threads) != 1:
            return ()
        (thread,) = state.threads
        if thread.kind is Kind.END:
            return (self._vocabulary.eos_id,)
        if thread.kind is not Kind.HEAD:
            return ()
        rest = self._automaton.heads[thread.field][thread.position : -1]
        try:
            return tuple(self._vocabulary.encode(rest.decode("utf-8"))) if rest else ()
        except UnicodeDecodeError:  # a token ended inside a character: let the walk spell the rest
            return ()

    def draft(self, state: CopyState) -> tuple[int, ...]:
        """How the text goes on in every living reading, as canonical tokens."""
        spans = [thread for thread in state.threads if thread.kind is Kind.SPAN]
        if not spans or state.ended:
            return ()
        source = self._automaton.source
        pieces = [source.data[t.position : min(source.run_end(t.start), t.position + MAX_DRAFT_BYTES)] for t in spans]
        shortest, longest = min(pieces), max(pieces)
        length = next((i for i, byte in enumerate(shortest) if byte != longest[i]), len(shortest))
        begin = spans[0].position
        while length and not source.is_edge(begin + length):
            length -= 1
        if not length or not source.is_edge(begin):
            return ()
        return tuple(self._vocabulary.encode(source.text(begin, begin + length)))

    def final(self, state: CopyState) -> bool:
        """Whether the answer may end here."""
        return state.ended or self._has_end(state)

    def spans(self, state: CopyState) -> tuple[SpanPath, ...]:
        """The spans of the winning reading: the first complete one, else the first one alive."""
        complete = [thread for thread in state.threads if thread.kind is Kind.END]
        return (complete or list(state.threads))[0].spans

    def _has_end(self, state: CopyState) -> bool:
        return not state.ended and any(thread.kind is Kind.END for thread in state.threads)
