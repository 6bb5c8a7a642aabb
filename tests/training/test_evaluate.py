"""Evaluation runs the product's own pipeline and reports what was defined."""

from __future__ import annotations

import asyncio
import json
import sys
from pathlib import Path

import pytest

from seqgpt_ui.pipeline import Limits, Pipeline
from seqgpt_ui.prompt.templates import TemplateLibrary
from seqgpt_ui.protocol import GenerateItem, GenerateRequest, SegmentMessage
from seqgpt_ui.settings import Settings
from seqgpt_ui.worker.engine.loading import CheckpointFolder, load_core
from tests.checkpoints import tokenizer_json
from training import evaluate
from training.local_client import LocalClient
from training.rows import Row

ROWS = {
    "news_zh": {"id": "1", "task": "classify", "text": "股市", "labels": ["财经", "体育"], "gold": ["财经", "体育"]},
    "names_zh": {"id": "2", "task": "extract", "text": "张三在北京", "labels": ["人名"], "gold": {}},
}


@pytest.fixture
def folder(tmp_path: Path) -> Path:
    (tmp_path / "model").mkdir()
    (tmp_path / "model" / "tokenizer.json").write_text(tokenizer_json(), encoding="utf-8")
    rows = tmp_path / "rows"
    rows.mkdir()
    for name, row in ROWS.items():
        (rows / f"{name}.jsonl").write_text(json.dumps(row) + "\n", encoding="utf-8")
    return tmp_path


@pytest.fixture
def client(folder: Path) -> LocalClient:
    settings = Settings.from_environment({"SEQGPT_BACKEND": "fake"})
    return LocalClient(load_core(settings, CheckpointFolder(folder / "model", "tiny", is_demo=False)))


def run(monkeypatch: pytest.MonkeyPatch, folder: Path, *options: str) -> None:
    fixed = [str(folder / "model"), "--rows", str(folder / "rows"), "--set", "SEQGPT_BACKEND=fake"]
    monkeypatch.setattr(sys, "argv", ["evaluate", *fixed, *options])
    evaluate.main()


def test_a_folder_is_reported_as_table_and_json(
    monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str], folder: Path
) -> None:
    run(monkeypatch, folder, "--json", str(folder / "report.json"))
    printed = capsys.readouterr().out
    assert "| news_zh | 1 | accuracy | 1.000 | 1.000 - 1.000 |" in printed
    assert "| names_zh | 1 | f1 |" in printed
    reports = json.loads((folder / "report.json").read_text(encoding="utf-8"))
    assert [report["name"] for report in reports] == ["names_zh", "news_zh"]
    assert [measure["name"] for measure in reports[0]["measures"]] == ["f1", "precision", "recall", "exact_match"]


def test_only_the_named_files_are_run(
    monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str], folder: Path
) -> None:
    run(monkeypatch, folder, "--only", "news_zh", "--mode", "precise", "--limit", "1")
    assert "names_zh" not in capsys.readouterr().out


def test_top_label_and_exact_set_differ(client: LocalClient) -> None:
    evaluator = evaluate.Evaluator(Pipeline(client, TemplateLibrary.from_folder(), Limits()), "fast")
    row = Row("1", "classify", "股市大涨", ("财经", "体育"), ("财经", "体育"))
    report = asyncio.run(evaluator.evaluate("x", [row]))
    assert {measure.name: measure.value for measure in report.measures} == {"accuracy": 1.0, "exact_set": 0.0}


def test_local_client_keeps_item_errors_apart(client: LocalClient) -> None:
    good = GenerateItem(segments=[SegmentMessage(text="好", is_content=True)])
    bad = GenerateItem(segments=[SegmentMessage(text="", is_content=True)])

    async def scenario() -> None:
        response = await client.generate(GenerateRequest(items=[bad, good]))
        assert response.items[0].error is not None
        assert response.items[0].error.code == "invalid_request"
        assert response.items[1].completion is not None
        events = [event async for event in client.stream(GenerateRequest(items=[good], stream=True))]
        assert events[-1].result is not None
        assert (await client.info()).state == "ready"

    asyncio.run(scenario())
