"""The row schema and its reader: what is broken is named with file and line."""

from __future__ import annotations

import gzip
import json
from pathlib import Path

import pytest

from training.rows import Row, file_stem, read_rows, row_files, row_from_json

CLASSIFY = {"id": 1, "task": "classify", "text": "好", "labels": ["正面", "负面"], "gold": ["正面"]}
EXTRACT = {
    "id": "b",
    "task": "extract",
    "text": "张三",
    "labels": ["人名"],
    "gold": {"人名": ["张三"]},
    "licence": "CC0",
}


def test_rows_of_both_tasks() -> None:
    assert row_from_json(CLASSIFY) == Row("1", "classify", "好", ("正面", "负面"), ("正面",))
    row = row_from_json(EXTRACT)
    assert row.gold == {"人名": ("张三",)}
    assert row.licence == "CC0"


@pytest.mark.parametrize(
    ("change", "message"),
    [({"gold": {}}, "does not go with gold"), ({"task": "other"}, "does not go"), ({"gold": None}, "NoneType")],
)
def test_task_and_gold_must_go_together(change: dict[str, object], message: str) -> None:
    with pytest.raises(ValueError, match=message):
        row_from_json({**CLASSIFY, **change})


def test_missing_keys_are_named() -> None:
    with pytest.raises(ValueError, match="lacks text, labels"):
        row_from_json({"id": "a", "task": "classify", "gold": []})


@pytest.mark.parametrize("suffix", [".jsonl", ".jsonl.gz"])
def test_reader_takes_plain_and_packed_files(tmp_path: Path, suffix: str) -> None:
    path = tmp_path / f"rows{suffix}"
    data = (json.dumps(CLASSIFY) + "\n\n" + json.dumps(EXTRACT) + "\n").encode()
    path.write_bytes(gzip.compress(data) if suffix.endswith("gz") else data)
    assert [row.task for row in read_rows(path)] == ["classify", "extract"]
    assert row_files(tmp_path) == [path]
    assert file_stem(path) == "rows"


def test_reader_names_file_and_line(tmp_path: Path) -> None:
    path = tmp_path / "rows.jsonl"
    path.write_text(json.dumps(CLASSIFY) + "\n{broken\n", encoding="utf-8")
    with pytest.raises(ValueError, match=r"rows\.jsonl:2"):
        list(read_rows(path))
