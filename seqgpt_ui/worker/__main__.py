"""Starts the worker: ``python -m seqgpt_ui.worker``. Holds the socket's lock, so that no socket has two workers."""

from __future__ import annotations

import argparse
import logging
import math
import os
import signal
import socket
import sys
import threading
from collections.abc import Iterator
from contextlib import ExitStack, contextmanager
from types import FrameType

import uvicorn

from seqgpt_ui.errors import SettingsError
from seqgpt_ui.locks import locked, private_folder
from seqgpt_ui.logs import configure_logging
from seqgpt_ui.settings import Settings, load_settings
from seqgpt_ui.worker.app import create_app
from seqgpt_ui.worker.checkpoint import resolve_checkpoint
from seqgpt_ui.worker.engine.bridge import AsyncEngine
from seqgpt_ui.worker.engine.contract import Loaded
from seqgpt_ui.worker.metrics import WorkerMetrics

logger = logging.getLogger("seqgpt_ui.worker")
EXIT_BROKEN, EXIT_SETTINGS, EXIT_TAKEN = 1, 2, 3


class WorkerServer(uvicorn.Server):
    """Tells the engine to stop at the signal, not after the last connection has closed."""

    def __init__(self, settings: Settings, metrics: WorkerMetrics) -> None:
        self._engine = AsyncEngine(
            lambda: load(settings),
            max_concurrency=settings.max_concurrency,
            max_queue=settings.max_queue,
            observer=metrics,
            on_broken=self.broken,
        )
        metrics.watch(self._engine)
        app = create_app(self._engine, metrics, max_body_bytes=settings.max_body_bytes, drain_s=settings.drain_s)
        drain_s = math.ceil(settings.drain_s) + 1
        super().__init__(
            uvicorn.Config(
                app, log_config=None, access_log=False, server_header=False, timeout_graceful_shutdown=drain_s
            )
        )
        self.is_broken = False

    def broken(self) -> None:
        """End the process so that whoever supervises it starts a fresh one. Any thread."""
        self.is_broken = True
        self.should_exit = True

    def handle_exit(self, sig: int, frame: FrameType | None) -> None:
        """Runs in a signal handler beside the loop; a signal that was obeyed leaves exit status 0."""
        self.force_exit = self.should_exit and sig == signal.SIGINT
        self.should_exit = True

    async def shutdown(self, sockets: list[socket.socket] | None = None) -> None:
        """Fail what waits at once, so that closing the connections takes only the running item's time."""
        self._engine.begin_stop()
        await super().shutdown(sockets)


def load(settings: Settings) -> Loaded:
    """Find and load the checkpoint; runs on the engine's thread while the server already answers."""
    # torch and transformers take seconds to import; /livez and /v1/info answer meanwhile.
    from seqgpt_ui.worker.engine.loading import CheckpointFolder, load_core

    checkpoint = resolve_checkpoint(settings)
    logger.info("checkpoint chosen", extra={"fields": {"name": checkpoint.name, "reason": checkpoint.reason}})
    folder = CheckpointFolder(checkpoint.path, checkpoint.name, checkpoint.is_demo)
    return Loaded(load_core(settings, folder), checkpoint.reason)


@contextmanager
def bound_socket(settings: Settings) -> Iterator[socket.socket]:
    """The listening socket, TCP or unix. Raises ``BlockingIOError`` when another worker holds the unix one."""
    if settings.worker_host:
        family = socket.AF_INET6 if ":" in settings.worker_host else socket.AF_INET
        with socket.create_server((settings.worker_host, settings.worker_port), family=family) as server:
            yield server
        return
    path = settings.socket_path
    private_folder(path.parent)
    with locked(path.with_suffix(".lock")), socket.socket(socket.AF_UNIX) as server:
        path.unlink(missing_ok=True)
        server.bind(str(path))
        try:
            yield server
        finally:
            path.unlink(missing_ok=True)


def watch_parent(descriptor: int) -> None:
    """Send this process SIGTERM when the other end of the pipe closes, that is when the parent is gone."""

    def watch() -> None:
        while os.read(descriptor, 1):
            pass
        os.kill(os.getpid(), signal.SIGTERM)

    threading.Thread(target=watch, name="parent-watch", daemon=True).start()


def serve(settings: Settings) -> int:
    """Run until a signal or a broken engine ends it; the exit status."""
    with ExitStack() as stack:
        try:
            listening = stack.enter_context(bound_socket(settings))
        except OSError as error:
            logger.error("cannot listen; another worker may run here", exc_info=error)
            return EXIT_TAKEN
        server = WorkerServer(settings, WorkerMetrics())
        server.run(sockets=[listening])
        return EXIT_BROKEN if server.is_broken else 0


def main(arguments: list[str] | None = None) -> int:
    """The command line of the worker."""
    parser = argparse.ArgumentParser(prog="python -m seqgpt_ui.worker", description="Serve the model to local clients.")
    parser.add_argument("--parent-fd", type=int, help="end when the other end of this pipe closes")
    options = parser.parse_args(arguments)
    try:
        settings = load_settings()
    except SettingsError as error:
        sys.stderr.write(f"{error}\n")
        return EXIT_SETTINGS
    configure_logging("worker", level=settings.log_level, form=settings.log_format)
    if options.parent_fd is not None:
        watch_parent(options.parent_fd)
    return serve(settings)


if __name__ == "__main__":
    exit_status = main()
    logging.shutdown()
    # Not sys.exit: a model that is still loading on its thread would hold up or crash the interpreter's own end.
    os._exit(exit_status)
