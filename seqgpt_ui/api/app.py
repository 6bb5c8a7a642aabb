"""Builds the FastAPI app of the public interface. Pages are mounted behind it by ``app.py`` of the product."""

from __future__ import annotations

from collections.abc import AsyncIterator, Awaitable, Callable
from contextlib import asynccontextmanager

from fastapi import APIRouter, FastAPI, Request
from starlette.exceptions import HTTPException
from starlette.responses import Response
from starlette.routing import Match

from seqgpt_ui import __version__
from seqgpt_ui.api.errors import install_error_handlers
from seqgpt_ui.api.middleware import RequestEnvelope
from seqgpt_ui.api.routes import probes, router
from seqgpt_ui.api.service import Service
from seqgpt_ui.api.store import RequestStore

ANY_METHOD = ["GET", "POST", "PUT", "PATCH", "DELETE", "HEAD", "OPTIONS"]
DESCRIPTION = "Classification and extraction by labels, in Chinese and English."


def create_app(
    service: Service, store: RequestStore | None = None, on_close: Callable[[], Awaitable[None]] | None = None
) -> FastAPI:
    """The REST app; ``on_close`` is awaited when it stops. Interactive docs load scripts from elsewhere and are off."""
    kept = store or RequestStore(max_running=service.settings.max_concurrency)

    @asynccontextmanager
    async def lifespan(_: FastAPI) -> AsyncIterator[None]:
        yield
        await kept.aclose()
        if on_close is not None:
            await on_close()

    app = FastAPI(
        title="seqgpt_ui",
        version=__version__,
        description=DESCRIPTION,
        openapi_url="/api/openapi.json",
        docs_url=None,
        redoc_url=None,
        redirect_slashes=False,
        lifespan=lifespan,
    )
    app.state.service, app.state.store = service, kept
    app.add_middleware(RequestEnvelope, max_body_bytes=service.settings.max_body_bytes)
    install_error_handlers(app)
    app.include_router(router)
    app.include_router(probes)
    app.include_router(_unknown_paths(app))
    return app


def _unknown_paths(app: FastAPI) -> APIRouter:
    """Answers what no route of ours takes; without it such requests would reach the pages mounted behind."""
    known = [route for part in (router, probes) for route in part.routes]
    unknown = APIRouter()

    @unknown.api_route("/api/{path:path}", methods=ANY_METHOD, include_in_schema=False)
    async def refuse(path: str, request: Request) -> Response:
        allowed: set[str] = set()
        for route in known:
            if route.matches(request.scope)[0] is not Match.NONE:
                allowed |= getattr(route, "methods", None) or set()
        if allowed:
            headers = {"Allow": ", ".join(sorted(allowed))}
            raise HTTPException(405, f"{request.method} is not allowed here; use {headers['Allow']}", headers)
        raise HTTPException(404, f"no endpoint /api/{path[:100]}; see /api/openapi.json")

    return unknown
