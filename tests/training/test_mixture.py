"""Sources are drawn as often as their weights say, every row of a source equally often."""

from __future__ import annotations

import json
import random
from collections import Counter
from itertools import islice
from pathlib import Path

import pytest

from training.mixture import Source, draw, file_sources, generator_source, label_pool, with_share
from training.rows import Row


def rows(count: int, text: str = "t") -> list[Row]:
    return [Row(str(index), "classify", f"{text}{index}", ("a", "b"), ("a",)) for index in range(count)]


def write(folder: Path, name: str, texts: list[str]) -> None:
    lines = [
        json.dumps({"id": i, "task": "classify", "text": t, "labels": ["a"], "gold": ["a"]})
        for i, t in enumerate(texts)
    ]
    (folder / f"{name}.jsonl").write_text("\n".join(lines), encoding="utf-8")


def test_files_weigh_the_root_of_their_size_times_their_factor(tmp_path: Path) -> None:
    write(tmp_path, "large", ["x"] * 100)
    write(tmp_path, "small", ["x"] * 4)
    write(tmp_path, "long", ["x" * 1000])
    sources = {source.name: source for source in file_sources(tmp_path, {"small": 3.0})}
    assert sources["large"].weight == pytest.approx(10.0)
    assert sources["small"].weight == pytest.approx(6.0)
    assert "long" not in sources, "texts that are too long are left out, and so is a file without any other"


def test_draws_follow_the_weights_and_walk_whole_sources() -> None:
    sources = [Source("one", rows(10, "one"), ("a",), 3.0), Source("two", rows(5, "two"), ("a",), 1.0)]
    drawn = list(islice(draw(sources, random.Random(0)), 4000))
    counts = Counter(source.name for source, _ in drawn)
    assert 0.7 < counts["one"] / 4000 < 0.8
    texts = Counter(row.text for source, row in drawn if source.name == "one")
    assert max(texts.values()) - min(texts.values()) <= 1


def test_the_synthetic_source_gets_its_share() -> None:
    real = [Source("one", rows(3), ("a",), 2.0), Source("two", rows(3), ("a",), 4.0)]
    mixed = with_share(real, Source("generator", rows(3), (), 1.0), 0.25)
    assert mixed[-1].weight / sum(source.weight for source in mixed) == pytest.approx(0.25)
    alone = with_share([], Source("generator", rows(3), (), 5.0), 0.25)
    assert [source.weight for source in alone] == [1.0]


def test_the_generator_is_a_source() -> None:
    source = generator_source(20, 1, None, 2.0)
    assert (source.name, len(source.rows), source.weight) == ("generator", 20, 2.0)


def test_label_pool_keeps_first_seen_order() -> None:
    pool = label_pool([Row("1", "classify", "x", ("b", "a"), ("a",)), Row("2", "classify", "x", ("a", "c"), ("a",))])
    assert pool == ("b", "a", "c")
