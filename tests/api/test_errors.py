"""Every failure answers in the one envelope, and names the value and the way out."""

from __future__ import annotations

import json
from typing import Any

import httpx
import pytest
from fastapi import FastAPI

from seqgpt_ui import errors
from tests.fakes_web import ScriptedPipeline

pytestmark = pytest.mark.anyio
GOOD: dict[str, Any] = {"text": "a", "labels": "x"}


async def post(client: httpx.AsyncClient, body: bytes | str, path: str = "/api/classify") -> httpx.Response:
    return await client.post(path, content=body, headers={"Content-Type": "application/json"})


def envelope(response: httpx.Response) -> dict[str, Any]:
    """The error of a response, whose envelope must be complete."""
    answer = response.json()
    assert set(answer) == {"error"}
    error: dict[str, Any] = answer["error"]
    assert set(error) == {"code", "message", "param", "request_id"}
    assert error["request_id"] == response.headers["x-request-id"]
    return error


@pytest.mark.parametrize(
    ("change", "param", "part"),
    [
        ({"text": None}, "text", "text is None"),
        ({"text": 5}, "text", "text is 5"),
        ({"text": []}, "text", "text is []"),
        ({"text": ["a", 3]}, "text", "3"),
        ({"labels": []}, "labels", "expected a list, or one string"),
        ({"labels": {"a": 1}}, "labels", "labels is {'a': 1}"),
        ({"multi_label": "yes"}, "multi_label", "multi_label is 'yes'"),
        ({"threshold": 1.5}, "threshold", "expected a number from 0 to 1"),
        ({"threshold": "0.5"}, "threshold", "threshold is '0.5'"),
        ({"max_labels": 0}, "max_labels", "expected a whole number from 1"),
        ({"min_labels": -1}, "min_labels", "min_labels is -1"),
        ({"mode": "turbo"}, "mode", "expected fast, precise or official"),
        ({"template": 1}, "template", "GET /api/templates"),
        ({"lables": "x"}, "lables", "unknown field 'lables'; known: text, labels,"),
    ],
)
async def test_wrong_value(client: httpx.AsyncClient, change: dict[str, Any], param: str, part: str) -> None:
    response = await client.post("/api/classify", json=GOOD | change)
    assert response.status_code == 400
    error = envelope(response)
    assert (error["code"], error["param"]) == ("invalid_request", param)
    assert part in error["message"]


async def test_missing_value(client: httpx.AsyncClient) -> None:
    error = envelope(await client.post("/api/classify", json={"labels": "x"}))
    assert error["param"] == "text"
    assert error["message"].startswith("text is missing; expected a text, or a list of texts")


@pytest.mark.parametrize(
    "body",
    [
        b"",
        b"{",
        b"[]",
        b'"text"',
        b"null",
        b"\xff\xfe",
        b'{"text": "a", "labels": "x", "threshold": NaN}',
        b'{"text": "a", "labels": "x", "threshold": Infinity}',
        b'{"text": "a", "labels": "x", "threshold": 1e999}',
        b'{"text": "\\ud800", "labels": "x"}',
        b'{"text": "a", "labels": ["\\udfff"]}',
        b'{"text": ' + b"[" * 2000 + b"]" * 2000 + b"}",
        b'{"text": ' + b"[" * 900 + b"]" * 900 + b"}",
        b'{"text": "a", "labels": "x", "max_labels": 1' + b"0" * 400 + b"}",
    ],
)
async def test_hostile_json_is_a_bad_request(client: httpx.AsyncClient, body: bytes) -> None:
    response = await post(client, body)
    assert response.status_code == 400
    assert envelope(response)["code"] == "invalid_request"


async def test_message_about_broken_json_says_where(client: httpx.AsyncClient) -> None:
    assert "(character 9)" in envelope(await post(client, b'{"text": '))["message"]


async def test_other_content_type_is_explained(client: httpx.AsyncClient) -> None:
    response = await client.post("/api/classify", content=json.dumps(GOOD), headers={"Content-Type": "text/plain"})
    assert response.status_code == 400
    assert "application/json" in envelope(response)["message"]


async def test_long_value_is_shortened_in_the_message(client: httpx.AsyncClient) -> None:
    error = envelope(await client.post("/api/classify", json=GOOD | {"mode": "m" * 5000}))
    assert len(error["message"]) < 300


async def test_prompt_values_have_bounds(client: httpx.AsyncClient) -> None:
    changes: list[tuple[dict[str, Any], str]] = [
        ({"prompt": ""}, "prompt"),
        ({"max_new_tokens": 0}, "max_new_tokens"),
        ({"temperature": 0}, "temperature"),
        ({"top_p": 1.5}, "top_p"),
        ({"seed": -1}, "seed"),
        ({"max_new_tokens": 1.5}, "max_new_tokens"),
    ]
    for change, param in changes:
        response = await client.post("/api/prompt", json={"prompt": "p"} | change)
        assert response.status_code == 400
        assert envelope(response)["param"] == param


@pytest.mark.parametrize("path", ["/api", "/api/", "/api/nothing", "/api/classify/more", "/api/requests/"])
async def test_unknown_path(client: httpx.AsyncClient, path: str) -> None:
    response = await client.get(path)
    assert response.status_code == 404
    assert envelope(response)["code"] == "not_found"


@pytest.mark.parametrize(
    ("method", "path", "allow"),
    [("GET", "/api/classify", "POST"), ("DELETE", "/api/requests/1", "GET"), ("POST", "/api/status", "GET")],
)
async def test_wrong_method(client: httpx.AsyncClient, method: str, path: str, allow: str) -> None:
    response = await client.request(method, path)
    assert response.status_code == 405
    assert response.headers["allow"] == allow
    assert envelope(response)["code"] == "method_not_allowed"


async def test_declared_body_too_large(client: httpx.AsyncClient, pipeline: ScriptedPipeline) -> None:
    response = await client.post("/api/classify", json={"text": "a" * 30_000, "labels": "x"})
    assert response.status_code == 413
    error = envelope(response)
    assert error["code"] == "body_too_large"
    assert "SEQGPT_MAX_BODY_BYTES" in error["message"]
    assert pipeline.requests == []


async def test_chunked_body_too_large(client: httpx.AsyncClient, pipeline: ScriptedPipeline) -> None:
    async def chunks() -> Any:
        for _ in range(30):
            yield b" " * 1000

    response = await client.post("/api/classify", content=chunks(), headers={"Content-Type": "application/json"})
    assert response.status_code == 413
    assert envelope(response)["code"] == "body_too_large"
    assert pipeline.requests == []


@pytest.mark.parametrize(
    ("error", "status"),
    [
        (errors.InvalidLabels("no label", param="labels"), 400),
        (errors.InvalidTemplate("unknown template", param="template"), 400),
        (errors.LabelsTooLong("labels fill the prompt", param="labels"), 400),
        (errors.TextTooLong("too long", param="text"), 400),
        (errors.QueueFull("full", retry_after_s=2.4), 429),
        (errors.EngineFailed("step failed"), 500),
        (errors.WorkerError("odd answer"), 502),
        (errors.WorkerUnavailable("no worker"), 503),
        (errors.DeadlineExceeded("too late"), 504),
    ],
)
async def test_product_errors(
    client: httpx.AsyncClient, pipeline: ScriptedPipeline, error: errors.SeqGPTError, status: int
) -> None:
    pipeline.error = error
    response = await client.post("/api/classify", json=GOOD)
    assert response.status_code == status
    told = envelope(response)
    assert (told["code"], told["message"], told["param"]) == (error.code, error.message, error.param)
    assert ("retry-after" in response.headers) == (status in (429, 503))


async def test_retry_after_is_in_whole_seconds(client: httpx.AsyncClient, pipeline: ScriptedPipeline) -> None:
    pipeline.error = errors.QueueFull("full", retry_after_s=2.4)
    assert (await client.post("/api/classify", json=GOOD)).headers["retry-after"] == "3"
    pipeline.error = errors.WorkerUnavailable("starting")
    assert (await client.post("/api/classify", json=GOOD)).headers["retry-after"] == "1"


async def test_unexpected_error_tells_no_details(client: httpx.AsyncClient, pipeline: ScriptedPipeline) -> None:
    pipeline.error = RuntimeError("password=hunter2")
    response = await client.post("/api/classify", json=GOOD)
    assert response.status_code == 500
    error = envelope(response)
    assert error["code"] == "internal_error"
    assert "hunter2" not in response.text


async def test_request_id_is_taken_over_when_harmless(client: httpx.AsyncClient, pipeline: ScriptedPipeline) -> None:
    response = await client.post("/api/classify", json=GOOD, headers={"X-Request-ID": "order-7:a.b_c"})
    assert response.headers["x-request-id"] == "order-7:a.b_c"
    assert pipeline.request_ids == ["order-7:a.b_c"]


@pytest.mark.parametrize("offered", ["", "a b", "x" * 65, "é"])
async def test_odd_request_id_is_replaced(client: httpx.AsyncClient, offered: str) -> None:
    response = await client.get("/api/status", headers=[(b"X-Request-ID", offered.encode())])
    assert len(response.headers["x-request-id"]) == 32


async def test_every_request_gets_its_own_id(client: httpx.AsyncClient, app: FastAPI) -> None:
    seen = {(await client.get("/healthz")).headers["x-request-id"] for _ in range(5)}
    assert len(seen) == 5
