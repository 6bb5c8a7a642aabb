"""What Prometheus may read of one worker. Own registry per object, so that tests and processes never share numbers."""

from __future__ import annotations

from prometheus_client import CONTENT_TYPE_LATEST, CollectorRegistry, Counter, Gauge, Histogram, generate_latest

from seqgpt_ui.protocol import Completion
from seqgpt_ui.worker.engine.bridge import AsyncEngine
from seqgpt_ui.worker.engine.queue import Outcome

_SECONDS = (0.005, 0.01, 0.025, 0.05, 0.1, 0.25, 0.5, 1, 2.5, 5, 10, 30, 60)


class WorkerMetrics:
    """Counters and histograms of the worker; the engine calls it as its observer."""

    content_type = CONTENT_TYPE_LATEST

    def __init__(self) -> None:
        self.registry = CollectorRegistry()
        own = self.registry
        self._requests = Counter(
            "seqgpt_requests", "HTTP requests by path and status", ("path", "status"), registry=own
        )
        self._items = Counter("seqgpt_items", "Items by outcome: ok or the error's code", ("outcome",), registry=own)
        self._tokens = Counter("seqgpt_tokens", "Tokens read and written", ("kind",), registry=own)
        self._loads = Counter("seqgpt_model_loads", "How often a checkpoint was loaded", registry=own)
        self._waited = Histogram("seqgpt_wait_seconds", "From arrival to start", buckets=_SECONDS, registry=own)
        self._elapsed = Histogram("seqgpt_item_seconds", "Time at the model", buckets=_SECONDS, registry=own)

    def watch(self, engine: AsyncEngine) -> None:
        """Show the engine's present state too."""
        queue = engine.queue
        gauges = (
            ("seqgpt_waiting_requests", "Requests that wait", lambda: queue.num_waiting),
            ("seqgpt_running_requests", "Requests that take turns", lambda: queue.num_requests - queue.num_waiting),
            ("seqgpt_ready", "Whether the worker takes requests", lambda: float(engine.state == "ready")),
        )
        for name, text, read in gauges:
            Gauge(name, text, registry=self.registry).set_function(read)

    def loaded(self) -> None:
        """A checkpoint was loaded."""
        self._loads.inc()

    def item_done(self, outcome: Outcome, *, waited_s: float, elapsed_s: float) -> None:
        """An item left the engine."""
        self._waited.observe(waited_s)
        self._elapsed.observe(elapsed_s)
        if isinstance(outcome, Completion):
            self._items.labels("ok").inc()
            self._tokens.labels("prompt").inc(outcome.num_prompt_tokens)
            self._tokens.labels("completion").inc(outcome.num_completion_tokens)
        else:
            self._items.labels(outcome.code).inc()

    def request_done(self, path: str, status: int) -> None:
        """A request was answered; ``path`` must be one of the routes', never what a caller made up."""
        self._requests.labels(path, str(status)).inc()

    def text(self) -> bytes:
        """Everything in Prometheus' text format."""
        return generate_latest(self.registry)
