"""Every admitted item is answered exactly once, whatever happens around it."""

from __future__ import annotations

import asyncio
import threading
from collections.abc import Callable, Sequence
from typing import Any

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from seqgpt_ui.errors import (
    Cancelled,
    CheckpointError,
    DeadlineExceeded,
    EngineFailed,
    QueueFull,
    TextTooLong,
    WorkerUnavailable,
)
from seqgpt_ui.protocol import Completion
from seqgpt_ui.worker.engine.bridge import AsyncEngine
from seqgpt_ui.worker.engine.contract import Loaded
from seqgpt_ui.worker.engine.queue import Outcome
from tests.worker.stubs import StubCore, eventually, request, run, started


def kinds(outcomes: Sequence[Outcome]) -> list[str]:
    """Text of answers, class names of errors."""
    return [o.text if isinstance(o, Completion) else type(o).__name__ for o in outcomes]


async def held(**options: Any) -> tuple[AsyncEngine, StubCore, Any]:
    """An engine whose only place at the model is taken."""
    engine, core = await started(**options)
    call = engine.submit(request("hold it"))
    await eventually(core.holding.is_set)
    return engine, core, call


def loader_behind(gate: threading.Event) -> Callable[[], Loaded]:
    """A loader that is not done before ``gate`` is set."""

    def load() -> Loaded:
        gate.wait(20)
        return Loaded(StubCore(), "")

    return load


def test_items_are_answered_in_order() -> None:
    async def main() -> None:
        engine, core = await started()
        assert kinds(await engine.submit(request("a", "b", "c")).results()) == ["a", "b", "c"]
        assert core.ran == ["a", "b", "c"]
        assert engine.throughput.num_finished == 3
        assert engine.queue.num_requests == 0
        await engine.stop(1.0)

    run(main())


def test_text_is_heard_before_the_result() -> None:
    async def main() -> None:
        engine, _ = await started()
        heard: list[str] = []
        call = engine.submit(request("one two three"), on_text=heard.append)
        outcomes = await call.results()
        assert kinds(outcomes) == ["one two three"]
        assert heard == ["one", "two", "three"]
        await engine.stop(1.0)

    run(main())


def test_a_bad_item_fails_alone() -> None:
    async def main() -> None:
        engine, _ = await started()
        assert kinds(await engine.submit(request("a", "bad one", "c")).results()) == ["a", "TextTooLong", "c"]
        assert engine.state == "ready"
        await engine.stop(1.0)

    run(main())


def test_one_failed_step_fails_its_item_alone() -> None:
    async def main() -> None:
        engine, _ = await started()
        outcomes = await engine.submit(request("fail", "b", "fail", "d")).results()
        assert kinds(outcomes) == ["EngineFailed", "b", "EngineFailed", "d"]
        assert engine.state == "ready"
        await engine.stop(1.0)

    run(main())


@pytest.mark.parametrize("texts", [("fail", "fail", "c", "d"), ("bug", "b", "c")])
def test_a_broken_engine_fails_everything_and_says_so(texts: tuple[str, ...]) -> None:
    async def main() -> None:
        broken = threading.Event()
        engine, _ = await started(on_broken=broken.set)
        outcomes = await engine.submit(request(*texts)).results()
        num_failed = texts.count("fail") + texts.count("bug")
        assert kinds(outcomes) == ["EngineFailed"] * num_failed + ["WorkerUnavailable"] * (len(texts) - num_failed)
        await eventually(broken.is_set)
        assert engine.state == "failed"
        assert engine.cause
        assert "secret" not in engine.cause
        with pytest.raises(WorkerUnavailable, match="no model is loaded"):
            engine.submit(request("e"))

    run(main())


def test_an_unknown_failure_names_no_text_of_a_caller() -> None:
    async def main() -> None:
        engine, _ = await started()
        (outcome,) = await engine.submit(request("bug")).results()
        assert isinstance(outcome, EngineFailed)
        assert "secret" not in str(outcome)

    run(main())


@pytest.mark.filterwarnings("ignore::pytest.PytestUnhandledThreadExceptionWarning")
def test_an_observer_that_fails_breaks_the_engine_but_leaves_nobody_waiting() -> None:
    class Bad:
        def loaded(self) -> None:
            pass

        def item_done(self, outcome: Outcome, *, waited_s: float, elapsed_s: float) -> None:
            raise RuntimeError

    async def main() -> None:
        engine, _ = await started(observer=Bad())
        assert kinds(await engine.submit(request("a", "b")).results()) == ["a", "WorkerUnavailable"]
        assert engine.state == "failed"
        await engine.stop(1.0)

    run(main())


def test_before_the_model_is_loaded_requests_are_refused() -> None:
    async def main() -> None:
        gate = threading.Event()
        engine = AsyncEngine(loader_behind(gate))
        engine.start()
        with pytest.raises(WorkerUnavailable, match="still loading") as caught:
            engine.submit(request("a"))
        assert caught.value.retry_after_s
        gate.set()
        await eventually(lambda: engine.state == "ready")
        await engine.stop(1.0)

    run(main())


@pytest.mark.parametrize(
    ("error", "cause"),
    [(CheckpointError("no weights; do this"), "no weights; do this"), (MemoryError("too big"), "MemoryError: too big")],
)
def test_a_failed_load_is_told_with_its_cause(error: Exception, cause: str) -> None:
    async def main() -> None:
        def load() -> Loaded:
            raise error

        engine = AsyncEngine(load)
        engine.start()
        await eventually(lambda: engine.state == "failed")
        assert engine.cause == cause
        with pytest.raises(WorkerUnavailable, match="no model is loaded"):
            engine.submit(request("a"))
        await engine.stop(1.0)

    run(main())


def test_stopping_while_loading_never_becomes_ready() -> None:
    async def main() -> None:
        gate = threading.Event()
        engine = AsyncEngine(loader_behind(gate))
        engine.start()
        await engine.stop(20.0)
        gate.set()
        await eventually(lambda: engine.loaded is not None)
        assert engine.state == "stopping"

    run(main())


def test_a_full_queue_refuses_with_an_estimate() -> None:
    async def main() -> None:
        engine, core, first = await held(max_concurrency=1, max_queue=1)
        second = engine.submit(request("b"))
        with pytest.raises(QueueFull) as caught:
            engine.submit(request("c"))
        assert caught.value.retry_after_s is not None
        assert caught.value.retry_after_s >= 1
        core.release.set()
        assert kinds(await first.results() + await second.results()) == ["hold it", "b"]
        assert kinds(await engine.submit(request("c")).results()) == ["c"]
        await engine.stop(1.0)

    run(main())


def test_interactive_overtakes_bulk() -> None:
    async def main() -> None:
        engine, core, first = await held()
        bulk = engine.submit(request("x", "y", priority="bulk"))
        page = engine.submit(request("z"))
        core.release.set()
        await asyncio.gather(first.results(), bulk.results(), page.results())
        assert core.ran == ["hold it", "z", "x", "y"]
        await engine.stop(1.0)

    run(main())


def test_the_deadline_is_kept_while_waiting() -> None:
    async def main() -> None:
        engine, core, first = await held()
        late = engine.submit(request("b", "c", deadline_s=0.05))
        assert kinds(await late.results()) == ["DeadlineExceeded"] * 2
        core.release.set()
        await first.results()
        assert core.ran == ["hold it"]
        await engine.stop(1.0)

    run(main())


def test_the_deadline_stops_what_runs_and_the_next_is_served() -> None:
    async def main() -> None:
        engine, core = await started()
        call = engine.submit(request("hold it", "b", deadline_s=0.05))
        outcomes = await call.results()
        assert kinds(outcomes) == ["DeadlineExceeded"] * 2
        assert kinds(await engine.submit(request("c")).results()) == ["c"]
        assert core.ran == ["hold it", "c"]
        await engine.stop(1.0)

    run(main())


def test_a_caller_who_leaves_frees_the_place_and_stops_what_runs() -> None:
    async def main() -> None:
        engine, core, first = await held(max_concurrency=1, max_queue=0)
        waiting = asyncio.ensure_future(first.results())
        await asyncio.sleep(0)
        waiting.cancel()
        await eventually(lambda: engine.queue.num_requests == 0)
        assert kinds(await engine.submit(request("b")).results()) == ["b"]
        assert core.ran == ["hold it", "b"]
        await engine.stop(1.0)

    run(main())


def test_leaving_settles_every_future() -> None:
    async def main() -> None:
        engine, _, first = await held()
        second = engine.submit(request("b", "c"))
        second.leave()
        assert kinds(await second.results()) == ["Cancelled"] * 2
        first.leave()
        outcomes = await first.results()
        assert isinstance(outcomes[0], Cancelled)
        await engine.stop(1.0)

    run(main())


def test_leaving_after_the_end_changes_nothing() -> None:
    async def main() -> None:
        engine, _ = await started()
        call = engine.submit(request("a"))
        await call.results()
        call.leave()
        assert kinds(await call.results()) == ["a"]
        await engine.stop(1.0)

    run(main())


def test_a_core_that_stops_by_itself_counts_as_left() -> None:
    async def main() -> None:
        engine, _ = await started()
        assert kinds(await engine.submit(request("halted")).results()) == ["Cancelled"]
        await engine.stop(1.0)

    run(main())


def test_a_graceful_stop_finishes_what_runs_and_fails_what_waits() -> None:
    async def main() -> None:
        engine, core, first = await held()
        second = engine.submit(request("b"))
        running, waiting = asyncio.ensure_future(first.results()), asyncio.ensure_future(second.results())
        stopping = asyncio.ensure_future(engine.stop(20.0))
        outcomes = await waiting
        assert isinstance(outcomes[0], WorkerUnavailable)
        assert outcomes[0].retryable
        with pytest.raises(WorkerUnavailable, match="stopping"):
            engine.submit(request("c"))
        core.release.set()
        assert kinds(await running) == ["hold it"]
        await stopping
        assert core.ran == ["hold it"]

    run(main())


def test_a_stop_does_not_wait_longer_than_it_may() -> None:
    async def main() -> None:
        engine, _, first = await held()
        running = asyncio.ensure_future(first.results())
        await engine.stop(0.01)
        assert kinds(await running) == ["WorkerUnavailable"]

    run(main())


def test_a_loop_that_is_closed_does_not_disturb_the_engine() -> None:
    engine, core = asyncio.run(started())

    async def leave() -> None:
        engine.submit(request("hold it"))
        await eventually(core.holding.is_set)

    asyncio.run(leave())
    core.release.set()

    async def main() -> None:
        assert kinds(await engine.submit(request("b")).results()) == ["b"]
        await engine.stop(1.0)

    run(main())


def test_deadlines_use_the_engines_clock() -> None:
    async def main() -> None:
        now_s = [0.0]
        engine, core = await started(clock=lambda: now_s[0])
        call = engine.submit(request("hold it", deadline_s=30.0))
        await eventually(core.holding.is_set)
        now_s[0] = 31.0
        outcomes = await call.results()
        assert isinstance(outcomes[0], DeadlineExceeded)
        await engine.stop(1.0)

    run(main())


def test_what_the_engine_says_of_itself() -> None:
    async def main() -> None:
        engine, core, first = await held(max_concurrency=1)
        engine.submit(request("b"))
        assert (engine.queue.num_requests, engine.queue.num_waiting) == (2, 1)
        core.release.set()
        await first.results()
        assert engine.loaded is not None
        assert engine.loaded.choice_reason == "only this one"
        assert engine.tokens_per_s() > 0
        await engine.stop(1.0)

    run(main())


Words = st.sampled_from(["a", "bad", "refuse", "fail", "halted", "hold"])


@settings(max_examples=40, deadline=None)
@given(
    requests=st.lists(st.lists(Words, min_size=1, max_size=4), min_size=1, max_size=6),
    leavers=st.sets(st.integers(0, 5)),
    stop_after=st.integers(0, 6),
)
def test_no_future_is_ever_left_unresolved(requests: list[list[str]], leavers: set[int], stop_after: int) -> None:
    async def main() -> None:
        engine, core = await started(max_concurrency=2, max_queue=3)
        waiting = []
        for index, words in enumerate(requests):
            try:
                call = engine.submit(request(*words))
            except (QueueFull, WorkerUnavailable):
                continue
            waiting.append(asyncio.ensure_future(call.results()))
            if index in leavers:
                call.leave()
            if index == stop_after:
                engine.begin_stop()
        core.release.set()
        outcomes = await asyncio.gather(*waiting)
        assert all(isinstance(o, Completion | TextTooLong | Exception) for batch in outcomes for o in batch)
        await eventually(lambda: engine.queue.num_requests == 0)
        await engine.stop(1.0)

    run(main())
