"""The real supervisord with the real configuration: worker and page come up, come back, and go without a trace."""

from __future__ import annotations

import os
import signal
import subprocess
import sys
from collections.abc import Iterator
from pathlib import Path

import httpx
import psutil
import pytest

from seqgpt_ui.protocol import GenerateRequest
from seqgpt_ui.settings import PROJECT_ROOT, Settings, child_environment
from tests.integration.processes import PATIENCE_S, ask, fake_settings, item, process
from tests.waiting import is_running, wait_until

BIN = Path(sys.executable).parent
# supervisord's code asks for packages in the old way.
QUIET = {"PYTHONWARNINGS": "ignore"}


class Supervised:
    """A running supervisord and the way to talk to it."""

    def __init__(self, conf: Path, settings: Settings, daemon: subprocess.Popen[bytes]) -> None:
        self.conf = conf
        self.settings = settings
        self.daemon = daemon

    def control(self, *words: str) -> str:
        """What ``supervisorctl`` prints."""
        result = subprocess.run(
            (str(BIN / "supervisorctl"), "-c", str(self.conf), *words),
            cwd=PROJECT_ROOT,
            env=child_environment(self.settings) | QUIET,
            capture_output=True,
            text=True,
            check=False,
            timeout=PATIENCE_S,
        )
        return result.stdout

    def pid(self, program: str) -> int:
        """The program's process, 0 while it has none."""
        answer = self.control("pid", program).strip()
        return int(answer) if answer.isdecimal() else 0

    def page(self, path: str) -> int:
        """HTTP status of the web process, 0 while it does not answer."""
        try:
            return httpx.get(f"http://127.0.0.1:{self.settings.port}{path}", trust_env=False, timeout=10).status_code
        except httpx.HTTPError:
            return 0

    def descendants(self) -> list[int]:
        return [child.pid for child in psutil.Process(self.daemon.pid).children(recursive=True)]


@pytest.fixture
def supervised(tmp_path: Path, free_port: int) -> Iterator[Supervised]:
    """supervisord.conf as it is, but its own files lie in a temporary folder."""
    settings = fake_settings(tmp_path, port=free_port, drain_s=2.0)
    (tmp_path / "data" / "run").mkdir(mode=0o700, parents=True)
    text = (PROJECT_ROOT / "supervisord.conf").read_text(encoding="utf-8")
    assert text.count("directory=%(here)s") == 1
    conf = tmp_path / "supervisord.conf"
    conf.write_text(text.replace("directory=%(here)s", f"directory={PROJECT_ROOT}"), encoding="utf-8")
    with process((str(BIN / "supervisord"), "-c", str(conf)), tmp_path / "log", settings, QUIET) as daemon:
        running = Supervised(conf, settings, daemon)
        try:
            wait_until(lambda: running.pid("worker"), what="supervisord starts the worker")
            yield running
        finally:
            left = running.descendants() if is_running(daemon.pid) else []
            daemon.terminate()
            wait_until(lambda: not is_running(daemon.pid), what="supervisord ends")
            assert not any(map(is_running, left))


def test_worker_and_page_run_recover_and_leave_nothing(supervised: Supervised) -> None:
    settings = supervised.settings
    ask(settings, lambda client: client.wait_ready(patience_s=PATIENCE_S))
    wait_until(lambda: supervised.page("/healthz") == 200, what="the page answers")
    first = supervised.pid("worker")
    web = supervised.pid("web")
    # The page started nothing of its own: supervisord's two programs are all there is.
    assert sorted(supervised.descendants()) == sorted((first, web))

    os.kill(first, signal.SIGKILL)
    wait_until(lambda: supervised.pid("worker") not in (0, first), what="the worker comes back")
    ask(settings, lambda client: client.wait_ready(patience_s=PATIENCE_S))
    answer = ask(settings, lambda client: client.generate(GenerateRequest(items=[item()])))
    assert answer.items[0].completion is not None
    assert supervised.pid("web") == web
    assert supervised.page("/healthz") == 200

    pids = supervised.descendants()
    assert "worker: stopped" in supervised.control("stop", "all")
    assert not any(map(is_running, pids))
    assert supervised.descendants() == []
    assert not settings.socket_path.exists()


def test_the_allocator_and_thread_settings_reach_the_worker(supervised: Supervised) -> None:
    environ = psutil.Process(supervised.pid("worker")).environ()
    assert environ["PYTORCH_ALLOC_CONF"] == "max_split_size_mb:128,garbage_collection_threshold:0.8"
    assert environ["MALLOC_ARENA_MAX"] == "2"
    assert environ["TOKENIZERS_PARALLELISM"] == "false"
    assert environ["SUPERVISOR_ENABLED"] == "1"


def test_its_log_is_on_standard_output_as_json(supervised: Supervised) -> None:
    ask(supervised.settings, lambda client: client.wait_ready(patience_s=PATIENCE_S))
    log = (supervised.conf.parent / "log").read_text()
    assert '"process": "worker"' in log
    assert "model loaded" in log
