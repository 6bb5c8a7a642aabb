"""Shared by the extraction tests: a task, a model that copies given values, short forms of results."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

from seqgpt_ui.protocol import Completion, CopyConstraint
from seqgpt_ui.tasks.extraction import ExtractionTask
from seqgpt_ui.tasks.labels import read_labels
from seqgpt_ui.tasks.results import Extraction
from seqgpt_ui.tasks.task import Document, Shard
from tests.fakes import answer_all, completion, planner, span

FIELDS = "人名，地名"


def task(fields: str | list[str] = FIELDS, *, max_prompt_tokens: int = 1024, mode: Any = "fast") -> ExtractionTask:
    field_set = read_labels(fields, param="fields", max_labels=500)
    return ExtractionTask(field_set, mode, planner("extract", max_prompt_tokens))


def source(shard: Shard) -> str:
    assert isinstance(shard.constraint, CopyConstraint)
    return shard.constraint.source


def found(values: Mapping[str, Sequence[str]], score: float | None = 0.5) -> Any:
    """A model that copies the given values of each field."""

    def answer(shard: Shard) -> Completion:
        spans = [
            span(field, source(shard), value, score)
            for field in shard.labels
            for value in values.get(field, ())
            if value in source(shard)
        ]
        return completion("".join(f"{item.field}: {item.text}\n" for item in spans), spans=spans)

    return answer


def extract(made: ExtractionTask, text: str, answer: Any) -> Extraction:
    document = Document(text)
    return made.merge(document, answer_all(made.plan(document), answer))


def places(result: Extraction) -> list[tuple[str, str, int | None, int | None]]:
    return [(entity.field, entity.text, entity.start, entity.end) for entity in result.entities]


def codes(result: Extraction) -> list[str]:
    return [notice.code for notice in result.warnings]
