"""The worker's HTTP routes: prompts in, completions out; tokenizer, state, health, metrics."""

from __future__ import annotations

import asyncio
import hashlib
import time
from collections.abc import AsyncIterator

import psutil
from fastapi import APIRouter, Request
from starlette.responses import Response, StreamingResponse

from seqgpt_ui import __version__
from seqgpt_ui.errors import Cancelled, InvalidRequest, WorkerUnavailable
from seqgpt_ui.protocol import (
    Completion,
    ErrorEnvelope,
    GenerateRequest,
    GenerateResponse,
    InfoResponse,
    ItemError,
    ItemResult,
    StreamEvent,
    TokenizerResponse,
)
from seqgpt_ui.worker.engine.bridge import AsyncEngine
from seqgpt_ui.worker.engine.call import Call
from seqgpt_ui.worker.engine.queue import Outcome
from seqgpt_ui.worker.metrics import WorkerMetrics

NDJSON = "application/x-ndjson"
_ERRORS: dict[int | str, dict[str, object]] = {
    status: {"model": ErrorEnvelope} for status in (400, 413, 422, 429, 500, 503)
}


def create_router(engine: AsyncEngine, metrics: WorkerMetrics) -> APIRouter:
    """All routes over ``engine``."""
    router = APIRouter()
    began_s = time.monotonic()
    tokenizer = TokenizerFile(engine)

    @router.post("/v1/generate", response_model=GenerateResponse, responses=_ERRORS)
    async def generate(body: GenerateRequest, request: Request) -> Response:
        """Complete every item; with ``stream`` one JSON object per line, the last one carries the result."""
        if body.stream:
            return _stream(engine, body)
        outcomes = await _results(engine.submit(body), request)
        response = GenerateResponse(items=[item_result(outcome) for outcome in outcomes])
        return Response(response.model_dump_json(), media_type="application/json")

    @router.get("/v1/tokenizer", response_model=TokenizerResponse, responses=_ERRORS)
    async def get_tokenizer(request: Request) -> Response:
        """What counting tokens takes; 304 when the caller has it."""
        body, etag = tokenizer.read()
        headers = {"ETag": etag}
        if request.headers.get("if-none-match") == etag:
            return Response(status_code=304, headers=headers)
        return Response(body, media_type="application/json", headers=headers)

    @router.get("/v1/info")
    async def info() -> InfoResponse:
        """State, model and load of this worker; answers from the first moment."""
        return describe(engine, time.monotonic() - began_s)

    @router.get("/livez")
    async def livez() -> dict[str, str]:
        """The process answers."""
        return {"status": "alive"}

    @router.get("/readyz", responses=_ERRORS)
    async def readyz() -> dict[str, str]:
        """The process takes prompts."""
        if engine.state != "ready":
            raise WorkerUnavailable(engine.why_not_ready(), retry_after_s=2)
        return {"status": "ready"}

    @router.get("/metrics")
    async def get_metrics() -> Response:
        """For Prometheus."""
        return Response(metrics.text(), media_type=metrics.content_type)

    return router


class TokenizerFile:
    """The tokenizer as bytes and its ETag, made once per loaded model (it may be 15 MB)."""

    def __init__(self, engine: AsyncEngine) -> None:
        self._engine = engine
        self._made: tuple[bytes, str] | None = None

    def read(self) -> tuple[bytes, str]:
        """Raises ``WorkerUnavailable`` while no model is loaded."""
        if self._engine.loaded is None:
            raise WorkerUnavailable(self._engine.why_not_ready(), retry_after_s=2)
        if self._made is None:
            body = self._engine.loaded.core.tokenizer().model_dump_json().encode()
            self._made = (body, f'"{hashlib.sha256(body).hexdigest()[:32]}"')
        return self._made


def item_result(outcome: Outcome) -> ItemResult:
    """An outcome as the wire carries it."""
    if isinstance(outcome, Completion):
        return ItemResult(completion=outcome)
    return ItemResult(
        error=ItemError(
            code=outcome.code,
            message=outcome.message,
            param=outcome.param,
            http_status=outcome.http_status,
            retryable=outcome.retryable,
            retry_after_s=outcome.retry_after_s,
        )
    )


def describe(engine: AsyncEngine, uptime_s: float) -> InfoResponse:
    """The engine's state as the wire carries it."""
    queue, loaded = engine.queue, engine.loaded
    return InfoResponse(
        state=engine.state,
        cause=engine.cause,
        model=loaded.core.model if loaded else None,
        choice_reason=loaded.choice_reason if loaded else "",
        num_waiting=queue.num_waiting,
        num_running=queue.num_requests - queue.num_waiting,
        max_queue=queue.max_queue,
        max_concurrency=queue.max_concurrency,
        uptime_s=uptime_s,
        num_finished=engine.throughput.num_finished,
        tokens_per_s=engine.tokens_per_s(),
        rss_bytes=psutil.Process().memory_info().rss,
        device_memory_bytes=loaded.core.memory_bytes() if loaded else None,
        version=__version__,
    )


async def _results(call: Call, request: Request) -> list[Outcome]:
    """The outcomes, unless the caller leaves first. Raises ``Cancelled`` then."""
    waiting = asyncio.ensure_future(call.results())
    leaving = asyncio.ensure_future(_disconnect(request))
    try:
        await asyncio.wait((waiting, leaving), return_when=asyncio.FIRST_COMPLETED)
        if waiting.done():
            return waiting.result()
        raise Cancelled("the caller left")
    finally:
        call.leave()
        leaving.cancel()
        waiting.cancel()


async def _disconnect(request: Request) -> None:
    """Return when the caller has closed the connection."""
    while (await request.receive())["type"] != "http.disconnect":
        pass


def _stream(engine: AsyncEngine, body: GenerateRequest) -> Response:
    """Admit before the answer begins, so that a refusal still is a plain error with its status."""
    if len(body.items) != 1:
        raise InvalidRequest("a streamed request has exactly one item", param="items")
    texts: asyncio.Queue[str] = asyncio.Queue()
    call = engine.submit(body, on_text=texts.put_nowait)
    return StreamingResponse(_events(call, texts), media_type=NDJSON)


async def _events(call: Call, texts: asyncio.Queue[str]) -> AsyncIterator[bytes]:
    """One line per piece of text, then the result. Leaving early (the caller went) gives the place back."""
    waiting = asyncio.ensure_future(call.results())
    try:
        while not waiting.done():
            next_text = asyncio.ensure_future(texts.get())
            await asyncio.wait((waiting, next_text), return_when=asyncio.FIRST_COMPLETED)
            if next_text.done() and next_text.result():
                yield _line(StreamEvent(delta=next_text.result()))
            next_text.cancel()
        while not texts.empty():
            if text := texts.get_nowait():
                yield _line(StreamEvent(delta=text))
        yield _line(StreamEvent(result=item_result(waiting.result()[0])))
    finally:
        call.leave()
        waiting.cancel()


def _line(event: StreamEvent) -> bytes:
    return event.model_dump_json(exclude_defaults=True).encode() + b"\n"
