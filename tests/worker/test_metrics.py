"""Numbers for Prometheus: counted once, never shared between objects."""

from __future__ import annotations

from prometheus_client.parser import text_string_to_metric_families

from seqgpt_ui.errors import QueueFull
from seqgpt_ui.worker.engine.bridge import AsyncEngine
from seqgpt_ui.worker.engine.contract import Loaded
from seqgpt_ui.worker.engine.queue import Batch
from seqgpt_ui.worker.metrics import WorkerMetrics
from tests.worker.stubs import StubCore, completion


def values(metrics: WorkerMetrics) -> dict[str, float]:
    """Every sample by name and labels."""
    families = text_string_to_metric_families(metrics.text().decode())
    return {
        sample.name + "".join(f" {key}={value}" for key, value in sample.labels.items()): sample.value
        for family in families
        for sample in family.samples
    }


def test_two_objects_share_nothing() -> None:
    one, other = WorkerMetrics(), WorkerMetrics()
    one.loaded()
    assert values(one)["seqgpt_model_loads_total"] == 1
    assert values(other)["seqgpt_model_loads_total"] == 0


def test_items_are_counted_by_outcome_with_their_tokens() -> None:
    metrics = WorkerMetrics()
    metrics.item_done(completion("a"), waited_s=0.2, elapsed_s=0.5)
    metrics.item_done(completion("b"), waited_s=0.2, elapsed_s=0.5)
    metrics.item_done(QueueFull("x"), waited_s=3.0, elapsed_s=0.0)
    seen = values(metrics)
    assert seen["seqgpt_items_total outcome=ok"] == 2
    assert seen["seqgpt_items_total outcome=queue_full"] == 1
    assert (seen["seqgpt_tokens_total kind=prompt"], seen["seqgpt_tokens_total kind=completion"]) == (6, 4)
    assert seen["seqgpt_wait_seconds_count"] == 3
    assert seen["seqgpt_item_seconds_sum"] == 1.0


def test_requests_are_counted_by_route_and_status() -> None:
    metrics = WorkerMetrics()
    metrics.request_done("/v1/generate", 200)
    metrics.request_done("/v1/generate", 429)
    assert values(metrics)["seqgpt_requests_total path=/v1/generate status=429"] == 1


def test_the_engines_state_is_read_when_asked() -> None:
    metrics = WorkerMetrics()
    engine = AsyncEngine(lambda: Loaded(StubCore(), ""), max_concurrency=1)
    metrics.watch(engine)
    assert values(metrics)["seqgpt_ready"] == 0
    engine.state = "ready"
    engine.queue.put(Batch([], "bulk"))
    engine.queue.put(Batch([], "bulk"))
    seen = values(metrics)
    assert (seen["seqgpt_ready"], seen["seqgpt_running_requests"], seen["seqgpt_waiting_requests"]) == (1, 1, 1)
