"""Requests that run by themselves and are asked for later. In memory, bounded in number and age; lost on restart."""

from __future__ import annotations

import asyncio
import logging
import time
import uuid
from collections import OrderedDict
from collections.abc import Callable, Coroutine
from dataclasses import dataclass
from typing import Any, Literal

from seqgpt_ui.errors import EngineFailed, NotFound, QueueFull, SeqGPTError

Status = Literal["queued", "in_progress", "completed", "failed"]
MAX_PENDING = 256
MAX_KEPT = 1024
KEEP_S = 3600.0
RETRY_AFTER_S = 2.0
_logger = logging.getLogger(__name__)


@dataclass(slots=True)
class StoredRequest:
    """One request and what became of it."""

    id: str
    status: Status = "queued"
    result: dict[str, Any] | None = None
    error: SeqGPTError | None = None
    finished_at: float | None = None


class RequestStore:
    """Runs work in the background, a few at a time, and keeps the answers for an hour after they are there."""

    def __init__(self, *, max_running: int, max_pending: int = MAX_PENDING, max_kept: int = MAX_KEPT,
                 keep_s: float = KEEP_S, clock: Callable[[], float] = time.monotonic) -> None:  # fmt: skip
        self._slots = asyncio.Semaphore(max_running)
        self._max_pending, self._max_kept, self._keep_s, self._clock = max_pending, max_kept, keep_s, clock
        self._requests: OrderedDict[str, StoredRequest] = OrderedDict()
        self._tasks: dict[str, asyncio.Task[None]] = {}

    def submit(self, work: Callable[[], Coroutine[Any, Any, dict[str, Any]]]) -> StoredRequest:
        """Take work in. Raises ``QueueFull`` when too many requests are still open."""
        if len(self._tasks) >= self._max_pending:
            raise QueueFull(
                f"{self._max_pending} requests are still open; try again later", retry_after_s=RETRY_AFTER_S
            )
        self._forget_old(room_for=1)
        request = StoredRequest(uuid.uuid4().hex)
        self._requests[request.id] = request
        task = asyncio.get_running_loop().create_task(self._run(request, work))
        self._tasks[request.id] = task
        task.add_done_callback(lambda _: self._tasks.pop(request.id, None))
        return request

    def get(self, request_id: str) -> StoredRequest:
        """The request of that id. Raises ``NotFound`` when it is unknown or its time is over."""
        self._forget_old()
        request = self._requests.get(request_id)
        if request is None:
            raise NotFound(f"no request {request_id[:64]!r}; answers are kept for {self._keep_s:.0f} s", param="id")
        return request

    async def aclose(self) -> None:
        """Cancel what still runs."""
        tasks = list(self._tasks.values())
        for task in tasks:
            task.cancel()
        await asyncio.gather(*tasks, return_exceptions=True)

    async def _run(self, request: StoredRequest, work: Callable[[], Coroutine[Any, Any, dict[str, Any]]]) -> None:
        async with self._slots:
            request.status = "in_progress"
            try:
                request.result = await work()
                request.status = "completed"
            except SeqGPTError as error:
                request.error, request.status = error, "failed"
            except Exception:
                _logger.exception("request failed")
                request.error, request.status = EngineFailed("the request failed; the log has the details"), "failed"
            finally:
                request.finished_at = self._clock()

    def _forget_old(self, room_for: int = 0) -> None:
        """Drop answers past their time, then the oldest finished ones beyond the limit."""
        limit = self._clock() - self._keep_s
        finished = [item for item in self._requests.values() if item.finished_at is not None]
        surplus = len(self._requests) + room_for - self._max_kept
        for index, item in enumerate(finished):
            if index < surplus or (item.finished_at is not None and item.finished_at < limit):
                del self._requests[item.id]
