"""What both HTTP servers do to every request: give it an id, and stop bodies that are too large. Plain ASGI."""

from __future__ import annotations

import re
import uuid

from starlette.exceptions import HTTPException
from starlette.types import Message, Receive

REQUEST_ID_HEADER = "X-Request-ID"
_GOOD_ID = re.compile(r"[A-Za-z0-9._:-]{1,64}")


def new_request_id(offered: str | None) -> str:
    """The caller's own id where it is harmless in logs and headers, else a fresh one."""
    return offered if offered and _GOOD_ID.fullmatch(offered) else uuid.uuid4().hex


def limited(receive: Receive, max_body_bytes: int, refusal: str) -> Receive:
    """``receive``, raising HTTP 413 with ``refusal`` once too much has arrived: a chunked body declares no length."""
    num_bytes = 0

    async def receive_limited() -> Message:
        nonlocal num_bytes
        message = await receive()
        num_bytes += len(message.get("body", b""))
        if num_bytes > max_body_bytes:
            raise HTTPException(413, refusal)
        return message

    return receive_limited
