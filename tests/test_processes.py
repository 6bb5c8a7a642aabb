"""One worker is kept running: started, adopted, restarted, ended with its parent."""

from __future__ import annotations

import os
import signal
import socket
import subprocess
import sys
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

import pytest

from seqgpt_ui.locks import locked, private_folder
from seqgpt_ui.processes import WorkerKeeper, end_process, ensure_worker, is_answering
from seqgpt_ui.settings import PROJECT_ROOT, Settings
from tests.waiting import is_running, wait_until

# Listens where the worker would, says so, and ends when its parent's pipe closes.
CHILD = """
import os, socket, sys
path, log, fd = sys.argv[1], sys.argv[2], int(sys.argv[-1])
if os.path.exists(path):
    os.unlink(path)
server = socket.socket(socket.AF_UNIX)
server.bind(path)
server.listen()
with open(log, "a") as file:
    file.write(f"{os.getpid()} {os.environ.get('SEQGPT_PORT')}\\n")
os.read(fd, 1)
"""
PARENT = """
import sys
from pathlib import Path
from seqgpt_ui.processes import WorkerKeeper
from seqgpt_ui.settings import Settings
keeper = WorkerKeeper(Settings(data_dir=Path(sys.argv[1])), command=sys.argv[2:])
keeper.start()
sys.stdin.read()
"""


class Place:
    """Settings in a folder of their own, and what children wrote there."""

    def __init__(self, folder: Path) -> None:
        self.settings = Settings(data_dir=folder, drain_s=1.0)
        self.log = folder / "children"
        private_folder(self.settings.socket_path.parent)

    @property
    def command(self) -> tuple[str, ...]:
        return (sys.executable, "-c", CHILD, str(self.settings.socket_path), str(self.log))

    @property
    def pids(self) -> list[int]:
        """Every child that ever listened here."""
        lines = self.log.read_text().splitlines() if self.log.exists() else []
        return [int(line.split()[0]) for line in lines]

    @contextmanager
    def keeper(self, *command: str) -> Iterator[WorkerKeeper]:
        keeper = WorkerKeeper(self.settings, command=command or self.command)
        keeper.start()
        try:
            yield keeper
        finally:
            keeper.stop()

    def answers(self) -> bool:
        return is_answering(self.settings)


@pytest.fixture
def place(tmp_path: Path) -> Place:
    return Place(tmp_path)


def test_a_worker_is_started_and_ended(place: Place) -> None:
    with place.keeper() as keeper:
        wait_until(place.answers)
        during = keeper.child_pid
    assert during == place.pids[0]
    assert not is_running(during)
    assert keeper.child_pid is None
    assert not place.answers()


def test_the_child_has_the_parents_settings(place: Place) -> None:
    place.settings = Settings(data_dir=place.settings.data_dir, port=4321)
    with place.keeper():
        wait_until(place.answers)
    assert place.log.read_text().split()[1] == "4321"


def test_a_worker_that_dies_is_restarted(place: Place) -> None:
    with place.keeper():
        wait_until(place.answers)
        os.kill(place.pids[0], signal.SIGKILL)
        wait_until(lambda: len(place.pids) == 2)
        wait_until(place.answers)
        assert is_running(place.pids[1])
    assert not any(map(is_running, place.pids))


def test_a_worker_that_is_there_is_adopted_and_left_alone(place: Place) -> None:
    with socket.socket(socket.AF_UNIX) as server:
        server.bind(str(place.settings.socket_path))
        server.listen()
        with place.keeper() as keeper:
            server.accept()[0].close()
            server.accept()[0].close()
            assert keeper.child_pid is None
        assert place.pids == []


def test_an_adopted_worker_that_ends_is_replaced(place: Place) -> None:
    server = socket.socket(socket.AF_UNIX)
    server.bind(str(place.settings.socket_path))
    server.listen()
    with place.keeper():
        server.accept()[0].close()
        server.close()
        wait_until(lambda: place.pids)
        wait_until(place.answers)


def test_of_two_keepers_one_stands_by_and_takes_over(place: Place) -> None:
    with place.keeper() as second:
        wait_until(place.answers)
        first_pid = second.child_pid
        with place.keeper() as other:
            assert other.child_pid is None
            second.stop()
            wait_until(lambda: other.child_pid)
            wait_until(place.answers)
            assert len(place.pids) == 2
            assert other.child_pid != first_pid
    assert not any(map(is_running, place.pids))


@pytest.mark.parametrize("how", [signal.SIGKILL, signal.SIGTERM])
def test_a_child_ends_with_its_parent_however_that_ends(place: Place, how: signal.Signals) -> None:
    parent = subprocess.Popen(
        (sys.executable, "-c", PARENT, str(place.settings.data_dir), *place.command),
        cwd=PROJECT_ROOT,
        stdin=subprocess.PIPE,
    )
    try:
        wait_until(place.answers)
        (child,) = place.pids
        os.kill(parent.pid, how)
        wait_until(lambda: not is_running(child))
    finally:
        parent.kill()
        parent.communicate()


def test_a_command_that_fails_at_once_does_not_hinder_the_end(place: Place) -> None:
    with place.keeper(sys.executable, "-c", "raise SystemExit(3)") as keeper:
        wait_until(lambda: keeper._child is not None)
    assert keeper.child_pid is None


def test_stopping_before_anything_started_is_fine(place: Place) -> None:
    keeper = WorkerKeeper(place.settings, command=place.command)
    keeper.start()
    keeper.stop()
    assert not any(map(is_running, place.pids))


def test_a_child_that_does_not_listen_to_reason_is_killed() -> None:
    code = "import signal; signal.signal(signal.SIGTERM, signal.SIG_IGN); print('ready', flush=True); signal.pause()"
    child = subprocess.Popen((sys.executable, "-c", code), stdout=subprocess.PIPE, start_new_session=True)
    assert child.stdout is not None
    assert child.stdout.readline() == b"ready\n"
    end_process(child, patience_s=0.05)
    assert child.returncode == -signal.SIGKILL
    child.stdout.close()


@pytest.mark.parametrize(
    "settings",
    [Settings(children=False), Settings(supervised=True), Settings(worker_urls=("http://elsewhere",))],
    ids=["children off", "supervised", "workers elsewhere"],
)
def test_nothing_is_started_where_that_is_not_our_business(settings: Settings) -> None:
    with ensure_worker(settings) as keeper:
        assert keeper is None


def test_otherwise_a_keeper_runs_while_the_block_does(place: Place) -> None:
    with locked(place.settings.socket_path.with_suffix(".keeper")), ensure_worker(place.settings) as keeper:
        assert keeper is not None
        assert keeper.child_pid is None


def test_tcp_is_asked_where_tcp_is_set() -> None:
    with socket.create_server(("127.0.0.1", 0)) as server:
        port = server.getsockname()[1]
        assert is_answering(Settings(worker_host="127.0.0.1", worker_port=port))
    assert not is_answering(Settings(worker_host="127.0.0.1", worker_port=port))


def test_a_lock_is_held_once(tmp_path: Path) -> None:
    path = tmp_path / "lock"
    with locked(path), pytest.raises(BlockingIOError), locked(path):
        pass
    with locked(path):
        pass


def test_a_private_folder_is_only_for_its_owner(tmp_path: Path) -> None:
    folder = tmp_path / "a" / "b"
    private_folder(folder)
    assert folder.stat().st_mode & 0o777 == 0o700
    folder.chmod(0o755)
    private_folder(folder)
    assert folder.stat().st_mode & 0o777 == 0o700


def test_a_folder_of_somebody_else_is_refused(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    monkeypatch.setattr("os.getuid", lambda: 12345)
    with pytest.raises(PermissionError, match="another user"):
        private_folder(tmp_path)
