"""The row schema shared by generator, training files and evaluation files, and its JSON Lines reader.

A line is ``{"id", "task", "text", "labels", "gold", "source", "licence"}``; ``gold`` is a list of labels for
``task: "classify"`` and an object ``field -> spans in text order`` for ``task: "extract"``.
"""

from __future__ import annotations

import gzip
import json
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path
from typing import Any

Gold = tuple[str, ...] | dict[str, tuple[str, ...]]


@dataclass(frozen=True, slots=True)
class Row:
    """One labelled text. ``gold`` is a tuple of labels (classify) or a mapping field -> spans (extract)."""

    id: str
    task: str
    text: str
    labels: tuple[str, ...]
    gold: Gold
    source: str = ""
    licence: str = ""


def row_from_json(value: dict[str, Any]) -> Row:
    """Build a row from one decoded line. Raises ``ValueError`` naming what is missing or of the wrong kind."""
    missing = [key for key in ("id", "task", "text", "labels", "gold") if key not in value]
    if missing:
        raise ValueError(f"row lacks {', '.join(missing)}")
    gold = value["gold"]
    if value["task"] == "classify" and isinstance(gold, list):
        parsed: Gold = tuple(gold)
    elif value["task"] == "extract" and isinstance(gold, dict):
        parsed = {name: tuple(spans) for name, spans in gold.items()}
    else:
        raise ValueError(f"row {value['id']}: task {value['task']!r} does not go with gold {type(gold).__name__}")
    return Row(
        str(value["id"]),
        value["task"],
        value["text"],
        tuple(value["labels"]),
        parsed,
        value.get("source", ""),
        value.get("licence", ""),
    )


def read_rows(path: Path) -> Iterator[Row]:
    """Yield the rows of a ``.jsonl`` or ``.jsonl.gz`` file. Raises ``ValueError`` with file and line number."""
    opener = gzip.open if path.suffix == ".gz" else open
    with opener(path, "rt", encoding="utf-8") as lines:
        for number, line in enumerate(lines, 1):
            if not line.strip():
                continue
            try:
                yield row_from_json(json.loads(line))
            except ValueError as error:
                raise ValueError(f"{path}:{number}: {error}") from error


def row_files(folder: Path) -> list[Path]:
    """All row files of a folder in name order."""
    return sorted([*folder.glob("*.jsonl"), *folder.glob("*.jsonl.gz")])


def file_stem(path: Path) -> str:
    """The data set's name: the file name without ``.jsonl`` and ``.gz``."""
    return path.name.removesuffix(".gz").removesuffix(".jsonl")
