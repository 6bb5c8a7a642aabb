"""One admitted request as the event loop sees it: a future per item, each settled exactly once."""

from __future__ import annotations

import asyncio
from collections.abc import Callable
from contextlib import suppress
from typing import TypeVar

from seqgpt_ui.errors import Cancelled, DeadlineExceeded, SeqGPTError
from seqgpt_ui.protocol import GenerateRequest
from seqgpt_ui.worker.engine.queue import Batch, Outcome, Work

T = TypeVar("T")


class Call:
    """The futures of one request. Whoever holds it awaits ``results`` or calls ``leave``."""

    def __init__(
        self,
        request: GenerateRequest,
        *,
        now_s: float,
        withdraw: Callable[[Batch], None],
        on_text: Callable[[str], None] | None = None,
    ) -> None:
        loop = asyncio.get_running_loop()
        hear = None if on_text is None else on_loop(loop, on_text)
        self._timeout_s = request.deadline_s
        self._withdraw = withdraw
        self._answers = [loop.create_future() for _ in request.items]
        self._works = [
            Work(item, now_s, now_s + request.deadline_s, on_loop(loop, settler(answer)), hear)
            for item, answer in zip(request.items, self._answers, strict=True)
        ]
        self.batch = Batch(self._works, request.priority)

    async def results(self) -> list[Outcome]:
        """Every item's outcome, in order, at the latest when the deadline has passed.

        Cancelling this gives the places back and stops what runs.
        """
        try:
            _, pending = await asyncio.wait(self._answers, timeout=self._timeout_s)
            if pending:
                self._give_up(DeadlineExceeded("the request did not finish in its time"))
            return [answer.result() for answer in self._answers]
        finally:
            self.leave()

    def leave(self) -> None:
        """Nobody waits any more. Does nothing to finished items."""
        self._give_up(Cancelled("the caller left"))

    def _give_up(self, reason: SeqGPTError) -> None:
        for work in self._works:
            work.abandoned = True
        self._withdraw(self.batch)
        for answer in self._answers:
            settler(answer)(reason)


def settler(answer: asyncio.Future[Outcome]) -> Callable[[Outcome], None]:
    """A function that settles ``answer`` unless that was done before."""

    def settle(outcome: Outcome) -> None:
        if not answer.done():
            answer.set_result(outcome)

    return settle


def on_loop(loop: asyncio.AbstractEventLoop, function: Callable[[T], None]) -> Callable[[T], None]:
    """``function``, to be called from any thread; it runs on ``loop`` in the order of the calls."""

    def call(value: T) -> None:
        # A closed loop has nobody left who waits.
        with suppress(RuntimeError):
            loop.call_soon_threadsafe(function, value)

    return call
