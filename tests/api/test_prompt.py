"""POST /api/prompt, whole and streamed."""

from __future__ import annotations

import json
from typing import Any

import httpx
import pytest

from seqgpt_ui.errors import DeadlineExceeded, QueueFull
from seqgpt_ui.tasks.requests import PromptRequest
from tests.fakes_web import ScriptedPipeline

pytestmark = pytest.mark.anyio


def events(body: str) -> list[Any]:
    """The values of a stream of server-sent events."""
    blocks = body.split("\n\n")
    assert blocks.pop() == ""
    assert all(block.startswith("data: ") and "\n" not in block for block in blocks)
    return [json.loads(block.removeprefix("data: ")) for block in blocks]


async def test_whole_answer(client: httpx.AsyncClient, pipeline: ScriptedPipeline) -> None:
    response = await client.post("/api/prompt", json={"prompt": "你好"})
    answer = response.json()
    assert answer["result"]["text"] == "你好！\n"
    assert answer["result"]["prompt"] == "你好\n输出: [GEN]"
    assert (answer["result"]["num_prompt_tokens"], answer["result"]["num_tokens"]) == (5, 4)
    assert answer["model"]["name"] == "seqgpt-mini"
    assert pipeline.requests == [PromptRequest("你好", deadline_s=30.0)]


async def test_every_field_reaches_the_pipeline(client: httpx.AsyncClient, pipeline: ScriptedPipeline) -> None:
    body: dict[str, Any] = {
        "prompt": "p",
        "max_new_tokens": 5,
        "repetition_penalty": 2,
        "do_sample": True,
        "temperature": 0.5,
        "top_p": 0.9,
        "seed": 7,
    }
    await client.post("/api/prompt", json=body)
    assert pipeline.requests == [PromptRequest(**body, deadline_s=30.0)]


async def test_stream_gives_the_same_text_piece_by_piece(client: httpx.AsyncClient) -> None:
    response = await client.post("/api/prompt", json={"prompt": "你好", "stream": True})
    assert response.headers["content-type"].startswith("text/event-stream")
    *deltas, last = events(response.text)
    whole = (await client.post("/api/prompt", json={"prompt": "你好"})).json()
    assert "".join(event["delta"] for event in deltas) == whole["result"]["text"]
    assert last == whole


async def test_refused_stream_is_an_http_error(client: httpx.AsyncClient, pipeline: ScriptedPipeline) -> None:
    pipeline.error = QueueFull("the queue is full", retry_after_s=3)
    response = await client.post("/api/prompt", json={"prompt": "你好", "stream": True})
    assert response.status_code == 429
    assert response.json()["error"]["code"] == "queue_full"


async def test_error_in_mid_stream_is_the_last_event(client: httpx.AsyncClient, pipeline: ScriptedPipeline) -> None:
    pipeline.stream_error = DeadlineExceeded("too late")
    response = await client.post(
        "/api/prompt", json={"prompt": "你好", "stream": True}, headers={"X-Request-ID": "abc"}
    )
    *_, last = events(response.text)
    assert last == {"error": {"code": "deadline_exceeded", "message": "too late", "param": None, "request_id": "abc"}}


async def test_stream_that_ends_at_once_is_empty(client: httpx.AsyncClient, pipeline: ScriptedPipeline) -> None:
    pipeline.deltas = ()
    response = await client.post("/api/prompt", json={"prompt": "你好", "stream": True})
    (only,) = events(response.text)
    assert "result" in only
