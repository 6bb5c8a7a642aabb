"""Wraps every request: gives it an id and refuses bodies that are too large. Plain ASGI, so streams stay streams."""

from __future__ import annotations

from starlette.datastructures import Headers, MutableHeaders
from starlette.responses import JSONResponse
from starlette.types import ASGIApp, Message, Receive, Scope, Send

from seqgpt_ui.api.errors import error_body
from seqgpt_ui.asgi import REQUEST_ID_HEADER, limited, new_request_id
from seqgpt_ui.logs import request_id_var


class RequestEnvelope:
    """Sets ``request.state.request_id``, answers it in ``X-Request-ID`` and limits the size of bodies."""

    def __init__(self, app: ASGIApp, max_body_bytes: int) -> None:
        self._app = app
        self._max_body_bytes = max_body_bytes

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        if scope["type"] != "http":
            await self._app(scope, receive, send)
            return
        headers = Headers(scope=scope)
        request_id = new_request_id(headers.get(REQUEST_ID_HEADER))
        scope.setdefault("state", {})["request_id"] = request_id
        request_id_var.set(request_id)

        async def send_with_id(message: Message) -> None:
            if message["type"] == "http.response.start":
                MutableHeaders(scope=message)[REQUEST_ID_HEADER] = request_id
            await send(message)

        declared = headers.get("content-length", "")
        if declared.isdecimal() and int(declared) > self._max_body_bytes:
            body = error_body("body_too_large", self._refusal(), param=None, request_id=request_id)
            await JSONResponse(body, status_code=413)(scope, receive, send_with_id)
            return
        await self._app(scope, limited(receive, self._max_body_bytes, self._refusal()), send_with_id)

    def _refusal(self) -> str:
        limit = self._max_body_bytes
        return f"the body is larger than {limit} bytes; send fewer texts at once or raise SEQGPT_MAX_BODY_BYTES"
