"""Sends the prompts of one request to the worker in batches, within one deadline. Knows no tasks."""

from __future__ import annotations

import asyncio
import time
from collections.abc import AsyncGenerator, AsyncIterator, Callable, Sequence
from dataclasses import dataclass
from typing import Protocol

from seqgpt_ui import errors
from seqgpt_ui.client import item_error
from seqgpt_ui.protocol import (
    Completion,
    GenerateItem,
    GenerateRequest,
    GenerateResponse,
    InfoResponse,
    ItemResult,
    StreamEvent,
    TokenizerResponse,
)
from seqgpt_ui.tasks.limits import MAX_DEADLINE_S
from seqgpt_ui.tasks.requests import Priority

ITEMS_PER_REQUEST = 64
REQUESTS_AT_ONCE = 4
PROMPT_PARAM = "segments"
# The worker keeps the deadline; this much later the caller gives up on the worker.
GRACE_S = 5.0
Clock = Callable[[], float]


class Client(Protocol):
    """What the pipeline needs of the worker (see ``client.WorkerClient``). Methods raise errors of ``errors``."""

    async def generate(self, request: GenerateRequest, *, request_id: str | None = None) -> GenerateResponse:
        """Complete prompts."""
        ...

    def stream(self, request: GenerateRequest, *, request_id: str | None = None) -> AsyncIterator[StreamEvent]:
        """Complete one prompt, text by text."""
        ...

    async def tokenizer(self) -> TokenizerResponse:
        """The tokenizer and answer syntax of the loaded checkpoint."""
        ...

    async def info(self) -> InfoResponse:
        """The worker's state."""
        ...


@dataclass(frozen=True, slots=True)
class Call:
    """One request's way through the worker: who waits, until when (by ``clock``), under which id."""

    expires_at: float
    priority: Priority = "interactive"
    request_id: str | None = None


class Dispatcher:
    """Batches items, bounds how many requests are under way, and turns item errors into product errors."""

    def __init__(self, client: Client, clock: Clock = time.monotonic) -> None:
        self._client = client
        self._clock = clock

    def open(self, deadline_s: float, priority: Priority, request_id: str | None) -> Call:
        """Start the time of a request. Raises ``InvalidRequest`` for a deadline that cannot be kept."""
        if not 0.0 < deadline_s <= MAX_DEADLINE_S:
            message = f"deadline_s is {deadline_s}; expected more than 0, at most {MAX_DEADLINE_S:.0f}"
            raise errors.InvalidRequest(message, param="deadline_s")
        return Call(self._clock() + deadline_s, priority, request_id)

    async def send(self, items: Sequence[GenerateItem], call: Call) -> list[Completion]:
        """Completions in the order of the items. Raises the first item's or request's error; the rest is given up."""
        gate = asyncio.Semaphore(REQUESTS_AT_ONCE)
        batches = [items[begin : begin + ITEMS_PER_REQUEST] for begin in range(0, len(items), ITEMS_PER_REQUEST)]
        try:
            async with asyncio.TaskGroup() as group:
                tasks = [group.create_task(self._send_batch(batch, call, gate)) for batch in batches]
        except BaseExceptionGroup as failed:
            raise _first(failed) from None
        return [completion for task in tasks for completion in task.result()]

    async def stream(self, item: GenerateItem, call: Call) -> AsyncGenerator[StreamEvent, None]:
        """Events of one streamed item. Raises ``DeadlineExceeded`` when the worker stays silent for too long."""
        remaining = self._remaining(call)
        request = GenerateRequest(items=[item], priority=call.priority, deadline_s=remaining, stream=True)
        events = self._client.stream(request, request_id=call.request_id)
        try:
            while True:
                try:
                    async with asyncio.timeout(max(0.0, call.expires_at - self._clock()) + GRACE_S):
                        event = await anext(events)
                except StopAsyncIteration:
                    return
                except TimeoutError as error:
                    raise _too_late() from error
                yield event
        finally:
            close = getattr(events, "aclose", None)
            if close is not None:
                await close()

    async def _send_batch(self, batch: Sequence[GenerateItem], call: Call, gate: asyncio.Semaphore) -> list[Completion]:
        async with gate:
            remaining = self._remaining(call)
            request = GenerateRequest(items=list(batch), priority=call.priority, deadline_s=remaining)
            try:
                async with asyncio.timeout(remaining + GRACE_S):
                    response = await self._client.generate(request, request_id=call.request_id)
            except TimeoutError as error:
                raise _too_late() from error
        if len(response.items) != len(batch):
            raise errors.WorkerError(f"the worker answered {len(response.items)} of {len(batch)} prompts")
        return list(map(completion_of, response.items))

    def _remaining(self, call: Call) -> float:
        remaining = call.expires_at - self._clock()
        if remaining <= 0.0:
            raise _too_late()
        return min(remaining, MAX_DEADLINE_S)


def completion_of(result: ItemResult) -> Completion:
    """The completion of an item. Raises its error, ``Cancelled`` or ``WorkerError``."""
    if result.error is not None:
        error = item_error(result.error)
        if error.param == PROMPT_PARAM:  # callers of the pipeline know no segments
            error.param = "text"
        raise error
    if result.completion is None:
        raise errors.WorkerError("the worker answered neither a completion nor an error")
    if result.completion.finish_reason == "cancelled":
        raise errors.Cancelled("the worker stopped before the answer was complete")
    return result.completion


def _first(group: BaseExceptionGroup[BaseException]) -> BaseException:
    """The first plain exception of a group."""
    inner = group.exceptions[0]
    return _first(inner) if isinstance(inner, BaseExceptionGroup) else inner


def _too_late() -> errors.DeadlineExceeded:
    return errors.DeadlineExceeded("the request ran out of its time")
