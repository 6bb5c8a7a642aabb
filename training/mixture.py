"""Draws training rows from several sources, each as often as its weight says."""

from __future__ import annotations

import math
import random
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path

from training.generator import generate
from training.rows import Row, file_stem, read_rows, row_files

MAX_TEXT_CHARS = 300


@dataclass(frozen=True, slots=True)
class Source:
    """Rows of one data set, every label that they name, and the share of draws it gets."""

    name: str
    rows: Sequence[Row]
    pool: tuple[str, ...]
    weight: float


def file_sources(folder: Path, factors: Mapping[str, float]) -> list[Source]:
    """One source a file, weighted by the square root of its size times its factor (1 when not named)."""
    sources = []
    for path in row_files(folder):
        rows = [row for row in read_rows(path) if len(row.text) <= MAX_TEXT_CHARS and row.labels]
        if rows:
            name = file_stem(path)
            sources.append(Source(name, rows, label_pool(rows), math.sqrt(len(rows)) * factors.get(name, 1.0)))
    return sources


def generator_source(num_rows: int, seed: int, lexicons: Path | None, weight: float) -> Source:
    """The project's own synthetic rows; their label sets are drawn by the generator already."""
    return Source("generator", list(generate(num_rows, seed=seed, lexicons=lexicons)), (), weight)


def label_pool(rows: Sequence[Row]) -> tuple[str, ...]:
    """All labels of a data set in first-seen order."""
    return tuple(dict.fromkeys(label for row in rows for label in row.labels))


def with_share(sources: Sequence[Source], synthetic: Source, share: float) -> list[Source]:
    """Add the synthetic source so that it gets ``share`` of all draws (all of them when nothing else is there)."""
    total = sum(source.weight for source in sources)
    weight = total * share / (1 - share) if total else 1.0
    return [*sources, Source(synthetic.name, synthetic.rows, synthetic.pool, weight)]


def draw(sources: Sequence[Source], rng: random.Random) -> Iterator[tuple[Source, Row]]:
    """Endless draws; every source is walked in shuffled order, again and again."""
    orders: list[Iterator[Row]] = [_walk(source.rows, rng) for source in sources]
    weights = [source.weight for source in sources]
    while True:
        (index,) = rng.choices(range(len(sources)), weights)
        yield sources[index], next(orders[index])


def _walk(rows: Sequence[Row], rng: random.Random) -> Iterator[Row]:
    order = list(range(len(rows)))
    while True:
        rng.shuffle(order)
        for index in order:
            yield rows[index]
