"""Builds classification rows: a text of one or more labels, and a label set with distractors."""

from __future__ import annotations

from random import Random

from training.generator.dirt import dirty
from training.generator.domains import Domain
from training.generator.grammar import Draft

TEMPLATE_RATE = 0.25
DIRT_RATE = 0.05
MAX_LABELS = 12


def classify_content(domain: Domain, rng: Random) -> tuple[str, tuple[str, ...], tuple[str, ...]]:
    """Return a text, its label set, and the gold labels in the label set's order."""
    template = bool(domain.template) and rng.random() < TEMPLATE_RATE
    keys = domain.template if template else tuple(domain.sentences)
    gold_keys = _choose_gold(domain, keys, rng)
    text = _write(domain, gold_keys, rng)
    chosen = list(keys) if template else _choose_labels(domain, gold_keys, rng)
    if not template or rng.random() < 0.3:
        rng.shuffle(chosen)
    surfaces = _surfaces(domain, chosen, template, rng)
    return text, tuple(surfaces[key] for key in chosen), tuple(surfaces[key] for key in chosen if key in gold_keys)


def _choose_gold(domain: Domain, keys: tuple[str, ...], rng: Random) -> list[str]:
    usable = [key for key in keys if key in domain.sentences]
    count = rng.choice((2, 2, 2, 3)) if rng.random() < domain.multi_rate else 1
    return rng.sample(usable, min(count, len(usable)))


def _write(domain: Domain, gold_keys: list[str], rng: Random) -> str:
    draft = Draft()
    separator = rng.choice(domain.separators)
    repeats = rng.choice(domain.joins) if len(gold_keys) == 1 else 1
    for index, key in enumerate(gold_keys * repeats):
        if index:
            draft.add(separator)
            draft.bound.clear()
        patterns = domain.sentences[key]
        domain.grammar.expand(patterns[int(rng.random() * len(patterns))], draft, rng)
    return dirty(draft, rng)[0] if rng.random() < DIRT_RATE else draft.text()


def _choose_labels(domain: Domain, gold_keys: list[str], rng: Random) -> list[str]:
    others = [key for key in domain.names if key not in gold_keys]
    if not domain.subset:
        return gold_keys + others
    total = rng.randint(2, MAX_LABELS)
    return gold_keys + rng.sample(others, min(len(others), max(1, total - len(gold_keys))))


def _surfaces(domain: Domain, keys: list[str], template: bool, rng: Random) -> dict[str, str]:
    if template:
        return {key: domain.names[key][0] for key in keys}
    if domain.aligned:
        index = rng.randrange(min(len(domain.names[key]) for key in keys))
        return {key: domain.names[key][index] for key in keys}
    return {key: rng.choice(domain.names[key]) for key in keys}
