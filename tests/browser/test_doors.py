"""Every door of the product gives the same answers: page, REST, the Gradio client, the two-step curl, command line.

Real processes and the demo model. The texts come from the project's generator; ``--rows FOLDER`` takes real ones.
"""

from __future__ import annotations

import json
import subprocess
import sys
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import httpx
import pytest
from gradio_client import Client
from playwright.sync_api import Browser, expect

from seqgpt_ui.settings import PROJECT_ROOT, Settings, child_environment
from tests.browser.conftest import Visitor, visiting
from tests.web_server import running_app
from training.generator import generate
from training.rows import read_rows, row_files

pytestmark = [pytest.mark.browser, pytest.mark.model, pytest.mark.timeout(900)]
NUM_TEXTS = 25
LABELS = ("财经", "体育", "科技", "娱乐", "国际", "教育", "健康", "旅游", "政治", "地理")
FIELDS = ("人名", "地名", "机构名", "时间", "金额", "公司", "电话")
SEED = 424_242
# The table draws only the rows that are in view.
VISIBLE_ROWS = 5


@dataclass(frozen=True)
class Product:
    """Where the running product is found, and what the command line needs to find it too."""

    url: str
    environment: dict[str, str]


@pytest.fixture(scope="module")
def product(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Product]:
    folder = tmp_path_factory.mktemp("doors")
    fields: dict[str, Any] = {"backend": "auto", "dtype": "float32", "socket": folder / "worker.sock"}
    with running_app(**fields) as url:
        yield Product(url, child_environment(Settings(data_dir=folder / "data", children=False, **fields)))


@pytest.fixture(scope="module")
def texts(request: pytest.FixtureRequest) -> dict[str, list[str]]:
    """Distinct one-line texts by task."""
    folder = request.config.getoption("rows")
    rows = (
        (row for path in row_files(Path(folder)) for row in list(read_rows(path))[:NUM_TEXTS])
        if folder
        else generate(20 * NUM_TEXTS, seed=SEED)
    )
    found: dict[str, dict[str, None]] = {"classify": {}, "extract": {}}
    for row in rows:
        if row.text == row.text.strip() and len(row.text.splitlines()) == 1 and "\t" not in row.text:
            found[row.task][row.text] = None
    return {task: list(items)[:NUM_TEXTS] for task, items in found.items()}


@pytest.fixture(scope="module")
def by_rest(product: Product, texts: dict[str, list[str]]) -> dict[str, list[dict[str, Any]]]:
    """What REST answers, one request a text: the measure of all other doors."""
    answers: dict[str, list[dict[str, Any]]] = {}
    for task, name, labels in (("classify", "labels", LABELS), ("extract", "fields", FIELDS)):
        answers[task] = []
        for text in texts[task]:
            response = httpx.post(f"{product.url}/api/{task}", json={"text": text, name: list(labels)}, timeout=60)
            response.raise_for_status()
            answers[task] += response.json()["results"]
    return answers


def test_answers_are_labels_of_the_set_and_pieces_of_the_text(
    texts: dict[str, list[str]], by_rest: dict[str, list[dict[str, Any]]]
) -> None:
    for result in by_rest["classify"]:
        assert [item["label"] for item in result["labels"]] == [max(result["scores"], key=result["scores"].get)]
        assert set(result["scores"]) == set(LABELS)
    assert any(result["entities"] for result in by_rest["extract"])
    for text, result in zip(texts["extract"], by_rest["extract"], strict=True):
        for entity in result["entities"]:
            assert text[entity["start"] : entity["end"]] == entity["text"]
            assert entity["field"] in FIELDS


def test_one_request_for_all_texts(
    product: Product, texts: dict[str, list[str]], by_rest: dict[str, list[dict[str, Any]]]
) -> None:
    body = {"text": texts["classify"], "labels": "、".join(LABELS)}
    response = httpx.post(f"{product.url}/api/classify", json=body, timeout=120)
    assert response.json()["results"] == by_rest["classify"]


def test_gradio_client(product: Product, texts: dict[str, list[str]], by_rest: dict[str, list[dict[str, Any]]]) -> None:
    client = Client(product.url, verbose=False, analytics_enabled=False)
    try:
        for task, name, labels in (("classify", "labels", LABELS), ("extract", "fields", FIELDS)):
            for text, expected in zip(texts[task], by_rest[task], strict=True):
                answer = client.predict(text=text, **{name: "，".join(labels)}, api_name=f"/{task}")
                assert answer["results"] == [expected]
    finally:
        client.close()


def test_two_step_curl(product: Product, texts: dict[str, list[str]], by_rest: dict[str, list[dict[str, Any]]]) -> None:
    for task, labels in (("classify", LABELS), ("extract", FIELDS)):
        for text, expected in zip(texts[task], by_rest[task], strict=True):
            call = f"{product.url}/gradio_api/call/{task}"
            event = _curl("-X", "POST", call, "-H", "Content-Type: application/json",
                          "-d", json.dumps({"data": [text, ",".join(labels)]}))  # fmt: skip
            stream = _curl("-N", f"{call}/{json.loads(event)['event_id']}")
            data = next(line for line in stream.splitlines() if line.startswith("data: "))
            assert json.loads(data.removeprefix("data: "))[0]["results"] == [expected]


def _curl(*arguments: str) -> str:
    command = ["curl", "--silent", "--fail", "--max-time", "60", "--noproxy", "*", *arguments]
    return subprocess.run(command, check=True, capture_output=True, text=True).stdout


def test_command_line(product: Product, texts: dict[str, list[str]], by_rest: dict[str, list[dict[str, Any]]]) -> None:
    for task, labels in (("classify", LABELS), ("extract", FIELDS)):
        command = [sys.executable, "-m", "seqgpt_ui", task, "--labels", "|".join(labels), "--json", "-"]
        done = subprocess.run(
            command, input="\n".join(texts[task]), capture_output=True, text=True, timeout=300, check=False,
            cwd=PROJECT_ROOT, env=product.environment,
        )  # fmt: skip
        assert done.returncode == 0, done.stderr
        assert [json.loads(line) for line in done.stdout.splitlines()] == by_rest[task]


def test_page_classifies_alike(
    product: Product, browser: Browser, texts: dict[str, list[str]], by_rest: dict[str, list[dict[str, Any]]]
) -> None:
    with visiting(browser, product.url) as visitor:
        page = visitor.open()
        page.locator("#classify-labels textarea").fill("；".join(LABELS))
        _open_trace(visitor, "classify")
        for text, expected in zip(texts["classify"], by_rest["classify"], strict=True):
            _ask(visitor, "classify", "分类", text, expected)
            expect(page.locator("#classify-result h2")).to_have_text(expected["labels"][0]["label"])
        visitor.shot("demo-classification-zh")


def test_page_extracts_alike(
    product: Product, browser: Browser, texts: dict[str, list[str]], by_rest: dict[str, list[dict[str, Any]]]
) -> None:
    with visiting(browser, product.url) as visitor:
        page = visitor.open()
        visitor.tab(1)
        page.locator("#extract-fields textarea").fill("\n".join(FIELDS))
        _open_trace(visitor, "extract")
        for text, expected in zip(texts["extract"], by_rest["extract"], strict=True):
            _ask(visitor, "extract", "抽取", text, expected)
            rows = [[e["field"], e["text"], str(e["start"]), str(e["end"])] for e in expected["entities"]]
            for index, row in enumerate(rows[:VISIBLE_ROWS]):
                cells = page.locator("#extract-table").get_by_role("row").nth(index + 1).get_by_role("gridcell")
                for column, value in enumerate(row):
                    expect(cells.nth(column)).to_have_text(value)
        visitor.shot("demo-extraction-zh")


def _open_trace(visitor: Visitor, page_name: str) -> None:
    visitor.page.locator(f"#{page_name}-trace > button, #{page_name}-trace .label-wrap").first.click()


def _ask(visitor: Visitor, page_name: str, button: str, text: str, expected: dict[str, Any]) -> None:
    """Type a text, press the button, wait for its prompt and raw output."""
    page = visitor.page
    page.locator(f"#{page_name}-text textarea").fill(text)
    page.get_by_role("button", name=button, exact=True).click()
    expect(page.locator(f"#{page_name}-sent textarea")).to_have_value(expected["prompt"])
    expect(page.locator(f"#{page_name}-raw textarea")).to_have_value(expected["raw"])
