"""Plans the scoring of many continuations: which rows must run so that every needed distribution is seen once."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass


@dataclass(frozen=True, slots=True)
class Branches:
    """``rows`` to run behind the prompt; ``next_tokens[prefix]`` are the tokens to be scored after ``prefix``."""

    rows: tuple[tuple[int, ...], ...]
    next_tokens: dict[tuple[int, ...], tuple[int, ...]]


def plan_branches(continuations: Sequence[Sequence[int]]) -> Branches:
    """The last token of a continuation need not be run, and a row that begins another comes for free with it."""
    wanted: dict[tuple[int, ...], dict[int, None]] = {}
    for continuation in continuations:
        for at, token in enumerate(continuation):
            wanted.setdefault(tuple(continuation[:at]), {})[token] = None
    inner = {prefix[:at] for prefix in wanted for at in range(len(prefix))}
    rows = tuple(prefix for prefix in wanted if prefix not in inner)
    return Branches(rows, {prefix: tuple(tokens) for prefix, tokens in wanted.items()})
