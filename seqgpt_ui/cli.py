"""The command line: classify, extract, download, settings. Goes through a running worker, or starts one for the time.

Prints answers on standard output and everything else on standard error.
"""

from __future__ import annotations

import argparse
import asyncio
import json
import os
import sys
from collections.abc import Awaitable, Callable, Iterator, Sequence
from dataclasses import replace
from itertools import islice
from typing import Any, TextIO

from seqgpt_ui.api.serialize import classification_json, extraction_json
from seqgpt_ui.client import WorkerClient
from seqgpt_ui.errors import InvalidRequest, SeqGPTError, SettingsError
from seqgpt_ui.logs import configure_logging
from seqgpt_ui.pipeline import Limits, Pipeline
from seqgpt_ui.processes import ensure_worker
from seqgpt_ui.prompt.templates import TemplateLibrary
from seqgpt_ui.settings import Settings, load_settings, settings_document
from seqgpt_ui.tasks.requests import ClassifyRequest, ExtractRequest

# Lines of standard input that are answered together.
LINES_AT_ONCE = 16
# A worker that was just started says something within this time; one that should be there already does at once.
START_PATIENCE_S = 90.0
# Nobody looks at a clock here: long texts on a slow machine may take their time.
DEADLINE_S = 600.0
Json = dict[str, Any]
Answer = Callable[[Pipeline, argparse.Namespace, tuple[str, ...]], Awaitable[list[Json]]]


def create_parser() -> argparse.ArgumentParser:
    """All commands and their options."""
    parser = argparse.ArgumentParser(prog="python -m seqgpt_ui", description="Classify texts and extract fields.")
    commands = parser.add_subparsers(dest="command", required=True)
    classify = commands.add_parser("classify", help="answer with the label that fits")
    extract = commands.add_parser("extract", help="answer with the pieces of the text that each field names")
    for command in (classify, extract):
        command.add_argument("text", metavar="TEXT", nargs="+", help="a text; - reads one text per line from stdin")
        command.add_argument("--mode", choices=("fast", "precise", "official"), default="fast")
        command.add_argument("--template", help="a task template; its labels are used where none are given")
        command.add_argument("--json", action="store_true", help="one JSON object per text, as the REST API has it")
    classify.add_argument("--labels", help="labels, separated by commas or given as a JSON list")
    classify.add_argument("--multi-label", action="store_true", help="several labels may fit")
    classify.add_argument("--threshold", type=float, help="leave out labels that score less")
    extract.add_argument("--fields", "--labels", dest="fields", help="fields, separated by commas or as a JSON list")
    commands.add_parser("download", help="fetch SeqGPT-560M into the models folder")
    commands.add_parser("settings", help="print all settings")
    return parser


def main(arguments: Sequence[str] | None = None) -> int:
    """Run one command; the exit status: 0 done, 1 failed, 2 asked wrongly."""
    options = create_parser().parse_args(arguments)
    try:
        status = _run(options)
        sys.stdout.flush()
        return status
    except (InvalidRequest, SettingsError) as error:
        sys.stderr.write(f"{error}\n")
        return 2
    except SeqGPTError as error:
        sys.stderr.write(f"{error}\n")
        return 1
    except BrokenPipeError:
        # The reader of our output left; keep Python from flushing into the closed pipe at exit.
        os.dup2(os.open(os.devnull, os.O_WRONLY), sys.stdout.fileno())
        return 1
    except KeyboardInterrupt:
        return 130


def _run(options: argparse.Namespace) -> int:
    if options.command == "settings":
        sys.stdout.write(settings_document())
        return 0
    settings = load_settings()
    if options.command == "download":
        from seqgpt_ui.worker.download import download_seqgpt

        download_seqgpt(settings.models_dir)
        return 0
    # A worker started for one command should not talk between the answers.
    settings = replace(settings, log_level="error" if settings.log_level == "info" else settings.log_level)
    configure_logging("cli", level=settings.log_level, form="text")
    with ensure_worker(settings) as keeper:
        return asyncio.run(_answer(settings, options, START_PATIENCE_S if keeper else 0.0))


async def _answer(settings: Settings, options: argparse.Namespace, patience_s: float) -> int:
    client = WorkerClient.from_settings(settings)
    limits = Limits(settings.max_text_chars, settings.max_labels, settings.max_texts, settings.max_new_tokens)
    pipeline = Pipeline(client, TemplateLibrary.from_folder(settings.templates_dir), limits)
    ask, show = COMMANDS[options.command]
    try:
        await client.wait_ready(patience_s=patience_s)
        lines = read_texts(options.text, sys.stdin)
        while texts := tuple(islice(lines, LINES_AT_ONCE)):
            for text, result in zip(texts, await ask(pipeline, options, texts), strict=True):
                line = json.dumps(result, ensure_ascii=False) if options.json else show(text, result)
                sys.stdout.write(line + "\n")
                for warning in () if options.json else result["warnings"]:
                    sys.stderr.write(f"note: {warning['message']}\n")
            sys.stdout.flush()
    finally:
        await client.aclose()
    return 0


def read_texts(given: Sequence[str], stdin: TextIO) -> Iterator[str]:
    """The texts of the command line; ``-`` stands for the lines of ``stdin``, empty ones left out."""
    for text in given:
        if text != "-":
            yield text
            continue
        for line in stdin:
            if line.strip():
                yield line.rstrip("\r\n")


async def _classify(pipeline: Pipeline, options: argparse.Namespace, texts: tuple[str, ...]) -> list[Json]:
    request = ClassifyRequest(
        texts=texts,
        labels=options.labels,
        multi_label=options.multi_label,
        threshold=options.threshold,
        mode=options.mode,
        template=options.template,
        deadline_s=DEADLINE_S,
    )
    return [classification_json(result) for result in await pipeline.classify(request)]


async def _extract(pipeline: Pipeline, options: argparse.Namespace, texts: tuple[str, ...]) -> list[Json]:
    request = ExtractRequest(
        texts=texts, fields=options.fields, mode=options.mode, template=options.template, deadline_s=DEADLINE_S
    )
    return [extraction_json(result) for result in await pipeline.extract(request)]


def show_classification(text: str, result: Json) -> str:
    """One line: labels with their scores, then the beginning of the text."""
    labels = ", ".join(f"{item['label']} {_score(item['score'])}" for item in result["labels"]) or "-"
    return f"{labels}\t{_shorten(text)}"


def show_extraction(text: str, result: Json) -> str:
    """The beginning of the text, then one indented line per piece: field, piece, place, score."""
    lines = [_shorten(text)]
    for entity in result["entities"]:
        place = "" if entity["start"] is None else f"  [{entity['start']}:{entity['end']}]"
        lines.append(f"  {entity['field']}: {entity['text']}{place}  {_score(entity['score'])}")
    return "\n".join(lines if len(lines) > 1 else [*lines, "  -"])


def _score(score: float | None) -> str:
    return "?" if score is None else f"{score:.3f}"


def _shorten(text: str, width: int = 60) -> str:
    line = " ".join(text.split())
    return line if len(line) <= width else line[: width - 1] + "…"


COMMANDS: dict[str, tuple[Answer, Callable[[str, Json], str]]] = {
    "classify": (_classify, show_classification),
    "extract": (_extract, show_extraction),
}
