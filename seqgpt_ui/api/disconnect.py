"""Stops work whose caller has left, so that the model is free for those who still wait."""

from __future__ import annotations

import asyncio
from collections.abc import AsyncIterator, Coroutine
from typing import Any, TypeVar

from starlette.requests import Request

from seqgpt_ui.errors import Cancelled

T = TypeVar("T")


class _End:
    """What an exhausted source answers."""


_END = _End()


async def while_connected(request: Request, work: Coroutine[Any, Any, T]) -> T:
    """Await ``work``; cancel it when the caller goes away. Raises ``Cancelled`` then. The body must have been read."""
    task = asyncio.ensure_future(work)
    gone = asyncio.ensure_future(_gone(request))
    try:
        await asyncio.wait({task, gone}, return_when=asyncio.FIRST_COMPLETED)
        if task.done():
            return task.result()
        raise Cancelled("the caller left before the answer was ready")
    finally:
        await _end(task, gone)


async def iterate_while_connected(request: Request, source: AsyncIterator[T]) -> AsyncIterator[T]:
    """Yield from ``source`` until it ends or the caller goes away; ``source`` is closed in both cases."""
    gone = asyncio.ensure_future(_gone(request))
    step: asyncio.Future[T | _End] | None = None
    try:
        while True:
            step = asyncio.ensure_future(_next(source))
            await asyncio.wait({step, gone}, return_when=asyncio.FIRST_COMPLETED)
            item = step.result() if step.done() else _END
            if isinstance(item, _End):
                return
            yield item
    finally:
        await _end(*[future for future in (step, gone) if future is not None])
        close = getattr(source, "aclose", None)
        if close is not None:
            await close()


async def _next(source: AsyncIterator[T]) -> T | _End:
    return await anext(source, _END)


async def _gone(request: Request) -> None:
    while (await request.receive())["type"] != "http.disconnect":
        pass


async def _end(*futures: asyncio.Future[Any]) -> None:
    for future in futures:
        future.cancel()
    await asyncio.gather(*futures, return_exceptions=True)
