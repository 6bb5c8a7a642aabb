"""The REST endpoints. Thin: read the body, ask the service, answer JSON; errors become the envelope elsewhere."""

from __future__ import annotations

from collections.abc import AsyncIterator, Callable, Coroutine
from typing import Annotated, Any

import orjson
from fastapi import APIRouter, Depends, Request
from fastapi.routing import APIRoute
from starlette.responses import JSONResponse, Response, StreamingResponse

from seqgpt_ui.api.answers import (
    AcceptedResponse,
    ClassifyResponse,
    ErrorResponse,
    ExtractResponse,
    HealthResponse,
    PromptResponse,
    RequestResponse,
    StatusResponse,
    TemplatesResponse,
)
from seqgpt_ui.api.disconnect import iterate_while_connected, while_connected
from seqgpt_ui.api.errors import RESPONSES, product_error_body, request_id_of
from seqgpt_ui.api.schemas import ClassifyBody, ExtractBody, PromptBody
from seqgpt_ui.api.serialize import Json, status_json
from seqgpt_ui.api.service import Service
from seqgpt_ui.api.store import RequestStore, StoredRequest
from seqgpt_ui.errors import SeqGPTError

NOT_READY_RETRY_S = 2


class StrictJsonRequest(Request):
    """Reads JSON by the letter: no NaN, no lone surrogates, no endless nesting, no number that is infinite."""

    async def json(self) -> Any:
        """The parsed body. Raises ``json.JSONDecodeError``."""
        return orjson.loads(await self.body())


class StrictJsonRoute(APIRoute):
    """A route whose body is read by ``StrictJsonRequest``."""

    def get_route_handler(self) -> Callable[[Request], Coroutine[Any, Any, Response]]:
        """The handler, behind the strict request."""
        handler = super().get_route_handler()

        async def strict(request: Request) -> Response:
            return await handler(StrictJsonRequest(request.scope, request.receive))

        return strict


def _service(request: Request) -> Service:
    service: Service = request.app.state.service
    return service


def _store(request: Request) -> RequestStore:
    store: RequestStore = request.app.state.store
    return store


ServiceDep = Annotated[Service, Depends(_service)]
StoreDep = Annotated[RequestStore, Depends(_store)]
router = APIRouter(route_class=StrictJsonRoute, responses=RESPONSES, tags=["seqgpt"])
probes = APIRouter(tags=["probes"], responses={"default": {"model": ErrorResponse}})


@router.post("/api/classify", responses={200: {"model": ClassifyResponse}})
async def classify(body: ClassifyBody, request: Request, service: ServiceDep) -> Response:
    """Choose the labels that fit each text."""
    work = service.classify(body.to_request(service.settings.deadline_s), request_id_of(request))
    return JSONResponse(await while_connected(request, work))


@router.post("/api/classify_async", status_code=202, responses={202: {"model": AcceptedResponse}})
async def classify_async(body: ClassifyBody, request: Request, service: ServiceDep, store: StoreDep) -> Response:
    """Take texts in and answer an id at once; `GET /api/requests/{id}` has the result."""
    asked, request_id = body.to_request(service.settings.deadline_s), request_id_of(request)
    stored = store.submit(lambda: service.classify(asked, request_id))
    headers = {"Location": f"/api/requests/{stored.id}"}
    return JSONResponse({"id": stored.id, "status": stored.status}, status_code=202, headers=headers)


@router.get(
    "/api/requests/{request_id}",
    responses={200: {"model": RequestResponse}, 404: {"model": ErrorResponse, "description": "no such request"}},
)
async def stored_request(request_id: str, request: Request, store: StoreDep) -> Response:
    """State of a request that runs by itself, with its result or error once it has ended."""
    return JSONResponse(_stored_json(store.get(request_id), request_id_of(request)))


@router.post("/api/extract", responses={200: {"model": ExtractResponse}})
async def extract(body: ExtractBody, request: Request, service: ServiceDep) -> Response:
    """Find the pieces of each text that the fields name."""
    work = service.extract(body.to_request(service.settings.deadline_s), request_id_of(request))
    return JSONResponse(await while_connected(request, work))


@router.post(
    "/api/prompt",
    responses={200: {"model": PromptResponse, "content": {"text/event-stream": {}}}},
)
async def prompt(body: PromptBody, request: Request, service: ServiceDep) -> Response:
    """Answer a free prompt; `stream`: server-sent events `data: {"delta": ...}`, at the end `{"result": ...}`."""
    asked, request_id = body.to_request(service.settings.deadline_s), request_id_of(request)
    if not body.stream:
        return JSONResponse(await while_connected(request, service.prompt(asked, request_id)))
    events = iterate_while_connected(request, service.stream_prompt(asked, request_id))
    # The first event is awaited here so that a refused request is an HTTP error, not a broken stream.
    first = await anext(events, None)
    headers = {"Cache-Control": "no-cache", "X-Accel-Buffering": "no"}
    return StreamingResponse(_sse(first, events, request_id), media_type="text/event-stream", headers=headers)


@router.get("/api/templates", responses={200: {"model": TemplatesResponse}})
async def templates(service: ServiceDep) -> Response:
    """The template library."""
    return JSONResponse(service.template_list())


@router.get("/api/status", responses={200: {"model": StatusResponse}})
async def status(service: ServiceDep) -> Response:
    """Which model answers, its queue, rate and memory, or why it does not answer yet."""
    return JSONResponse(status_json(await service.info()))


@probes.get("/healthz", responses={200: {"model": HealthResponse}})
async def healthz() -> Response:
    """The web process lives."""
    return JSONResponse({"status": "ok"})


@probes.get("/readyz", responses={200: {"model": HealthResponse}, 503: {"model": HealthResponse}})
async def readyz(service: ServiceDep) -> Response:
    """The model is loaded and answers."""
    info = await service.info()
    if info.state == "ready":
        return JSONResponse({"status": "ok"})
    headers = {"Retry-After": str(NOT_READY_RETRY_S)}
    return JSONResponse({"status": info.state, "cause": info.cause}, status_code=503, headers=headers)


def _stored_json(stored: StoredRequest, request_id: str | None) -> Json:
    answer: Json = {"id": stored.id, "status": stored.status}
    if stored.result is not None:
        answer["result"] = stored.result
    if stored.error is not None:
        answer.update(product_error_body(stored.error, request_id))
    return answer


async def _sse(first: Json | None, events: AsyncIterator[Json], request_id: str | None) -> AsyncIterator[bytes]:
    try:
        if first is not None:
            yield _event(first)
        async for event in events:
            yield _event(event)
    except SeqGPTError as error:
        yield _event(product_error_body(error, request_id))


def _event(value: Json) -> bytes:
    return b"data: " + orjson.dumps(value) + b"\n\n"
