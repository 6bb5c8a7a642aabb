"""The named endpoints: a fixed contract, the same answers as REST."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import httpx
import pytest

from seqgpt_ui.errors import QueueFull
from seqgpt_ui.tasks.requests import ClassifyRequest
from tests.fakes_web import ScriptedPipeline
from tests.goldens import check_golden

pytestmark = pytest.mark.anyio
GOLDEN = Path(__file__).parent / "golden" / "endpoints.json"


async def call(client: httpx.AsyncClient, name: str, data: list[Any]) -> tuple[str, Any]:
    """The two steps that a caller without a client library takes; the event and its value."""
    event_id = (await client.post(f"/gradio_api/call/{name}", json={"data": data})).json()["event_id"]
    stream = (await client.get(f"/gradio_api/call/{name}/{event_id}")).text
    *_, last = [block for block in stream.split("\n\n") if block]
    event, value = last.split("\n")
    return event.removeprefix("event: "), json.loads(value.removeprefix("data: "))


async def test_contract(client: httpx.AsyncClient) -> None:
    info = (await client.get("/gradio_api/info")).json()
    assert info["unnamed_endpoints"] == {}
    check_golden(GOLDEN, info["named_endpoints"])


async def test_parameter_names(client: httpx.AsyncClient) -> None:
    endpoints = (await client.get("/gradio_api/info")).json()["named_endpoints"]
    names = {path: [item["parameter_name"] for item in spec["parameters"]] for path, spec in endpoints.items()}
    assert names == {
        "/classify": ["text", "labels", "multi_label", "threshold", "all_scores", "mode", "template"],
        "/extract": ["text", "fields", "mode", "template"],
        "/prompt": [
            "prompt",
            "max_new_tokens",
            "repetition_penalty",
            "do_sample",
            "temperature",
            "top_p",
            "seed",
        ],
        "/templates": [],
        "/status": [],
    }


@pytest.mark.parametrize(
    ("name", "data", "path", "body"),
    [
        ("classify", ["a", "x"], "/api/classify", {"text": "a", "labels": "x"}),
        ("classify", [["a", "b"], ["x"]], "/api/classify", {"text": ["a", "b"], "labels": ["x"]}),
        ("extract", ["a", "x", "precise"], "/api/extract", {"text": "a", "fields": "x", "mode": "precise"}),
        ("prompt", ["p"], "/api/prompt", {"prompt": "p"}),
    ],
)
async def test_same_answer_as_rest(
    client: httpx.AsyncClient, pipeline: ScriptedPipeline, name: str, data: list[Any], path: str, body: dict[str, Any]
) -> None:
    event, value = await call(client, name, data)
    assert event == "complete"
    assert value == [(await client.post(path, json=body)).json()]
    from_endpoint, from_rest = pipeline.requests
    assert from_endpoint == from_rest


async def test_templates_and_status_are_those_of_rest(client: httpx.AsyncClient) -> None:
    for name in ("templates", "status"):
        assert (await call(client, name, []))[1] == [(await client.get(f"/api/{name}")).json()]


async def test_named_values(client: httpx.AsyncClient, pipeline: ScriptedPipeline) -> None:
    body = {"text": "a", "labels": "x", "threshold": 0.5, "mode": "precise"}
    event_id = (await client.post("/gradio_api/call/v2/classify", json=body)).json()["event_id"]
    stream = (await client.get(f"/gradio_api/call/classify/{event_id}")).text
    assert "event: complete" in stream
    assert pipeline.requests == [
        ClassifyRequest(texts=("a",), labels="x", threshold=0.5, mode="precise", deadline_s=30)
    ]


@pytest.mark.parametrize(
    ("data", "part"),
    [
        (["a", "x", "maybe"], "invalid_request: multi_label is 'maybe'"),
        (["a", "x", False, 7], "expected a number from 0 to 1"),
        ([], "invalid_request: text is None"),
    ],
)
async def test_wrong_values_are_explained(
    client: httpx.AsyncClient, capfd: pytest.CaptureFixture[str], data: list[Any], part: str
) -> None:
    event, value = await call(client, "classify", data)
    assert event == "error"
    assert part in json.dumps(value, ensure_ascii=False)
    assert "Traceback" not in capfd.readouterr().err


async def test_product_errors_carry_their_code(client: httpx.AsyncClient, pipeline: ScriptedPipeline) -> None:
    pipeline.error = QueueFull("the queue is full")
    event, value = await call(client, "extract", ["a", "x"])
    assert event == "error"
    assert "queue_full: the queue is full" in json.dumps(value)


async def test_page_events_ask_for_all_their_values(
    client: httpx.AsyncClient, blocks: Any, capfd: pytest.CaptureFixture[str]
) -> None:
    from gradio.exceptions import Error

    page_event = next(fn for fn in blocks.fns.values() if fn.api_name == "show_classification")
    with pytest.raises(Error, match="input values are missing"):
        blocks.validate_inputs(page_event, ["secret text"])
