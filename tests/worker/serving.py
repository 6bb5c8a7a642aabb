"""The real HTTP server around a stub engine, in a thread, on a unix socket."""

from __future__ import annotations

import socket
import tempfile
import threading
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from pathlib import Path

import uvicorn

from seqgpt_ui.worker.app import create_app
from seqgpt_ui.worker.engine.bridge import AsyncEngine
from seqgpt_ui.worker.engine.contract import Loaded
from seqgpt_ui.worker.metrics import WorkerMetrics
from tests.worker.stubs import PATIENCE_S, StubCore


class Serving:
    """A running server, its engine and its stub."""

    def __init__(self, engine: AsyncEngine, core: StubCore, path: Path) -> None:
        self.engine = engine
        self.core = core
        self.path = path


@contextmanager
def serving(
    core: StubCore | None = None,
    *,
    load: Callable[[], Loaded] | None = None,
    max_body_bytes: int = 100_000,
    max_concurrency: int = 2,
    max_queue: int = 64,
) -> Iterator[Serving]:
    """Serve until the block ends; ready inside unless ``load`` says otherwise."""
    stub = core or StubCore()
    ready = threading.Event()

    class Observer(WorkerMetrics):
        def loaded(self) -> None:
            super().loaded()
            ready.set()

    metrics = Observer()
    engine = AsyncEngine(
        load or (lambda: Loaded(stub, "only this one")),
        max_concurrency=max_concurrency,
        max_queue=max_queue,
        observer=metrics,
    )
    metrics.watch(engine)
    app = create_app(engine, metrics, max_body_bytes=max_body_bytes, drain_s=5.0)
    # Sockets need a short path, so not below pytest's folders.
    with tempfile.TemporaryDirectory() as folder, socket.socket(socket.AF_UNIX) as listening:
        path = Path(folder) / "s"
        listening.bind(str(path))
        listening.listen()
        server = uvicorn.Server(uvicorn.Config(app, log_config=None, timeout_graceful_shutdown=5))
        thread = threading.Thread(target=server.run, kwargs={"sockets": [listening]}, name="server")
        thread.start()
        try:
            assert load or ready.wait(PATIENCE_S)
            yield Serving(engine, stub, path)
        finally:
            stub.release.set()
            server.should_exit = True
            thread.join(PATIENCE_S)
            assert not thread.is_alive()
