"""Wraps every request: gives it an id and refuses bodies that are too large. Plain ASGI, so streams stay streams."""

from __future__ import annotations

import re
import uuid

from starlette.datastructures import Headers, MutableHeaders
from starlette.exceptions import HTTPException
from starlette.responses import JSONResponse
from starlette.types import ASGIApp, Message, Receive, Scope, Send

from seqgpt_ui.api.errors import error_body
from seqgpt_ui.logs import request_id_var

REQUEST_ID_HEADER = "X-Request-ID"
_GOOD_ID = re.compile(r"[A-Za-z0-9._:-]{1,64}")


def new_request_id(offered: str | None) -> str:
    """The caller's own id where it is harmless in logs and headers, else a fresh one."""
    return offered if offered and _GOOD_ID.fullmatch(offered) else uuid.uuid4().hex


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
        await self._app(scope, self._limited(receive), send_with_id)

    def _limited(self, receive: Receive) -> Receive:
        """Count what really arrives: a chunked body declares no length."""
        seen = 0

        async def limited() -> Message:
            nonlocal seen
            message = await receive()
            seen += len(message.get("body", b""))
            if seen > self._max_body_bytes:
                raise HTTPException(413, self._refusal())
            return message

        return limited

    def _refusal(self) -> str:
        limit = self._max_body_bytes
        return f"the body is larger than {limit} bytes; send fewer texts at once or raise SEQGPT_MAX_BODY_BYTES"
