"""The whole product as processes of their own, started by ``python app.py`` as people start it."""

from __future__ import annotations

import signal
import socket
import subprocess
import sys
import tempfile
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any

import httpx

from seqgpt_ui.settings import Settings
from tests.integration.processes import process
from tests.waiting import wait_until

START_S, STOP_S = 120.0, 60.0


def free_port() -> int:
    """A port that nobody listens on right now."""
    with socket.create_server(("127.0.0.1", 0)) as probe:
        port: int = probe.getsockname()[1]
        return port


@contextmanager
def running_app(ready_path: str = "/readyz", **fields: Any) -> Iterator[str]:
    """Run the product with these settings until the block ends; gives its address once ``ready_path`` is 200."""
    with tempfile.TemporaryDirectory(prefix="seqgpt-") as folder:
        port, log = free_port(), Path(folder) / "log"
        settings = Settings(**{"port": port, "data_dir": Path(folder) / "data", "backend": "fake", **fields})
        with process((sys.executable, "app.py"), log, settings) as child:
            url = f"http://127.0.0.1:{port}"

            def is_answering() -> bool:
                assert child.poll() is None, f"app.py ended: {log.read_text(encoding='utf-8')[-4000:]}"
                return _status(url + ready_path) == 200

            wait_until(is_answering, timeout_s=START_S, what=url + ready_path)
            yield url
            stop(child)


def stop(child: subprocess.Popen[bytes]) -> int:
    """End the product politely, so that its worker ends too; the exit status."""
    child.send_signal(signal.SIGTERM)
    return child.wait(STOP_S)


def _status(url: str) -> int | None:
    try:
        return httpx.get(url, timeout=10).status_code
    except httpx.TransportError:
        return None
