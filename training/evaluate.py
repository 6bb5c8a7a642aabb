"""Measures any checkpoint on any folder of rows, through the product's own pipeline.

``python -m training.evaluate models/seqgpt-mini --rows FOLDER [--only NAME ...] [--mode fast] [--json OUT]``
"""

from __future__ import annotations

import argparse
import asyncio
import json
import time
from collections.abc import Sequence
from dataclasses import asdict, dataclass
from pathlib import Path

from seqgpt_ui.pipeline import Limits, Pipeline
from seqgpt_ui.prompt.templates import TemplateLibrary
from seqgpt_ui.protocol import Mode
from seqgpt_ui.settings import Settings
from seqgpt_ui.tasks.requests import ClassifyRequest, ExtractRequest
from seqgpt_ui.worker.engine.loading import CheckpointFolder, load_core
from training.local_client import LocalClient
from training.measures import Counts, Measure, bootstrap, count_pairs, f1, precision, recall, share
from training.rows import Row, file_stem, read_rows, row_files


@dataclass(frozen=True, slots=True)
class Report:
    """The measures of one file."""

    name: str
    task: str
    num_rows: int
    measures: tuple[Measure, ...]
    seconds: float


class Evaluator:
    """Runs rows through a pipeline and counts."""

    def __init__(self, pipeline: Pipeline, mode: Mode) -> None:
        self._pipeline = pipeline
        self._mode: Mode = mode

    async def evaluate(self, name: str, rows: Sequence[Row]) -> Report:
        """All measures of one file's rows, which must be of one task."""
        began = time.monotonic()
        if rows[0].task == "classify":
            results = [await self._classify(row) for row in rows]
            named = (("accuracy", [top for top, _ in results], share), ("exact_set", [s for _, s in results], share))
        else:
            found = [await self._extract(row) for row in rows]
            counts, exact = [c for c, _ in found], [e for _, e in found]
            named = (("f1", counts, f1), ("precision", counts, precision), ("recall", counts, recall))  # type: ignore[assignment]
            named = (*named, ("exact_match", exact, share))  # type: ignore[assignment]
        measures = tuple(bootstrap(label, values, measure) for label, values, measure in named)
        return Report(name, rows[0].task, len(rows), measures, time.monotonic() - began)

    async def _classify(self, row: Row) -> tuple[Counts, Counts]:
        assert isinstance(row.gold, tuple)
        request = ClassifyRequest(texts=(row.text,), labels=row.labels, mode=self._mode)
        (result,) = await self._pipeline.classify(request)
        labels = [scored.label for scored in result.labels]
        top = bool(labels) and labels[0] in row.gold
        return Counts(top, 1, 1), Counts(set(labels) == set(row.gold), 1, 1)

    async def _extract(self, row: Row) -> tuple[Counts, Counts]:
        assert isinstance(row.gold, dict)
        request = ExtractRequest(texts=(row.text,), fields=row.labels, mode=self._mode)
        (result,) = await self._pipeline.extract(request)
        first = {field: spans[0] for field, spans in result.fields.items() if spans}
        wanted = {field: spans[0] for field, spans in row.gold.items() if spans}
        return count_pairs(result.fields, row.gold), Counts(first == wanted, 1, 1)


def table(reports: Sequence[Report]) -> str:
    """The reports as a Markdown table."""
    lines = ["| data | rows | measure | value | 95 % interval |", "|---|---:|---|---:|---|"]
    lines += [
        f"| {report.name} | {report.num_rows} | {m.name} | {m.value:.3f} | {m.low:.3f} - {m.high:.3f} |"
        for report in reports
        for m in report.measures
    ]
    return "\n".join(lines)


def create_pipeline(checkpoint: Path, environment: dict[str, str]) -> Pipeline:
    """The product's pipeline over a core in this process."""
    settings = Settings.from_environment(environment)
    core = load_core(settings, CheckpointFolder(checkpoint, checkpoint.name, is_demo=False))
    return Pipeline(LocalClient(core), TemplateLibrary.from_folder(), Limits())


async def run(arguments: argparse.Namespace) -> list[Report]:
    """Evaluate the files that were asked for, printing each as it is done."""
    pipeline = create_pipeline(arguments.checkpoint, dict(item.split("=", 1) for item in arguments.set))
    evaluator = Evaluator(pipeline, arguments.mode)
    reports = []
    for path in row_files(arguments.rows):
        name = file_stem(path)
        if arguments.only and name not in arguments.only:
            continue
        rows = list(read_rows(path))[: arguments.limit]
        reports.append(await evaluator.evaluate(name, rows))
        print(table(reports[-1:]), f"\n{reports[-1].seconds:.1f} s\n", flush=True)
    return reports


def main() -> None:
    """The command line."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("checkpoint", type=Path)
    parser.add_argument("--rows", type=Path, required=True, help="folder of .jsonl(.gz) files")
    parser.add_argument("--only", nargs="*", default=[], metavar="NAME")
    parser.add_argument("--mode", choices=("fast", "precise", "official"), default="fast")
    parser.add_argument("--limit", type=int, default=None, help="at most so many rows of each file")
    parser.add_argument("--set", action="append", default=[], metavar="SEQGPT_NAME=VALUE", help="a setting")
    parser.add_argument("--json", type=Path, help="write the reports here")
    arguments = parser.parse_args()
    reports = asyncio.run(run(arguments))
    print(table(reports))
    if arguments.json:
        arguments.json.write_text(json.dumps([asdict(report) for report in reports], ensure_ascii=False, indent=2))


if __name__ == "__main__":
    main()
