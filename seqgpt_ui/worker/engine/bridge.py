"""Lets asyncio use the synchronous core: one thread owns it, works go in through a queue, answers come by callback.

Every admitted item is answered exactly once: done, failed, out of time, left by its caller, or stopped.
"""

from __future__ import annotations

import asyncio
import logging
import threading
import time
from collections.abc import Callable, Iterable
from dataclasses import dataclass
from typing import Literal

from seqgpt_ui.errors import (
    Cancelled,
    DeadlineExceeded,
    EngineFailed,
    QueueFull,
    SeqGPTError,
    WorkerUnavailable,
)
from seqgpt_ui.protocol import Completion, GenerateRequest
from seqgpt_ui.worker.engine.call import Call
from seqgpt_ui.worker.engine.contract import Core, Loaded, Observer, State
from seqgpt_ui.worker.engine.queue import Batch, Outcome, RequestQueue, Work
from seqgpt_ui.worker.engine.throughput import Throughput

logger = logging.getLogger(__name__)
# One failure may be the item's own (memory); two in a row mean that the device is gone.
FAILURES_UNTIL_BROKEN = 2
# A step ends well within this once it was told to stop.
STEP_S = 5.0


@dataclass(slots=True)
class _Control:
    """Tells the core when to stop one item."""

    work: Work
    clock: Callable[[], float]
    must_stop: threading.Event

    def stopped(self) -> Literal["cancelled", "deadline"] | None:
        if self.work.abandoned or self.must_stop.is_set():
            return "cancelled"
        return "deadline" if self.clock() >= self.work.deadline_s else None

    def reason(self) -> SeqGPTError:
        """The error of an item that was stopped."""
        if self.must_stop.is_set():
            return WorkerUnavailable("the worker stopped before it was done", retry_after_s=2)
        if self.stopped() == "deadline":
            return DeadlineExceeded("the request did not finish in its time")
        return Cancelled("the caller left")


class AsyncEngine:
    """Owns the core's thread. Methods belong to the event loop; properties may be read anywhere."""

    def __init__(
        self,
        load: Callable[[], Loaded],
        *,
        max_concurrency: int = 2,
        max_queue: int = 64,
        observer: Observer | None = None,
        on_broken: Callable[[], None] | None = None,
        clock: Callable[[], float] = time.monotonic,
    ) -> None:
        """``load`` runs on the engine's thread; ``on_broken`` is called there when a loaded engine cannot go on."""
        self.queue = RequestQueue(max_concurrency=max_concurrency, max_queue=max_queue)
        self.throughput = Throughput(clock)
        self.state: State = "loading"
        self.cause: str | None = None
        self.loaded: Loaded | None = None
        self._load = load
        self._observer = observer
        self._on_broken = on_broken
        self._clock = clock
        self._changed = threading.Condition()
        self._must_stop = threading.Event()
        self._failures_in_row = 0
        self._thread = threading.Thread(target=self._serve, name="engine", daemon=True)

    def start(self) -> None:
        """Begin to load, then to serve."""
        self._thread.start()

    def submit(self, request: GenerateRequest, on_text: Callable[[str], None] | None = None) -> Call:
        """Admit a request as a whole; ``on_text`` hears new text on the event loop.

        Raises ``WorkerUnavailable`` unless ready, ``QueueFull`` with an estimate of when to come back.
        """
        call = Call(request, now_s=self._clock(), withdraw=self._withdraw, on_text=on_text)
        with self._changed:
            if self.state != "ready":
                raise WorkerUnavailable(self.why_not_ready(), retry_after_s=2)
            try:
                self.queue.put(call.batch)
            except QueueFull as error:
                error.retry_after_s = self.throughput.retry_after_s(self.queue.num_items_ahead_of_a_place())
                raise
            self._changed.notify_all()
        return call

    def begin_stop(self) -> None:
        """Take no new work, let the running item finish, fail what waits."""
        with self._changed:
            if self.state in ("loading", "ready"):
                self.state = "stopping"
            waiting = self.queue.drain()
            self._changed.notify_all()
        _fail(waiting, WorkerUnavailable("the worker is stopping", retry_after_s=2))

    async def stop(self, drain_s: float) -> None:
        """``begin_stop``, then wait up to ``drain_s`` for the running item before it is told to stop."""
        self.begin_stop()
        if self.loaded is not None:
            await asyncio.to_thread(self._thread.join, drain_s)
            self._must_stop.set()
            await asyncio.to_thread(self._thread.join, STEP_S)

    def why_not_ready(self) -> str:
        """One sentence for whoever was refused."""
        reasons = {"loading": "the model is still loading", "stopping": "the worker is stopping"}
        return reasons.get(self.state, f"no model is loaded: {self.cause}")

    def tokens_per_s(self) -> float:
        """Tokens per busy second of the last minute."""
        with self._changed:
            return self.throughput.tokens_per_s

    def _withdraw(self, batch: Batch) -> None:
        with self._changed:
            self.queue.withdraw(batch)

    def _serve(self) -> None:
        """The engine's thread, from loading to the end."""
        try:
            self.loaded = self._load()
        except Exception as error:  # noqa: BLE001 - whatever stops the loading, the process stays and tells the cause
            self._loading_failed(error)
            return
        if self._observer:
            self._observer.loaded()
        with self._changed:
            if self.state == "loading":
                self.state = "ready"
        logger.info("model loaded", extra={"fields": {"model": self.loaded.core.model.name}})
        try:
            while (taken := self._take()) is not None:
                self._run(self.loaded.core, *taken)
        finally:
            if self.state == "ready":
                self._break("the engine's thread ended")

    def _take(self) -> tuple[Batch, Work] | None:
        """Wait for the next item; None when it is time to end."""
        with self._changed:
            while self.state == "ready":
                taken = self.queue.take()
                if taken is not None:
                    return taken
                self._changed.wait()
            return None

    def _run(self, core: Core, batch: Batch, work: Work) -> None:
        began_s = self._clock()
        outcome = self._outcome(core, work)
        elapsed_s = self._clock() - began_s
        with self._changed:
            self.queue.finish(batch)
            if isinstance(outcome, Completion):
                self.throughput.add(outcome.num_prompt_tokens + outcome.num_completion_tokens, elapsed_s)
        try:
            if self._observer:
                self._observer.item_done(outcome, waited_s=began_s - work.admitted_s, elapsed_s=elapsed_s)
        finally:
            work.deliver(outcome)
        if self._failures_in_row >= FAILURES_UNTIL_BROKEN:
            self._break(str(outcome))

    def _outcome(self, core: Core, work: Work) -> Outcome:
        """Run one item; whatever is raised becomes its outcome."""
        control = _Control(work, self._clock, self._must_stop)
        if control.stopped():
            return control.reason()
        try:
            completion = core.run(work.item, control, work.on_text)
        except (Cancelled, DeadlineExceeded):
            return control.reason()
        except EngineFailed as error:
            self._failures_in_row += 1
            logger.error("a step of the model failed", exc_info=error)
            return error
        except SeqGPTError as error:
            return error
        except Exception as error:  # an unknown failure leaves the core in an unknown state
            self._failures_in_row = FAILURES_UNTIL_BROKEN
            logger.critical("the engine broke", exc_info=error)
            return EngineFailed(f"the engine broke: {type(error).__name__}")
        self._failures_in_row = 0
        return control.reason() if completion.finish_reason == "cancelled" else completion

    def _break(self, cause: str) -> None:
        """The core cannot be trusted any more: fail everything that waits and say so."""
        with self._changed:
            self.state = "failed"
            self.cause = f"{cause}; restart the worker if nothing does it for you, its log says more"
            waiting = self.queue.drain()
        _fail(waiting, WorkerUnavailable("the engine broke; the worker restarts", retry_after_s=5))
        if self._on_broken:
            self._on_broken()

    def _loading_failed(self, error: Exception) -> None:
        logger.critical("loading failed", exc_info=error)
        with self._changed:
            self.cause = str(error) if isinstance(error, SeqGPTError) else f"{type(error).__name__}: {error}"
            if self.state == "loading":
                self.state = "failed"


def _fail(works: Iterable[Work], error: SeqGPTError) -> None:
    for work in works:
        work.deliver(error)
