"""Waiting for what another process or thread does, with an end."""

from __future__ import annotations

import threading
import time
from collections.abc import Callable

import psutil

PATIENCE_S = 60.0


def wait_until(condition: Callable[[], object], *, timeout_s: float = PATIENCE_S, what: str = "") -> None:
    """Return as soon as ``condition`` holds; fail the test when it does not in time."""
    ends_s = time.monotonic() + timeout_s
    pause = threading.Event()
    while not condition():
        assert time.monotonic() < ends_s, f"did not happen in {timeout_s} s: {what or condition}"
        pause.wait(0.02)


def is_running(pid: int) -> bool:
    """Whether a process of this id runs; one that ended and was not yet collected does not."""
    try:
        return psutil.Process(pid).status() != psutil.STATUS_ZOMBIE
    except psutil.NoSuchProcess:
        return False
