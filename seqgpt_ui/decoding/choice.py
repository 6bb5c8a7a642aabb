"""Labels as token sequences, and the guide that emits several of them, each at most once.

Every sequence is canonical: a label is encoded together with what ends it, so label scores and guided answers speak
of the same tokens.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import NamedTuple

from seqgpt_ui.decoding.vocabulary import Vocabulary, common_prefix_length

LINE_END = "\n"


@dataclass(frozen=True, slots=True)
class ChoiceSequences:
    """The token sequences of one choice by what follows it; ``own`` tokens come before the endings differ."""

    separated: tuple[int, ...]
    line_end: tuple[int, ...]
    end: tuple[int, ...]

    @property
    def distinct(self) -> tuple[tuple[int, ...], ...]:
        """The different sequences whose probabilities add up to the choice's."""
        return tuple(dict.fromkeys((self.line_end, self.end, self.separated)))

    @property
    def own(self) -> int:
        """Number of tokens that belong to the choice itself; all but the ending where it fused with it."""
        return common_prefix_length(self.distinct) or len(self.end)


@dataclass(frozen=True, slots=True)
class ChoiceSet:
    """Where the choices branch off (``prompt_ids``) and how each is written as first and as later label."""

    prompt_ids: tuple[int, ...]
    first: tuple[ChoiceSequences, ...]
    later: tuple[ChoiceSequences, ...]


def encode_choices(vocabulary: Vocabulary, prompt: str, choices: Sequence[str], separator: str) -> ChoiceSet:
    """Encode all choices behind ``prompt`` (without ``[GEN]``).

    With ``[GEN]`` the prompt ends in a control token and labels are encoded on their own. Without it a label may fuse
    with the prompt, so prompt + label + ending is encoded as a whole and branched at the longest common prefix.
    """
    mark = separator.rstrip(" ")
    lead = separator[len(mark) :]
    later = tuple(_sequences(vocabulary, "", lead + choice, mark) for choice in choices)
    if vocabulary.gen_id is not None:
        prompt_ids = (*vocabulary.encode(prompt), vocabulary.gen_id)
        return ChoiceSet(prompt_ids, tuple(_sequences(vocabulary, "", choice, mark) for choice in choices), later)
    whole = [_sequences(vocabulary, prompt, choice, mark) for choice in choices]
    cut = min(common_prefix_length([s for item in whole for s in item.distinct]), len(vocabulary.encode(prompt)))
    first = tuple(ChoiceSequences(w.separated[cut:], w.line_end[cut:], w.end[cut:]) for w in whole)
    return ChoiceSet(whole[0].line_end[:cut], first, later)


def _sequences(vocabulary: Vocabulary, before: str, choice: str, separator: str) -> ChoiceSequences:
    return ChoiceSequences(
        separated=tuple(vocabulary.encode(before + choice + separator)),
        line_end=tuple(vocabulary.encode(before + choice + LINE_END)),
        end=(*vocabulary.encode(before + choice), vocabulary.eos_id),
    )


class Emitted(NamedTuple):
    """A finished label: its index and the tokens [first, last) of the answer that spell it."""

    choice: int
    first: int
    last: int


class _Thread(NamedTuple):
    """One reading of the answer so far: finished labels, then the tokens of the one under way."""

    emitted: tuple[Emitted, ...]
    tokens: tuple[int, ...]
    closed: bool


class ChoiceState(NamedTuple):
    """All readings that are still possible; the first one wins."""

    num_tokens: int
    threads: tuple[_Thread, ...]
    ended: bool


class ChoiceGuide:
    """``label (separator label)* LF </s>``: an emitted label leaves the set, stopping is a choice."""

    def __init__(
        self, vocabulary: Vocabulary, choices: ChoiceSet, *, min_choices: int = 1, max_choices: int | None = None
    ) -> None:
        size = len(choices.first)
        self._eos = vocabulary.eos_id
        self._choices = choices
        self._min = min(min_choices, size)
        self._max = max(self._min, min(max_choices or size, size))

    @property
    def start(self) -> ChoiceState:
        """Nothing emitted yet."""
        return ChoiceState(0, (_Thread((), (), False),), False)

    def allowed(self, state: ChoiceState) -> tuple[int, ...]:
        """Next tokens of every label that may still come, endings included."""
        found: set[int] = set()
        for thread in state.threads:
            if thread.closed:
                found.add(self._eos)
                continue
            at = len(thread.tokens)
            for _, _, sequence, _ in self._options(thread):
                if len(sequence) > at and sequence[:at] == thread.tokens:
                    found.add(sequence[at])
        return tuple(sorted(found))

    def advance(self, state: ChoiceState, token: int) -> ChoiceState:
        """Follow ``token`` in every reading. Raises ``ValueError`` when none admits it."""
        threads: dict[tuple[frozenset[int], tuple[int, ...], bool], _Thread] = {}
        ended = False
        for thread in state.threads:
            for after, over in self._step(thread, token, state.num_tokens):
                ended = ended or over
                threads.setdefault((frozenset(e.choice for e in after.emitted), after.tokens, after.closed), after)
        if not threads:
            raise ValueError(f"token {token} is not allowed here")
        ordered = sorted(threads.values(), key=lambda thread: len(thread.emitted))
        return ChoiceState(state.num_tokens + 1, tuple(ordered), ended)

    def _step(self, thread: _Thread, token: int, index: int) -> list[tuple[_Thread, bool]]:
        if thread.closed:
            return [(thread, True)] if token == self._eos else []
        tokens = (*thread.tokens, token)
        after: list[tuple[_Thread, bool]] = []
        for choice, own, sequence, ending in self._options(thread):
            if sequence == tokens:
                first = index + 1 - len(tokens)
                emitted = (*thread.emitted, Emitted(choice, first, first + own))
                after.append((_Thread(emitted, (), ending != "separated"), ending == "end"))
            elif sequence[: len(tokens)] == tokens:
                after.append((_Thread(thread.emitted, tokens, False), False))
        return after

    def _options(self, thread: _Thread) -> list[tuple[int, int, tuple[int, ...], str]]:
        """(choice, own tokens, sequence, ending) of every label that this reading may take next."""
        taken = {emitted.choice for emitted in thread.emitted}
        count = len(taken) + 1
        options: list[tuple[int, int, tuple[int, ...], str]] = []
        for index, item in enumerate(self._choices.later if taken else self._choices.first):
            if index in taken:
                continue
            if count < self._max:
                options.append((index, item.own, item.separated, "separated"))
            if count >= self._min:
                options.append((index, item.own, item.line_end, "line_end"))
                options.append((index, item.own, item.end, "end"))
        return options

    def forced(self, state: ChoiceState) -> tuple[int, ...]:
        """The run of tokens with no alternative."""
        run: list[int] = []
        while not state.ended:
            allowed = self.allowed(state)
            if len(allowed) != 1:
                break
            run.append(allowed[0])
            state = self.advance(state, allowed[0])
        return tuple(run)

    def draft(self, state: ChoiceState) -> tuple[int, ...]:
        """Labels are short and never drafted."""
        return ()

    def final(self, state: ChoiceState) -> bool:
        """Whether the end token is legal now."""
        return self._eos in self.allowed(state) if not state.ended else True

    def emitted(self, state: ChoiceState) -> tuple[Emitted, ...]:
        """The labels finished so far, in order, by the likeliest reading that is complete."""
        closed = [thread for thread in state.threads if thread.closed]
        return (closed or list(state.threads))[0].emitted
