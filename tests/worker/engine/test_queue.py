"""The order of service, the bound, and that nothing is ever lost or served twice."""

from __future__ import annotations

from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from seqgpt_ui.errors import QueueFull
from seqgpt_ui.protocol import GenerateItem, SegmentMessage
from seqgpt_ui.worker.engine.queue import BULK_TURN, Batch, Priority, RequestQueue, Work


def work(name: str) -> Work:
    item = GenerateItem(segments=[SegmentMessage(text=name, is_content=True)])
    return Work(item, admitted_s=0.0, deadline_s=1.0, deliver=lambda outcome: None)


def batch(name: str, size: int = 1, priority: Priority = "interactive") -> Batch:
    return Batch([work(f"{name}{index}") for index in range(size)], priority)


def queue_of(*batches: Batch, **options: Any) -> RequestQueue:
    queue = RequestQueue(**{"max_concurrency": 2, "max_queue": 100, **options})
    for item in batches:
        queue.put(item)
    return queue


def serve(queue: RequestQueue, count: int = 1000) -> list[str]:
    """Take and finish up to ``count`` items; their names in order."""
    names: list[str] = []
    while len(names) < count and (taken := queue.take()):
        names.append(taken[1].item.segments[0].text)
        queue.finish(taken[0])
    return names


def test_an_empty_queue_has_nothing() -> None:
    assert queue_of().take() is None


def test_requests_of_one_item_are_served_in_the_order_of_arrival() -> None:
    assert serve(queue_of(batch("a"), batch("b"), batch("c"))) == ["a0", "b0", "c0"]


def test_the_oldest_requests_take_turns_item_by_item() -> None:
    assert serve(queue_of(batch("a", 3), batch("b", 2), batch("c"))) == ["a0", "b0", "a1", "b1", "a2", "c0"]


def test_with_one_place_requests_are_served_one_after_the_other() -> None:
    queue = queue_of(batch("a", 2), batch("b", 2), max_concurrency=1)
    assert serve(queue) == ["a0", "a1", "b0", "b1"]


def test_a_waiting_request_takes_the_place_of_a_finished_one() -> None:
    queue = queue_of(batch("a", 1), batch("b", 4), batch("c", 2))
    assert serve(queue) == ["a0", "b0", "c0", "b1", "c1", "b2", "b3"]


def test_interactive_goes_before_bulk() -> None:
    queue = queue_of(batch("bulk", 2, "bulk"), batch("page"))
    assert serve(queue) == ["page0", "bulk0", "bulk1"]


def test_bulk_gets_every_fourth_turn_while_interactive_work_waits() -> None:
    queue = queue_of(batch("b", 3, "bulk"), batch("i", 12))
    names = serve(queue)
    assert [index for index, name in enumerate(names) if name.startswith("b")] == [3, 7, 11]
    assert BULK_TURN == 4


def test_turns_are_not_saved_up_while_no_bulk_waits() -> None:
    queue = queue_of(batch("i", 20))
    serve(queue, 10)
    queue.put(batch("b", 1, "bulk"))
    assert serve(queue, 4) == ["i10", "i11", "i12", "b0"]


def test_beyond_places_and_waiting_room_a_request_is_refused() -> None:
    queue = queue_of(batch("a"), batch("b"), batch("c"), max_concurrency=2, max_queue=1)
    with pytest.raises(QueueFull) as caught:
        queue.put(batch("d"))
    assert caught.value.retryable
    assert serve(queue) == ["a0", "b0", "c0"]


def test_a_running_request_keeps_its_place_until_its_item_is_done() -> None:
    queue = queue_of(batch("a"), max_concurrency=1, max_queue=0)
    taken = queue.take()
    assert taken is not None
    with pytest.raises(QueueFull):
        queue.put(batch("b"))
    queue.finish(taken[0])
    queue.put(batch("b"))
    assert queue.num_requests == 1


def test_withdrawing_frees_the_places_and_gives_back_what_has_not_started() -> None:
    leaving = batch("a", 3)
    queue = queue_of(leaving, batch("b"))
    queue.take()
    assert [w.item.segments[0].text for w in queue.withdraw(leaving)] == ["a1", "a2"]
    assert queue.num_requests == 2
    queue.finish(leaving)
    assert queue.num_requests == 1
    assert serve(queue) == ["b0"]


def test_withdrawing_twice_or_after_the_end_does_nothing() -> None:
    only = batch("a")
    queue = queue_of(only)
    assert len(queue.withdraw(only)) == 1
    assert queue.withdraw(only) == []
    assert queue.num_requests == 0


def test_draining_takes_back_everything_that_has_not_started() -> None:
    queue = queue_of(batch("a", 2), batch("b", 1, "bulk"))
    taken = queue.take()
    assert taken is not None
    assert sorted(w.item.segments[0].text for w in queue.drain()) == ["a1", "b0"]
    assert queue.take() is None
    assert queue.num_requests == 1
    queue.finish(taken[0])
    assert queue.num_requests == 0


def test_waiting_counts_what_is_beyond_the_places() -> None:
    queue = queue_of(batch("a"), batch("b"), batch("c", 1, "bulk"))
    assert (queue.num_requests, queue.num_waiting) == (3, 1)


def test_the_estimate_counts_items_per_request() -> None:
    assert queue_of().num_items_ahead_of_a_place() == 0
    assert queue_of(batch("a", 5), batch("b", 2)).num_items_ahead_of_a_place() == 4


Sizes = st.lists(st.tuples(st.integers(1, 5), st.sampled_from(["interactive", "bulk"])), max_size=12)


@given(sizes=Sizes, places=st.integers(1, 4))
def test_every_item_is_served_exactly_once(sizes: list[tuple[int, Priority]], places: int) -> None:
    batches = [batch(f"{index}-", size, priority) for index, (size, priority) in enumerate(sizes)]
    queue = queue_of(*batches, max_concurrency=places)
    names = serve(queue)
    assert sorted(names) == sorted(f"{index}-{item}" for index, (size, _) in enumerate(sizes) for item in range(size))
    assert queue.num_requests == 0


@given(sizes=Sizes, places=st.integers(1, 4), left=st.sets(st.integers(0, 11)))
def test_leaving_never_touches_the_others(sizes: list[tuple[int, Priority]], places: int, left: set[int]) -> None:
    batches = [batch(f"{index}-", size, priority) for index, (size, priority) in enumerate(sizes)]
    queue = queue_of(*batches, max_concurrency=places)
    for index in left & set(range(len(batches))):
        queue.withdraw(batches[index])
    staying = {f"{index}-{item}" for index, (size, _) in enumerate(sizes) if index not in left for item in range(size)}
    assert set(serve(queue)) == staying


@given(bulk=st.integers(1, 6), interactive=st.integers(1, 30), places=st.integers(1, 4))
def test_bulk_never_waits_longer_than_three_turns(bulk: int, interactive: int, places: int) -> None:
    queue = queue_of(batch("b", bulk, "bulk"), batch("i", interactive), max_concurrency=places)
    names = serve(queue)
    gaps = "".join(name[0] for name in names).rstrip("i").split("b")
    assert all(len(gap) <= BULK_TURN - 1 for gap in gaps)
