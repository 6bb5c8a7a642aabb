"""Who is served next: a bounded queue of requests, their items taken in turns. Plain data, no threads, no clock.

A request is admitted as a whole or refused. The oldest ``max_concurrency`` requests of each priority take turns item
by item, so a large one does not hold up a small one; interactive goes before bulk, but bulk gets every fourth turn.
"""

from __future__ import annotations

from collections import deque
from collections.abc import Callable, Iterable
from dataclasses import dataclass
from itertools import islice
from typing import Literal

from seqgpt_ui.errors import QueueFull, SeqGPTError
from seqgpt_ui.protocol import Completion, GenerateItem

Priority = Literal["interactive", "bulk"]
Outcome = Completion | SeqGPTError
BULK_TURN = 4


@dataclass(eq=False, slots=True)
class Work:
    """One item on its way through the engine. ``deliver`` is called at most once per item; it may be called anywhere.

    ``abandoned`` is set by whoever waited and left; ``deadline_s`` and ``admitted_s`` are on the engine's clock.
    """

    item: GenerateItem
    admitted_s: float
    deadline_s: float
    deliver: Callable[[Outcome], None]
    on_text: Callable[[str], None] | None = None
    abandoned: bool = False


class Batch:
    """One admitted request: the works not yet started, and how many are with the engine."""

    __slots__ = ("num_running", "priority", "works")

    def __init__(self, works: Iterable[Work], priority: Priority) -> None:
        self.works = deque(works)
        self.priority = priority
        self.num_running = 0

    @property
    def is_finished(self) -> bool:
        """Nothing left to start and nothing running."""
        return not self.works and not self.num_running


class RequestQueue:
    """Holds admitted requests until their last item is done."""

    def __init__(self, *, max_concurrency: int, max_queue: int) -> None:
        self.max_concurrency = max_concurrency
        self.max_queue = max_queue
        self._lanes: dict[Priority, deque[Batch]] = {"interactive": deque(), "bulk": deque()}
        self._turns_since_bulk = 0

    @property
    def num_requests(self) -> int:
        """Requests that are not finished."""
        return sum(len(lane) for lane in self._lanes.values())

    @property
    def num_waiting(self) -> int:
        """Requests beyond those that take turns."""
        return max(0, self.num_requests - self.max_concurrency)

    def num_items_ahead_of_a_place(self) -> int:
        """About how many items must be done until one request is finished and its place is free."""
        num_items = sum(len(batch.works) + batch.num_running for lane in self._lanes.values() for batch in lane)
        return -(-num_items // max(1, self.num_requests))

    def put(self, batch: Batch) -> None:
        """Admit a request. Raises ``QueueFull`` (without an estimate) when ``max_queue`` requests wait already."""
        if self.num_requests >= self.max_concurrency + self.max_queue:
            raise QueueFull(f"{self.num_waiting} requests wait already; try again later")
        self._lanes[batch.priority].append(batch)

    def take(self) -> tuple[Batch, Work] | None:
        """The next item to run; its batch counts it as running until ``finish``."""
        interactive, bulk = self._next("interactive"), self._next("bulk")
        if bulk and (interactive is None or self._turns_since_bulk >= BULK_TURN - 1):
            self._turns_since_bulk = 0
            return self._start(bulk)
        if interactive:
            self._turns_since_bulk = min(self._turns_since_bulk + 1, BULK_TURN) if bulk else 0
            return self._start(interactive)
        return None

    def finish(self, batch: Batch) -> None:
        """The running item of ``batch`` is done."""
        batch.num_running -= 1
        self._discard_if_finished(batch)

    def withdraw(self, batch: Batch) -> list[Work]:
        """Take back what has not started; its places are free again."""
        works = list(batch.works)
        batch.works.clear()
        self._discard_if_finished(batch)
        return works

    def drain(self) -> list[Work]:
        """Take back everything that has not started."""
        return [work for lane in self._lanes.values() for batch in tuple(lane) for work in self.withdraw(batch)]

    def _next(self, priority: Priority) -> Batch | None:
        """The request of this lane whose turn it is, among the oldest ``max_concurrency`` that have items left."""
        in_turn = islice(self._lanes[priority], self.max_concurrency)
        return next((batch for batch in in_turn if batch.works), None)

    def _start(self, batch: Batch) -> tuple[Batch, Work]:
        work = batch.works.popleft()
        batch.num_running += 1
        self._rotate(batch)
        return batch, work

    def _rotate(self, batch: Batch) -> None:
        """Send ``batch`` behind the others that take turns, not behind those that wait."""
        lane = self._lanes[batch.priority]
        lane.remove(batch)
        lane.insert(min(self.max_concurrency - 1, len(lane)), batch)

    def _discard_if_finished(self, batch: Batch) -> None:
        lane = self._lanes[batch.priority]
        if batch.is_finished and batch in lane:
            lane.remove(batch)
