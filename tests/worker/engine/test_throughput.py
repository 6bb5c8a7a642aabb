"""The last minute of work, and what is concluded from it."""

from __future__ import annotations

import pytest

from seqgpt_ui.worker.engine.throughput import MAX_RETRY_AFTER_S, WINDOW_S, Throughput


class Clock:
    """A clock that stands until it is moved."""

    def __init__(self) -> None:
        self.now_s = 100.0

    def __call__(self) -> float:
        return self.now_s


def test_without_work_there_is_no_speed_and_the_shortest_advice() -> None:
    throughput = Throughput(Clock())
    assert throughput.tokens_per_s == 0.0
    assert throughput.retry_after_s(50) == 1


def test_speed_is_tokens_over_busy_time() -> None:
    throughput = Throughput(Clock())
    throughput.add(30, 1.0)
    throughput.add(10, 3.0)
    assert throughput.tokens_per_s == pytest.approx(10.0)
    assert throughput.num_finished == 2


def test_instant_work_does_not_divide_by_zero() -> None:
    throughput = Throughput(Clock())
    throughput.add(30, 0.0)
    assert throughput.tokens_per_s == 0.0
    assert throughput.retry_after_s(10) == 1


@pytest.mark.parametrize(
    ("mean_s", "num_items", "expected"), [(0.5, 4, 2), (0.3, 4, 2), (0.01, 3, 1), (2.0, 0, 1), (9.0, 100, 60)]
)
def test_advice_is_whole_seconds_within_bounds(mean_s: float, num_items: int, expected: int) -> None:
    throughput = Throughput(Clock())
    throughput.add(5, mean_s)
    assert throughput.retry_after_s(num_items) == expected
    assert 1 <= expected <= MAX_RETRY_AFTER_S


def test_old_work_is_forgotten_but_still_counted() -> None:
    clock = Clock()
    throughput = Throughput(clock)
    throughput.add(100, 1.0)
    clock.now_s += WINDOW_S + 1
    throughput.add(5, 1.0)
    assert throughput.tokens_per_s == pytest.approx(5.0)
    clock.now_s += WINDOW_S + 1
    assert throughput.tokens_per_s == 0.0
    assert throughput.num_finished == 2
