"""Pattern grammar: parses sentence patterns and expands them into text with field spans.

Pattern syntax: {rule}, {rule>field} (tagged span), {rule>} (no span), {rule#1} (one value per sentence),
{1-31} (number; a leading zero pads), [a|b|] (any one of these), { } (a space that a line's edge keeps).
"""

from __future__ import annotations

import re
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field
from random import Random

_TOKEN = re.compile(r"\{[^{}]*\}|[\[\]|]")
_NUMBER = re.compile(r"(\d+)-(\d+)")


@dataclass(frozen=True, slots=True)
class Slot:
    """A reference to a rule; `binding` names a value to reuse, `field` the tag of its span."""

    name: str
    binding: str
    field: str


@dataclass(frozen=True, slots=True)
class Number:
    """A random whole number, padded with zeros to `width`."""

    low: int
    high: int
    width: int


@dataclass(frozen=True, slots=True)
class Choice:
    """One of several alternatives."""

    options: tuple[Pattern, ...]


Node = str | Slot | Number | Choice
Pattern = tuple[Node, ...]
PoolLookup = Callable[[str], Sequence[str] | None]


@dataclass(slots=True)
class Draft:
    """A text under construction with its tagged spans (start, end, field)."""

    parts: list[str] = field(default_factory=list)
    length: int = 0
    spans: list[tuple[int, int, str]] = field(default_factory=list)
    bound: dict[str, str] = field(default_factory=dict)

    def add(self, text: str) -> None:
        """Append literal text."""
        self.parts.append(text)
        self.length += len(text)

    def text(self) -> str:
        """Return the text built so far."""
        return "".join(self.parts)


def parse(pattern: str, tags: Mapping[str, str]) -> Pattern:
    """Parse one pattern; `tags` gives the field of a rule that the pattern leaves untagged."""
    return _parse_sequence(pattern, 0, tags, depth=0)[0]


def _parse_sequence(pattern: str, position: int, tags: Mapping[str, str], depth: int) -> tuple[Pattern, int]:
    nodes: list[Node] = []
    while position < len(pattern):
        match = _TOKEN.search(pattern, position)
        if match is None:
            nodes.append(pattern[position:])
            return tuple(nodes), len(pattern)
        if match.start() > position:
            nodes.append(pattern[position : match.start()])
        mark = match.group()
        if mark in "|]" and depth:
            return tuple(nodes), match.start()
        position = match.end()
        if mark in "|]":
            nodes.append(mark)
        elif mark == "[":
            choice, position = _parse_choice(pattern, position, tags, depth + 1)
            nodes.append(choice)
        else:
            nodes.append(_parse_slot(mark[1:-1], tags))
    return tuple(nodes), position


def _parse_choice(pattern: str, position: int, tags: Mapping[str, str], depth: int) -> tuple[Choice, int]:
    options: list[Pattern] = []
    while True:
        option, position = _parse_sequence(pattern, position, tags, depth)
        if position >= len(pattern):
            raise ValueError(f"unclosed bracket in pattern: {pattern!r}")
        options.append(option)
        position += 1
        if pattern[position - 1] == "]":
            return Choice(tuple(options)), position


def _parse_slot(body: str, tags: Mapping[str, str]) -> Node:
    if body.isspace():
        return body
    number = _NUMBER.fullmatch(body)
    if number:
        low, high = number.groups()
        return Number(int(low), int(high), len(low) if low.startswith("0") and len(low) > 1 else 0)
    reference, tagged, tag = body.partition(">")
    name, _, index = reference.partition("#")
    return Slot(name, reference if index else "", tag if tagged else tags.get(name, ""))


class Grammar:
    """A set of rules that falls back on a parent grammar, then on pools of ready values."""

    def __init__(
        self,
        rules: Mapping[str, Sequence[str]],
        *,
        tags: Mapping[str, str] | None = None,
        parent: Grammar | None = None,
        pools: PoolLookup | None = None,
    ) -> None:
        self._rules = rules
        self._tags = tags or {}
        self._parent = parent
        self._pools = pools
        self._resolved: dict[str, tuple[Grammar, tuple[Pattern, ...]]] = {}

    def parse_all(self, patterns: Sequence[str]) -> tuple[Pattern, ...]:
        """Parse patterns with this grammar's default tags."""
        return tuple(parse(pattern, self._tags) for pattern in patterns)

    def resolve(self, name: str) -> tuple[Grammar, tuple[Pattern, ...]]:
        """Return the grammar that owns a rule and the rule's alternatives."""
        found = self._resolved.get(name)
        if found is None:
            found = self._find(name)
            self._resolved[name] = found
        return found

    def _find(self, name: str) -> tuple[Grammar, tuple[Pattern, ...]]:
        if name in self._rules:
            return self, self.parse_all(self._rules[name])
        values = self._pools(name) if self._pools else None
        if values:
            return self, tuple((value,) for value in values)
        if self._parent is None:
            raise KeyError(f"unknown rule in a pattern: {name}")
        return self._parent.resolve(name)

    def expand(self, pattern: Pattern, draft: Draft, rng: Random) -> None:
        """Append a random expansion of the pattern to the draft."""
        for node in pattern:
            if isinstance(node, str):
                draft.add(node)
            elif isinstance(node, Slot):
                self._expand_slot(node, draft, rng)
            elif isinstance(node, Choice):
                self.expand(node.options[int(rng.random() * len(node.options))], draft, rng)
            else:
                value = node.low + int(rng.random() * (node.high - node.low + 1))
                draft.add(str(value).zfill(node.width))

    def _expand_slot(self, slot: Slot, draft: Draft, rng: Random) -> None:
        start = draft.length
        if slot.binding and slot.binding in draft.bound:
            draft.add(draft.bound[slot.binding])
        else:
            first_part = len(draft.parts)
            owner, options = self.resolve(slot.name)
            owner.expand(options[int(rng.random() * len(options))], draft, rng)
            if slot.binding:
                draft.bound[slot.binding] = "".join(draft.parts[first_part:])
        if slot.field and draft.length > start:
            draft.spans.append((start, draft.length, slot.field))
