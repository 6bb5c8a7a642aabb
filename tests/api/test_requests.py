"""Requests that run by themselves: POST /api/classify_async, GET /api/requests/{id}."""

from __future__ import annotations

import asyncio
from collections.abc import Callable, Coroutine
from typing import Any

import httpx
import pytest

from seqgpt_ui.api.store import RequestStore, StoredRequest
from seqgpt_ui.errors import DeadlineExceeded, EngineFailed, NotFound, QueueFull
from tests.fakes_web import ScriptedPipeline

pytestmark = pytest.mark.anyio
BODY = {"text": "a", "labels": "x"}


async def ended(client: httpx.AsyncClient, request_id: str) -> dict[str, Any]:
    """The answer once the request has ended; every look lets the background work go on."""
    for _ in range(100):
        answer: dict[str, Any] = (await client.get(f"/api/requests/{request_id}")).json()
        if answer["status"] in ("completed", "failed"):
            return answer
    raise AssertionError(f"still {answer['status']}")


async def test_id_at_once_and_result_later(client: httpx.AsyncClient, pipeline: ScriptedPipeline) -> None:
    pipeline.gate = asyncio.Event()
    accepted = await client.post("/api/classify_async", json=BODY)
    assert accepted.status_code == 202
    request_id = accepted.json()["id"]
    assert accepted.json() == {"id": request_id, "status": "queued"}
    assert accepted.headers["location"] == f"/api/requests/{request_id}"
    await asyncio.wait_for(pipeline.is_started.wait(), 5)
    running = (await client.get(f"/api/requests/{request_id}")).json()
    assert running == {"id": request_id, "status": "in_progress"}
    pipeline.gate.set()
    answer = await ended(client, request_id)
    assert answer["status"] == "completed"
    assert answer["result"] == (await client.post("/api/classify", json=BODY)).json()


async def test_failure_is_kept_with_its_error(client: httpx.AsyncClient, pipeline: ScriptedPipeline) -> None:
    pipeline.error = DeadlineExceeded("too late")
    request_id = (await client.post("/api/classify_async", json=BODY)).json()["id"]
    answer = await ended(client, request_id)
    assert answer["status"] == "failed"
    assert answer["error"]["code"] == "deadline_exceeded"
    assert "result" not in answer


async def test_wrong_body_is_refused_at_once(client: httpx.AsyncClient) -> None:
    assert (await client.post("/api/classify_async", json={"text": 1})).status_code == 400


async def test_unknown_id(client: httpx.AsyncClient) -> None:
    response = await client.get("/api/requests/nothing")
    assert response.status_code == 404
    assert response.json()["error"]["code"] == "not_found"


async def answer_at_once() -> dict[str, Any]:
    return {"ok": True}


async def settle(store: RequestStore, request: StoredRequest) -> None:
    """Wait until a request of the store has ended."""
    for _ in range(100):
        if store.get(request.id).finished_at is not None:
            return
        await asyncio.sleep(0)
    raise AssertionError("the request does not end")


def held(event: asyncio.Event) -> Callable[[], Coroutine[Any, Any, dict[str, Any]]]:
    async def work() -> dict[str, Any]:
        await event.wait()
        return {}

    return work


async def test_number_of_open_requests_is_bounded() -> None:
    store, event = RequestStore(max_running=1, max_pending=2), asyncio.Event()
    first, second = store.submit(held(event)), store.submit(held(event))
    with pytest.raises(QueueFull) as caught:
        store.submit(answer_at_once)
    assert caught.value.retry_after_s
    await asyncio.sleep(0)
    assert (first.status, second.status) == ("in_progress", "queued")
    event.set()
    await settle(store, second)
    await asyncio.sleep(0)
    store.submit(answer_at_once)
    await store.aclose()


async def test_answers_expire() -> None:
    now = 0.0
    store = RequestStore(max_running=1, keep_s=10, clock=lambda: now)
    request = store.submit(answer_at_once)
    await settle(store, request)
    now = 9.0
    assert store.get(request.id).result == {"ok": True}
    now = 11.0
    with pytest.raises(NotFound, match="kept for 10 s"):
        store.get(request.id)


async def test_oldest_answers_make_room() -> None:
    store = RequestStore(max_running=1, max_kept=2)
    requests = []
    for _ in range(4):
        requests.append(store.submit(answer_at_once))
        await settle(store, requests[-1])
    with pytest.raises(NotFound):
        store.get(requests[1].id)
    assert store.get(requests[2].id).status == "completed"
    assert store.get(requests[3].id).status == "completed"


async def test_unexpected_failure_ends_the_request_without_details() -> None:
    async def broken() -> dict[str, Any]:
        raise RuntimeError("secret")

    store = RequestStore(max_running=1)
    request = store.submit(broken)
    await settle(store, request)
    assert request.status == "failed"
    assert isinstance(request.error, EngineFailed)
    assert "secret" not in request.error.message


async def test_closing_cancels_what_runs() -> None:
    store, event = RequestStore(max_running=1), asyncio.Event()
    request = store.submit(held(event))
    await asyncio.sleep(0)
    await store.aclose()
    assert request.result is None
    assert request.finished_at is not None
