"""Batches, deadlines, cancellation and errors between pipeline and worker."""

from __future__ import annotations

import asyncio
import contextlib
from collections.abc import AsyncIterator

import pytest

from seqgpt_ui import dispatch, errors
from seqgpt_ui.dispatch import ITEMS_PER_REQUEST, REQUESTS_AT_ONCE, Dispatcher, completion_of
from seqgpt_ui.protocol import (
    Completion,
    GenerateItem,
    GenerateRequest,
    GenerateResponse,
    ItemError,
    ItemResult,
    SegmentMessage,
    StreamEvent,
)
from tests.fakes import ScriptedClient, completion, prompt_text


def echo(item: GenerateItem) -> Completion:
    return completion(prompt_text(item))


def items(count: int) -> list[GenerateItem]:
    return [GenerateItem(segments=[SegmentMessage(text=str(number), is_content=True)]) for number in range(count)]


class Clock:
    """Time that stands still until it is told to move."""

    def __init__(self) -> None:
        self.now = 100.0

    def __call__(self) -> float:
        return self.now


def test_completions_come_in_the_order_of_the_items() -> None:
    client = ScriptedClient(echo)
    dispatcher = Dispatcher(client)
    found = asyncio.run(dispatcher.send(items(1000), dispatcher.open(60.0, "bulk", "r1")))
    assert [answer.text for answer in found] == [str(number) for number in range(1000)]
    assert max(len(request.items) for request in client.requests) == ITEMS_PER_REQUEST
    assert len(client.requests) == 16
    assert set(client.request_ids) == {"r1"}
    assert {request.priority for request in client.requests} == {"bulk"}
    assert 1 < client.most_at_once <= REQUESTS_AT_ONCE


def test_the_worker_hears_how_much_time_is_left() -> None:
    clock = Clock()
    client = ScriptedClient(echo)
    dispatcher = Dispatcher(client, clock)
    call = dispatcher.open(30.0, "interactive", None)
    clock.now += 10.0
    asyncio.run(dispatcher.send(items(1), call))
    assert client.requests[0].deadline_s == 20.0
    clock.now += 20.0
    with pytest.raises(errors.DeadlineExceeded):
        asyncio.run(dispatcher.send(items(1), call))
    assert len(client.requests) == 1


@pytest.mark.parametrize("deadline_s", [0.0, -1.0, 3601.0, float("nan"), float("inf")])
def test_deadlines_that_cannot_be_kept_are_refused(deadline_s: float) -> None:
    with pytest.raises(errors.InvalidRequest) as caught:
        Dispatcher(ScriptedClient(echo)).open(deadline_s, "interactive", None)
    assert caught.value.param == "deadline_s"


@pytest.mark.parametrize("failure", [errors.QueueFull("full", retry_after_s=2.0), errors.WorkerUnavailable("away")])
def test_a_failing_request_fails_all_with_its_own_error(failure: errors.SeqGPTError) -> None:
    client = ScriptedClient(echo)
    client.failure = failure
    dispatcher = Dispatcher(client)
    with pytest.raises(type(failure)) as caught:
        asyncio.run(dispatcher.send(items(200), dispatcher.open(60.0, "interactive", None)))
    assert caught.value is failure


class SilentClient(ScriptedClient):
    """Never answers and remembers that it was cancelled."""

    cancelled = False
    waiting: asyncio.Event

    async def generate(self, request: GenerateRequest, *, request_id: str | None = None) -> GenerateResponse:
        self.waiting.set()
        try:
            await asyncio.Event().wait()
        except asyncio.CancelledError:
            self.cancelled = True
            raise
        raise AssertionError

    async def stream(self, request: GenerateRequest, *, request_id: str | None = None) -> AsyncIterator[StreamEvent]:
        try:
            await asyncio.Event().wait()
            yield StreamEvent()
        finally:
            self.closed = True


def test_a_silent_worker_is_given_up(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(dispatch, "GRACE_S", 0.0)
    client = SilentClient(echo)

    async def ask() -> None:
        client.waiting = asyncio.Event()
        dispatcher = Dispatcher(client)
        await dispatcher.send(items(1), dispatcher.open(0.01, "interactive", None))

    with pytest.raises(errors.DeadlineExceeded):
        asyncio.run(ask())
    assert client.cancelled


def test_a_silent_stream_is_given_up_and_closed(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(dispatch, "GRACE_S", 0.0)
    client = SilentClient(echo)

    async def ask() -> None:
        dispatcher = Dispatcher(client)
        async for _ in dispatcher.stream(items(1)[0], dispatcher.open(0.01, "interactive", None)):
            raise AssertionError

    with pytest.raises(errors.DeadlineExceeded):
        asyncio.run(ask())
    assert client.closed


def test_cancelling_the_caller_cancels_the_worker_request() -> None:
    client = SilentClient(echo)

    async def ask() -> None:
        client.waiting = asyncio.Event()
        dispatcher = Dispatcher(client)
        task = asyncio.create_task(dispatcher.send(items(100), dispatcher.open(60.0, "interactive", None)))
        await asyncio.wait_for(client.waiting.wait(), 10)
        task.cancel()
        with contextlib.suppress(asyncio.CancelledError):
            await task
        assert task.cancelled()

    asyncio.run(ask())
    assert client.cancelled


def test_a_short_answer_is_a_worker_error() -> None:
    class Short(ScriptedClient):
        async def generate(self, request: GenerateRequest, *, request_id: str | None = None) -> GenerateResponse:
            response = await super().generate(request, request_id=request_id)
            return GenerateResponse(items=response.items[:-1])

    dispatcher = Dispatcher(Short(echo))
    with pytest.raises(errors.WorkerError, match="1 of 2 prompts"):
        asyncio.run(dispatcher.send(items(2), dispatcher.open(60.0, "interactive", None)))


def test_leaving_a_stream_early_closes_it() -> None:
    client = ScriptedClient(echo)
    client.deltas = ["a", "b"]

    async def ask() -> None:
        dispatcher = Dispatcher(client)
        async with contextlib.aclosing(
            dispatcher.stream(items(1)[0], dispatcher.open(60.0, "interactive", None))
        ) as events:
            async for event in events:
                assert event.delta == "a"
                break

    asyncio.run(ask())
    assert client.closed
    assert client.requests[0].stream


def every_kind() -> list[type[errors.SeqGPTError]]:
    def below(base: type[errors.SeqGPTError]) -> list[type[errors.SeqGPTError]]:
        return [kind for child in base.__subclasses__() for kind in (child, *below(child))]

    return below(errors.SeqGPTError)


@pytest.mark.parametrize("kind", every_kind(), ids=lambda kind: kind.code)
def test_item_errors_become_the_error_of_their_code(kind: type[errors.SeqGPTError]) -> None:
    result = ItemResult(error=ItemError(code=kind.code, message="because", param="text", retry_after_s=3.0))
    with pytest.raises(kind) as caught:
        completion_of(result)
    found = caught.value
    assert type(found) is kind
    assert (found.message, found.param, found.retry_after_s) == ("because", "text", 3.0)


def test_an_unknown_code_is_a_worker_error() -> None:
    with pytest.raises(errors.WorkerError, match="here"):
        completion_of(ItemResult(error=ItemError(code="dragons", message="here")))


def test_the_workers_name_for_the_prompt_is_the_callers_text() -> None:
    error = ItemError(code="text_too_long", message="1025 tokens", param="segments")
    with pytest.raises(errors.TextTooLong) as caught:
        completion_of(ItemResult(error=error))
    assert caught.value.param == "text"


@pytest.mark.parametrize(
    ("result", "kind"),
    [
        (ItemResult(error=ItemError(code="text_too_long", message="x")), errors.TextTooLong),
        (ItemResult(), errors.WorkerError),
        (ItemResult(completion=completion(finish_reason="cancelled")), errors.Cancelled),
    ],
)
def test_what_is_no_completion_is_raised(result: ItemResult, kind: type[errors.SeqGPTError]) -> None:
    with pytest.raises(kind):
        completion_of(result)


def test_the_first_item_error_of_a_batch_is_raised() -> None:
    def fail(item: GenerateItem) -> Completion | ItemError:
        number = int(prompt_text(item))
        return ItemError(code="engine_failed", message=str(number)) if number in (3, 5) else echo(item)

    dispatcher = Dispatcher(ScriptedClient(fail))
    with pytest.raises(errors.EngineFailed, match="3"):
        asyncio.run(dispatcher.send(items(10), dispatcher.open(60.0, "interactive", None)))
