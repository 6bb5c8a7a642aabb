"""A caller that goes away takes its work with it."""

from __future__ import annotations

import asyncio
import json
from typing import Any

import pytest
from fastapi import FastAPI

from tests.fakes_web import ScriptedPipeline

pytestmark = pytest.mark.anyio


class Caller:
    """One connection, spoken to in ASGI; leaves when told to."""

    def __init__(self, body: dict[str, Any]) -> None:
        self._messages = [{"type": "http.request", "body": json.dumps(body).encode(), "more_body": False}]
        self.gone = asyncio.Event()
        self.sent: list[Any] = []
        self.has_text = asyncio.Event()

    async def receive(self) -> Any:
        if self._messages:
            return self._messages.pop()
        await self.gone.wait()
        return {"type": "http.disconnect"}

    async def send(self, message: Any) -> None:
        self.sent.append(message)
        if message.get("body"):
            self.has_text.set()

    def call(self, app: FastAPI, path: str) -> asyncio.Task[None]:
        scope = {
            "type": "http",
            "asgi": {"version": "3.0", "spec_version": "2.4"},
            "http_version": "1.1",
            "method": "POST",
            "scheme": "http",
            "path": path,
            "raw_path": path.encode(),
            "root_path": "",
            "query_string": b"",
            "headers": [(b"content-type", b"application/json")],
            "server": ("test", 80),
            "client": ("test", 1),
        }

        async def run() -> None:
            await app(scope, self.receive, self.send)

        return asyncio.create_task(run())


@pytest.mark.parametrize(
    ("path", "body"),
    [
        ("/api/classify", {"text": "a", "labels": "x"}),
        ("/api/extract", {"text": "a", "fields": "x"}),
        ("/api/prompt", {"prompt": "a"}),
        ("/api/prompt", {"prompt": "a", "stream": True}),
    ],
)
async def test_work_is_cancelled(app: FastAPI, pipeline: ScriptedPipeline, path: str, body: dict[str, Any]) -> None:
    pipeline.gate = asyncio.Event()
    caller = Caller(body)
    call = caller.call(app, path)
    await asyncio.wait_for(pipeline.is_started.wait(), 5)
    caller.gone.set()
    await asyncio.wait_for(pipeline.is_cancelled.wait(), 5)
    await asyncio.wait_for(call, 5)


async def test_stream_ends_in_its_middle(app: FastAPI, pipeline: ScriptedPipeline) -> None:
    pipeline.mid_gate = asyncio.Event()
    caller = Caller({"prompt": "a", "stream": True})
    call = caller.call(app, "/api/prompt")
    await asyncio.wait_for(caller.has_text.wait(), 5)
    caller.gone.set()
    await asyncio.wait_for(pipeline.is_cancelled.wait(), 5)
    await asyncio.wait_for(call, 5)
    assert b"result" not in b"".join(message.get("body", b"") for message in caller.sent)


async def test_work_of_a_detached_request_goes_on(app: FastAPI, pipeline: ScriptedPipeline) -> None:
    pipeline.gate = asyncio.Event()
    caller = Caller({"text": "a", "labels": "x"})
    await asyncio.wait_for(caller.call(app, "/api/classify_async"), 5)
    caller.gone.set()
    await asyncio.wait_for(pipeline.is_started.wait(), 5)
    assert not pipeline.is_cancelled.is_set()
    await app.state.store.aclose()
