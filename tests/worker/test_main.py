"""Starting the worker: socket, lock, settings, signals; without starting a process."""

from __future__ import annotations

import os
import signal
import socket
import stat
import threading
from pathlib import Path
from typing import Any

import pytest

from seqgpt_ui.settings import Settings
from seqgpt_ui.worker import __main__ as worker
from seqgpt_ui.worker.metrics import WorkerMetrics
from tests.waiting import wait_until


def test_the_socket_lies_in_a_private_folder_and_goes_with_the_worker(tmp_path: Path) -> None:
    settings = Settings(data_dir=tmp_path)
    with worker.bound_socket(settings) as server:
        assert server.getsockname() == str(settings.socket_path)
        assert stat.S_IMODE(settings.socket_path.parent.stat().st_mode) == 0o700
    assert not settings.socket_path.exists()


def test_a_socket_has_one_worker(tmp_path: Path) -> None:
    settings = Settings(data_dir=tmp_path)
    with worker.bound_socket(settings):
        with pytest.raises(BlockingIOError), worker.bound_socket(settings):
            pass
        assert settings.socket_path.exists()
        assert worker.serve(settings) == worker.EXIT_TAKEN


def test_a_socket_that_a_killed_worker_left_is_taken_over(tmp_path: Path) -> None:
    settings = Settings(data_dir=tmp_path)
    settings.socket_path.parent.mkdir(parents=True)
    settings.socket_path.write_text("left behind")
    with worker.bound_socket(settings):
        assert settings.socket_path.is_socket()


def test_tcp_instead_of_the_socket(tmp_path: Path) -> None:
    with socket.create_server(("127.0.0.1", 0)) as probe:
        address = probe.getsockname()
    settings = Settings(data_dir=tmp_path, worker_host=address[0], worker_port=address[1])
    with worker.bound_socket(settings) as server:
        assert server.getsockname() == address
    assert not settings.socket_path.exists()


def test_wrong_settings_stop_the_start(monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]) -> None:
    monkeypatch.setenv("SEQGPT_MAX_QUEUE", "lots")
    assert worker.main([]) == worker.EXIT_SETTINGS
    assert "SEQGPT_MAX_QUEUE='lots'" in capsys.readouterr().err


def test_a_closed_pipe_means_that_the_parent_is_gone(monkeypatch: pytest.MonkeyPatch) -> None:
    told: list[tuple[int, int]] = []
    heard = threading.Event()

    def kill(pid: int, sig: int) -> None:
        told.append((pid, sig))
        heard.set()

    monkeypatch.setattr("os.kill", kill)
    read_end, write_end = os.pipe()
    worker.watch_parent(read_end)
    os.write(write_end, b"x")
    assert not heard.is_set()
    os.close(write_end)
    assert heard.wait(20)
    assert told == [(os.getpid(), signal.SIGTERM)]
    wait_until(lambda: not any(thread.name == "parent-watch" for thread in threading.enumerate()))
    os.close(read_end)


def server(**fields: Any) -> worker.WorkerServer:
    return worker.WorkerServer(Settings(**fields), WorkerMetrics())


@pytest.mark.parametrize(
    ("signals", "insists"),
    [("TERM", False), ("INT", False), ("TERM TERM", False), ("TERM INT", True), ("INT INT", True)],
)
def test_a_signal_asks_the_server_to_end_and_a_second_interrupt_insists(signals: str, insists: bool) -> None:
    running = server()
    for name in signals.split():
        running.handle_exit(signal.Signals[f"SIG{name}"], None)
    assert (running.should_exit, running.force_exit) == (True, insists)
    assert running._captured_signals == []


def test_a_broken_engine_ends_the_process() -> None:
    running = server()
    running.broken()
    assert (running.should_exit, running.is_broken) == (True, True)


def test_connections_get_longer_than_the_running_item() -> None:
    assert server(drain_s=3.2).config.timeout_graceful_shutdown == 5


def test_a_missing_checkpoint_is_the_cause_that_is_told(tmp_path: Path) -> None:
    running = server(checkpoint=str(tmp_path / "none"), data_dir=tmp_path)
    running._engine.start()
    wait_until(lambda: running._engine.state == "failed")
    assert "neither a folder" in (running._engine.cause or "")


def test_the_fake_backend_loads_a_tokenizer_and_nothing_else(tmp_path: Path) -> None:
    from tests.checkpoints import tokenizer_json

    (tmp_path / "tokenizer.json").write_text(tokenizer_json(), encoding="utf-8")
    loaded = worker.load(Settings(checkpoint=str(tmp_path), backend="fake"))
    assert loaded.core.model.backend == "fake"
    assert loaded.choice_reason == "named by SEQGPT_CHECKPOINT"
