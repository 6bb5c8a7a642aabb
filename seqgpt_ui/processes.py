"""Keeps one worker running for ``python app.py`` and the command line: adopts one that is there, else starts its own.

A child ends with its parent: the child watches a pipe that the kernel closes with the parent, however that ends.
Under supervisord, with ``SEQGPT_CHILDREN=0`` or with workers elsewhere nothing is started.
"""

from __future__ import annotations

import logging
import os
import signal
import socket
import subprocess
import sys
import threading
import time
from collections.abc import Iterator, Sequence
from contextlib import contextmanager, suppress

from seqgpt_ui.locks import locked, private_folder
from seqgpt_ui.settings import PROJECT_ROOT, Settings, child_environment

logger = logging.getLogger(__name__)
WORKER = (sys.executable, "-m", "seqgpt_ui.worker")
FIRST_PAUSE_S, LONGEST_PAUSE_S = 0.5, 30.0
# A worker that lived this long was well; the next failure counts as the first again.
WELL_S = 60.0
POLL_S = 0.5
KILL_GRACE_S = 10.0


@contextmanager
def ensure_worker(settings: Settings) -> Iterator[WorkerKeeper | None]:
    """While the block runs, see to it that a worker does; None where that is somebody else's business.

    Does not wait: the worker may still be starting.
    """
    if not settings.children or settings.supervised or settings.worker_urls:
        yield None
        return
    keeper = WorkerKeeper(settings)
    keeper.start()
    try:
        yield keeper
    finally:
        keeper.stop()


class WorkerKeeper:
    """A thread that starts, watches and restarts one worker. One keeper per socket is active, others stand by."""

    def __init__(self, settings: Settings, *, command: Sequence[str] = WORKER) -> None:
        """``command`` gets ``--parent-fd N`` appended: a pipe that closes when this process is gone."""
        self._settings = settings
        self._command = tuple(command)
        self._lock_path = settings.socket_path.with_suffix(".keeper")
        self._ended = threading.Event()
        self._child: subprocess.Popen[bytes] | None = None
        self._guard = threading.Lock()
        self._thread = threading.Thread(target=self._keep, name="worker-keeper", daemon=True)

    @property
    def child_pid(self) -> int | None:
        """The worker that this keeper started, while it runs."""
        child = self._child
        return child.pid if child and child.returncode is None else None

    def start(self) -> None:
        """Begin to keep."""
        self._thread.start()

    def stop(self) -> None:
        """End the worker that this keeper started, politely first; an adopted one stays."""
        with self._guard:
            self._ended.set()
            child = self._child
        if child is not None:
            end_process(child, self._settings.drain_s + KILL_GRACE_S)
        self._thread.join()

    def _keep(self) -> None:
        private_folder(self._lock_path.parent)
        while not self._ended.is_set():
            try:
                with locked(self._lock_path):
                    self._keep_alone()
            except BlockingIOError:
                self._ended.wait(POLL_S)

    def _keep_alone(self) -> None:
        """This keeper is the active one."""
        pause_s = FIRST_PAUSE_S
        while not self._ended.is_set():
            if is_answering(self._settings):
                self._ended.wait(POLL_S)
                continue
            began_s = time.monotonic()
            self._run_child()
            pause_s = FIRST_PAUSE_S if time.monotonic() - began_s > WELL_S else min(2 * pause_s, LONGEST_PAUSE_S)
            self._ended.wait(pause_s)

    def _run_child(self) -> None:
        """Start a worker and wait for its end."""
        read_end, write_end = os.pipe()
        try:
            child = self._spawn(read_end)
            if child is not None:
                logger.info("worker started", extra={"fields": {"pid": child.pid}})
                status = child.wait()
                logger.info("worker ended", extra={"fields": {"pid": child.pid, "status": status}})
        finally:
            os.close(read_end)
            os.close(write_end)

    def _spawn(self, parent_fd: int) -> subprocess.Popen[bytes] | None:
        with self._guard:
            if self._ended.is_set():
                return None
            self._child = subprocess.Popen(
                (*self._command, "--parent-fd", str(parent_fd)),
                cwd=PROJECT_ROOT,
                env=child_environment(self._settings),
                pass_fds=(parent_fd,),
                stdin=subprocess.DEVNULL,
                start_new_session=True,
            )
            return self._child


def end_process(child: subprocess.Popen[bytes], patience_s: float) -> None:
    """SIGTERM, then after ``patience_s`` SIGKILL to the child's whole group."""
    child.terminate()
    try:
        child.wait(patience_s)
    except subprocess.TimeoutExpired:
        logger.error("worker did not end in time, killing it", extra={"fields": {"pid": child.pid}})
        with suppress(ProcessLookupError):
            os.killpg(child.pid, signal.SIGKILL)
        child.wait()


def is_answering(settings: Settings) -> bool:
    """Whether somebody accepts connections where the worker should be."""
    try:
        if settings.worker_host:
            socket.create_connection((settings.worker_host, settings.worker_port), timeout=1.0).close()
            return True
        with socket.socket(socket.AF_UNIX) as probe:
            probe.settimeout(1.0)
            probe.connect(str(settings.socket_path))
            return True
    except OSError:
        return False
