"""The command line against a worker without weights: answers, forms of output, exit statuses."""

from __future__ import annotations

import io
import json
import subprocess
import sys
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest

from seqgpt_ui import cli
from seqgpt_ui.settings import PROJECT_ROOT, Settings, settings_document
from seqgpt_ui.worker.__main__ import load
from tests.checkpoints import tokenizer_json
from tests.worker.serving import serving

TEXT = "张三和李四在北京大学工作，李四说好。"


@pytest.fixture(scope="module")
def worker_socket(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Path]:
    """A worker whose tokens and guides are real and whose probabilities are not."""
    folder = tmp_path_factory.mktemp("checkpoint")
    (folder / "tokenizer.json").write_text(tokenizer_json(), encoding="utf-8")
    settings = Settings(checkpoint=str(folder), backend="fake")
    with serving(load=lambda: load(settings), max_body_bytes=8_000_000) as running:
        yield running.path


@pytest.fixture(autouse=True)
def _through_that_worker(worker_socket: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("SEQGPT_SOCKET", str(worker_socket))
    monkeypatch.setenv("SEQGPT_CHILDREN", "0")


def printed(capsys: pytest.CaptureFixture[str], *arguments: str) -> str:
    """What a successful command prints."""
    status = cli.main(arguments)
    output, errors = capsys.readouterr()
    assert status == 0, errors
    return output


def objects(output: str) -> list[Any]:
    return [json.loads(line) for line in output.splitlines()]


def test_classify_prints_one_of_the_labels(capsys: pytest.CaptureFixture[str]) -> None:
    line = printed(capsys, "classify", "--labels", "正面,负面", TEXT).splitlines()
    assert len(line) == 1
    label, text = line[0].split("\t")
    assert label.split()[0] in ("正面", "负面")
    assert 0 <= float(label.split()[1]) <= 1
    assert text == TEXT


def test_classify_json_is_what_the_api_answers(capsys: pytest.CaptureFixture[str]) -> None:
    (result,) = objects(printed(capsys, "classify", "--labels", "正面，负面", "--json", TEXT))
    assert set(result["scores"]) == {"正面", "负面"}
    assert sum(result["scores"].values()) == pytest.approx(1.0)
    assert result["labels"][0]["label"] in result["scores"]
    assert result["prompt"].startswith("输入: ")
    assert result["mode"] == "fast"


def test_labels_may_be_a_json_list(capsys: pytest.CaptureFixture[str]) -> None:
    (result,) = objects(printed(capsys, "classify", "--labels", '["a,b", "c"]', "--json", TEXT))
    assert set(result["scores"]) == {"a,b", "c"}


def test_several_labels_and_a_threshold(capsys: pytest.CaptureFixture[str]) -> None:
    arguments = ("classify", "--labels", "正面,负面,中性", "--multi-label", "--threshold", "0", "--json", TEXT)
    (result,) = objects(printed(capsys, *arguments))
    assert result["labels"]
    assert {item["label"] for item in result["labels"]} <= {"正面", "负面", "中性"}


@pytest.mark.parametrize("option", ["--fields", "--labels"])
def test_extract_json_has_pieces_of_the_text(capsys: pytest.CaptureFixture[str], option: str) -> None:
    (result,) = objects(printed(capsys, "extract", option, "人名,地名", "--json", TEXT))
    assert set(result["fields"]) == {"人名", "地名"}
    for entity in result["entities"]:
        assert TEXT[entity["start"] : entity["end"]] == entity["text"]


def test_extract_for_people_names_field_and_place(capsys: pytest.CaptureFixture[str]) -> None:
    (result,) = objects(printed(capsys, "extract", "--fields", "人名,地名", "--json", TEXT))
    lines = printed(capsys, "extract", "--fields", "人名,地名", TEXT).splitlines()
    assert lines[0] == TEXT
    assert len(lines) == 1 + max(1, len(result["entities"]))


def test_several_texts_keep_their_order(capsys: pytest.CaptureFixture[str]) -> None:
    texts = [f"第{number}个文本" for number in range(40)]
    output = printed(capsys, "classify", "--labels", "甲,乙", *texts)
    assert [line.split("\t")[1] for line in output.splitlines()] == texts


def test_a_dash_reads_lines(capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("sys.stdin", io.StringIO("first\r\n\n   \n二\nlast"))
    output = printed(capsys, "classify", "--labels", "a,b", "-")
    assert [line.split("\t")[1] for line in output.splitlines()] == ["first", "二", "last"]


def test_no_lines_no_answers(capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("sys.stdin", io.StringIO(""))
    assert printed(capsys, "classify", "--labels", "a,b", "-") == ""


def test_a_template_brings_its_labels(capsys: pytest.CaptureFixture[str], tmp_path: Path) -> None:
    (result,) = objects(printed(capsys, "classify", "--template", "sentiment", "--json", TEXT))
    assert result["template"].startswith("sentiment.v")
    assert len(result["scores"]) >= 2


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        (("classify", TEXT), "label"),
        (("classify", "--labels", " , ", TEXT), "label"),
        (("classify", "--labels", "a", "--template", "no_such", TEXT), "no_such"),
        (("classify", "--labels", "a", "--threshold", "7", TEXT), "threshold"),
        (("classify", "--labels", "a", ""), "text"),
    ],
)
def test_a_wrong_request_is_status_2_with_a_sentence(
    capsys: pytest.CaptureFixture[str], arguments: tuple[str, ...], message: str
) -> None:
    assert cli.main(arguments) == 2
    output, errors = capsys.readouterr()
    assert output == ""
    assert message in errors
    assert len(errors.splitlines()) == 1


def test_wrong_settings_are_status_2(capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("SEQGPT_PORT", "x")
    assert cli.main(["classify", "--labels", "a", TEXT]) == 2
    assert "SEQGPT_PORT" in capsys.readouterr().err


def test_without_a_worker_it_is_status_1(
    capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch, tmp_path: Path
) -> None:
    monkeypatch.setenv("SEQGPT_SOCKET", str(tmp_path / "s"))
    assert cli.main(["classify", "--labels", "a", TEXT]) == 1
    assert "no worker answers" in capsys.readouterr().err


@pytest.mark.parametrize("arguments", [(), ("unknown",), ("classify",), ("classify", "--mode", "slow", "x")])
def test_a_wrong_command_line_shows_the_usage(capsys: pytest.CaptureFixture[str], arguments: tuple[str, ...]) -> None:
    with pytest.raises(SystemExit) as caught:
        cli.main(arguments)
    assert caught.value.code == 2
    assert "usage:" in capsys.readouterr().err


def test_an_interrupt_is_no_stack_trace(monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]) -> None:
    def interrupted() -> Settings:
        raise KeyboardInterrupt

    monkeypatch.setattr(cli, "load_settings", interrupted)
    assert cli.main(["classify", "--labels", "a", TEXT]) == 130
    assert capsys.readouterr().err == ""


def test_settings_are_printed_as_the_document_has_them(capsys: pytest.CaptureFixture[str]) -> None:
    assert printed(capsys, "settings") == settings_document()


def test_download_fetches_into_the_models_folder(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    asked: list[Path] = []
    monkeypatch.setenv("SEQGPT_MODELS_DIR", str(tmp_path))
    monkeypatch.setattr("seqgpt_ui.worker.download.download_seqgpt", asked.append)
    assert cli.main(["download"]) == 0
    assert asked == [tmp_path]


def test_a_failed_download_is_status_1(
    monkeypatch: pytest.MonkeyPatch, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    monkeypatch.setenv("SEQGPT_MODELS_DIR", str(tmp_path))
    monkeypatch.setattr("seqgpt_ui.worker.download.default_sources", lambda log: [])
    assert cli.main(["download"]) == 1
    assert "could not be downloaded" in capsys.readouterr().err


@pytest.mark.parametrize(
    ("result", "expected"),
    [
        ({"labels": []}, "-\tx"),
        ({"labels": [{"label": "a", "score": None}]}, "a ?\tx"),
        ({"labels": [{"label": "a", "score": 0.5}, {"label": "b", "score": 1.0}]}, "a 0.500, b 1.000\tx"),
    ],
)
def test_labels_for_people(result: Any, expected: str) -> None:
    assert cli.show_classification("x", result) == expected


def test_pieces_for_people() -> None:
    entities = [
        {"field": "人名", "text": "张三", "start": 0, "end": 2, "score": 0.25},
        {"field": "人名", "text": "王五", "start": None, "end": None, "score": None},
    ]
    assert cli.show_extraction("张三来了", {"entities": entities}).splitlines() == [
        "张三来了",
        "  人名: 张三  [0:2]  0.250",
        "  人名: 王五  ?",
    ]
    assert cli.show_extraction("a\n b", {"entities": []}).splitlines() == ["a b", "  -"]


def test_long_texts_are_shortened_for_people_only() -> None:
    line = cli.show_classification("长" * 500, {"labels": []})
    assert len(line) < 70
    assert line.endswith("…")


def test_a_reader_who_leaves_is_no_stack_trace() -> None:
    code = "import sys; from seqgpt_ui.cli import main; sys.stdout.write('x' * 100000); sys.exit(main(['settings']))"
    result = subprocess.run(
        ("bash", "-c", f'{sys.executable} -c "$0" | head -c 10; exit ${{PIPESTATUS[0]}}', code),
        cwd=PROJECT_ROOT,
        capture_output=True,
        text=True,
        check=False,
    )
    assert (result.returncode, result.stdout, result.stderr) == (1, "x" * 10, "")
