"""Puts the worker's HTTP application together: routes, one error envelope, request ids, body limit."""

from __future__ import annotations

import logging
import math
import time
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager

from fastapi import FastAPI, Request
from fastapi.exceptions import RequestValidationError
from fastapi.responses import JSONResponse
from starlette.datastructures import Headers, MutableHeaders
from starlette.exceptions import HTTPException
from starlette.responses import Response
from starlette.types import ASGIApp, Message, Receive, Scope, Send

from seqgpt_ui import __version__
from seqgpt_ui.asgi import REQUEST_ID_HEADER, limited, new_request_id
from seqgpt_ui.errors import InvalidRequest, SeqGPTError
from seqgpt_ui.logs import request_id_var
from seqgpt_ui.protocol import ErrorBody, ErrorEnvelope
from seqgpt_ui.worker.engine.bridge import AsyncEngine
from seqgpt_ui.worker.metrics import WorkerMetrics
from seqgpt_ui.worker.routes import create_router

logger = logging.getLogger(__name__)
_CODES = {404: "not_found", 405: "method_not_allowed", 413: "body_too_large"}
# The log's word for a caller who left before the answer.
NOT_ANSWERED = 499


def create_app(
    engine: AsyncEngine, metrics: WorkerMetrics, *, max_body_bytes: int = 8_000_000, drain_s: float = 20.0
) -> FastAPI:
    """The application around ``engine``, which it starts and stops."""

    @asynccontextmanager
    async def lifespan(_: FastAPI) -> AsyncIterator[None]:
        engine.start()
        yield
        await engine.stop(drain_s)

    app = FastAPI(title="SeqGPT worker", version=__version__, lifespan=lifespan, docs_url=None, redoc_url=None)
    app.include_router(create_router(engine, metrics))
    app.add_exception_handler(SeqGPTError, _product_error)
    app.add_exception_handler(RequestValidationError, _validation_error)
    app.add_exception_handler(HTTPException, _http_error)
    app.add_middleware(RequestContext, metrics=metrics, max_body_bytes=max_body_bytes)
    return app


class RequestContext:
    """Gives every request its id (the caller's, if it is a sane one) and its body limit; logs and counts the answer."""

    def __init__(self, app: ASGIApp, metrics: WorkerMetrics, max_body_bytes: int) -> None:
        self._app = app
        self._metrics = metrics
        self._max_body_bytes = max_body_bytes
        self._refusal = f"the body is over {max_body_bytes} bytes; send fewer items at once"

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        if scope["type"] != "http":
            await self._app(scope, receive, send)
            return
        request_id = new_request_id(Headers(scope=scope).get(REQUEST_ID_HEADER))
        token = request_id_var.set(request_id)
        began_s, status = time.monotonic(), NOT_ANSWERED

        async def send_with_id(message: Message) -> None:
            nonlocal status
            if message["type"] == "http.response.start":
                status = message["status"]
                MutableHeaders(scope=message)[REQUEST_ID_HEADER] = request_id
            await send(message)

        try:
            await self._app(scope, limited(receive, self._max_body_bytes, self._refusal), send_with_id)
        except Exception as error:  # the last place that can still answer in the one envelope
            logger.error("a request failed for an unknown reason", exc_info=error)
            if status == NOT_ANSWERED:
                await _unknown_error(error)(scope, receive, send_with_id)
        finally:
            self._done(scope, status, time.monotonic() - began_s)
            request_id_var.reset(token)

    def _done(self, scope: Scope, status: int, elapsed_s: float) -> None:
        route = scope.get("route")
        path = getattr(route, "path", "other")
        self._metrics.request_done(path, status)
        level = logging.DEBUG if path in ("/livez", "/readyz", "/metrics", "/v1/info") else logging.INFO
        fields = {"method": scope["method"], "path": path, "status": status, "elapsed_ms": round(elapsed_s * 1000, 1)}
        logger.log(level, "request", extra={"fields": fields})


def error_response(error: SeqGPTError) -> JSONResponse:
    """The one JSON envelope, with Retry-After where a retry may help."""
    headers = {}
    if error.retry_after_s is not None:
        headers["Retry-After"] = str(max(1, math.ceil(error.retry_after_s)))
    return _envelope(error.http_status, error.code, error.message, error.param, headers)


def _envelope(
    status: int, code: str, message: str, param: str | None = None, headers: dict[str, str] | None = None
) -> JSONResponse:
    body = ErrorBody(code=code, message=message, param=param, request_id=request_id_var.get())
    return JSONResponse(ErrorEnvelope(error=body).model_dump(), status, headers)


async def _product_error(_: Request, error: Exception) -> Response:
    assert isinstance(error, SeqGPTError)
    return error_response(error)


async def _validation_error(_: Request, error: Exception) -> Response:
    """The first thing that is wrong; the value itself is not repeated, it may be somebody's text."""
    assert isinstance(error, RequestValidationError)
    first = error.errors()[0]
    location = () if first["type"] == "json_invalid" else first["loc"]
    param = ".".join(str(part) for part in location if part != "body") or None
    return error_response(InvalidRequest(f"{param or 'body'}: {first['msg']}", param=param))


async def _http_error(_: Request, error: Exception) -> Response:
    assert isinstance(error, HTTPException)
    code = _CODES.get(error.status_code, "http_error")
    return _envelope(error.status_code, code, error.detail, headers=dict(error.headers or {}))


def _unknown_error(error: Exception) -> Response:
    name = type(error).__name__
    return _envelope(500, SeqGPTError.code, f"internal error ({name}); the worker's log has the stack")
