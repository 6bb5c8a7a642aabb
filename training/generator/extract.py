"""Builds extraction rows: a text with tagged spans, and the fields that a user asks for."""

from __future__ import annotations

from collections.abc import Sequence
from random import Random

from training.generator.classify import DIRT_RATE, TEMPLATE_RATE
from training.generator.dirt import dirty
from training.generator.domains import Domain
from training.generator.grammar import Draft, Pattern

MAX_FIELDS = 8
ABSENT_PER_PRESENT = 0.3
NOTHING_RATE = 0.08
NEGATIVE_RATE = 0.05
# What joins two sentences: first where the former one is closed, then the choices where it is not.
_GLUE = {"zh": ("", "，", "。", "；", " ", "。"), "en": (" ", ". ", "; ", " - ")}
_CLOSING = ("。", "！", "？", ".", "!", "?", "”")

Spans = dict[str, tuple[str, ...]]


def extract_content(domain: Domain, rng: Random) -> tuple[str, tuple[str, ...], Spans]:
    """Return a text, the asked fields, and the spans of the fields that the text contains."""
    text, spans = _write(domain, rng)
    found: dict[str, dict[str, None]] = {}
    for start, end, key in sorted(spans):
        found.setdefault(key, {})[text[start:end]] = None
    if domain.template and rng.random() < TEMPLATE_RATE:
        keys = list(domain.template)
        if rng.random() < 0.3:
            rng.shuffle(keys)
        surfaces = {key: domain.names[key][0] for key in keys}
    else:
        keys = _choose_fields(domain, [key for key in found if key in domain.names], rng)
        surfaces = {key: rng.choice(domain.names[key]) if key in domain.names else key for key in keys}
        keys = _without_twins(keys, surfaces)
    gold = {surfaces[key]: tuple(found[key]) for key in keys if key in found}
    return text, tuple(surfaces[key] for key in keys), gold


def _write(domain: Domain, rng: Random) -> tuple[str, list[tuple[int, int, str]]]:
    draft = Draft()
    negatives = domain.sentences.get("negatives", ())
    if negatives and rng.random() < NEGATIVE_RATE:
        domain.grammar.expand(rng.choice(negatives), draft, rng)
    elif domain.sentences.get("parts") and rng.random() < 0.5:
        separator = rng.choice(domain.separators)
        _join(domain, rng.sample(domain.sentences["parts"], rng.randint(2, 5)), [separator], draft, rng)
    else:
        count = rng.choice(domain.joins)
        _join(domain, rng.choices(domain.sentences["sentences"], k=count), _GLUE[domain.language], draft, rng)
    if rng.random() < DIRT_RATE:
        return dirty(draft, rng)
    return draft.text(), draft.spans


def _join(domain: Domain, patterns: list[Pattern], separators: Sequence[str], draft: Draft, rng: Random) -> None:
    for index, pattern in enumerate(patterns):
        if index:
            closed = len(separators) > 1 and draft.parts[-1].endswith(_CLOSING)
            draft.add(separators[0] if closed else rng.choice(separators[1:] or separators))
            draft.bound.clear()
        domain.grammar.expand(pattern, draft, rng)


def _choose_fields(domain: Domain, present: list[str], rng: Random) -> list[str]:
    absent = [key for key in (*domain.names, *domain.foreign) if key not in present]
    if not present or rng.random() < NOTHING_RATE:
        return rng.sample(absent, min(len(absent), rng.randint(1, 4)))
    wanted = rng.choice((1, 2, 3, 3, 4, 4, 5, 6))
    chosen = rng.sample(present, min(wanted, len(present), MAX_FIELDS))
    extra = sum(rng.random() < ABSENT_PER_PRESENT for _ in range(len(chosen) + 1))
    chosen += rng.sample(absent, min(extra, len(absent), MAX_FIELDS - len(chosen)))
    rng.shuffle(chosen)
    return chosen


def _without_twins(keys: list[str], surfaces: dict[str, str]) -> list[str]:
    # Two fields may share a surface name ("name" of a person or a product); asking for both would be ambiguous.
    return list({surfaces[key]: key for key in keys}.values())
