"""The real worker process over its real socket: answers, limits, leaving, signals, crashes."""

from __future__ import annotations

import asyncio
import os
import signal
import stat
import subprocess
import sys
from collections.abc import Iterator
from pathlib import Path

import pytest

from seqgpt_ui.client import WorkerClient
from seqgpt_ui.errors import QueueFull, WorkerUnavailable
from seqgpt_ui.processes import is_answering
from seqgpt_ui.protocol import GenerateItem, GenerateRequest, SegmentMessage
from seqgpt_ui.settings import PROJECT_ROOT, Settings, child_environment
from tests.integration.processes import (
    PATIENCE_S,
    ask,
    fake_settings,
    item,
    long_request,
    process,
    worker_process,
)
from tests.waiting import wait_until


@pytest.fixture(scope="module")
def shared(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Settings]:
    """One worker for the tests that leave it as it was: one place at the model, one place to wait."""
    settings = fake_settings(tmp_path_factory.mktemp("worker"), max_concurrency=1, max_queue=1)
    with worker_process(settings):
        yield settings


async def until_state(client: WorkerClient, *, running: int, waiting: int) -> None:
    """Return when the worker counts so many requests."""
    async with asyncio.timeout(PATIENCE_S):
        while True:
            info = await client.info()
            if (info.num_running, info.num_waiting) == (running, waiting):
                return
            await asyncio.sleep(0.02)


def test_it_classifies(shared: Settings) -> None:
    request = GenerateRequest(items=[item("很好"), item("很差")])
    answer = ask(shared, lambda client: client.generate(request))
    for result in answer.items:
        assert result.completion is not None
        assert result.completion.text in ("正面", "负面")
    again = ask(shared, lambda client: client.generate(request))
    assert [r.completion.choices for r in again.items if r.completion] == [
        r.completion.choices for r in answer.items if r.completion
    ]


def test_it_streams(shared: Settings) -> None:
    free = GenerateItem(segments=[SegmentMessage(text="说: \n输出:", is_content=False)])

    async def main(client: WorkerClient) -> None:
        events = [event async for event in client.stream(GenerateRequest(items=[free]))]
        result = events[-1].result
        assert result is not None
        assert result.completion is not None
        assert len(events) > 2
        assert "".join(event.delta for event in events) == result.completion.text

    ask(shared, main)


def test_its_tokenizer_is_the_checkpoints(shared: Settings) -> None:
    tokenizer = ask(shared, lambda client: client.tokenizer())
    assert tokenizer.gen_id is not None
    assert tokenizer.format.has_gen


def test_its_socket_is_private(shared: Settings) -> None:
    assert stat.S_IMODE(shared.socket_path.parent.stat().st_mode) == 0o700


def test_beyond_its_queue_it_refuses_and_who_leaves_frees_the_place(shared: Settings) -> None:
    async def main(client: WorkerClient) -> None:
        first = asyncio.ensure_future(client.generate(long_request()))
        await until_state(client, running=1, waiting=0)
        second = asyncio.ensure_future(client.generate(long_request()))
        await until_state(client, running=1, waiting=1)
        with pytest.raises(QueueFull) as caught:
            await client.generate(GenerateRequest(items=[item()]))
        assert (caught.value.retry_after_s or 0) >= 1
        for leaving, left in ((second, 1), (first, 0)):
            leaving.cancel()
            await until_state(client, running=left, waiting=0)
        answer = await client.generate(GenerateRequest(items=[item()]))
        assert answer.items[0].completion is not None

    ask(shared, main)


def test_a_second_worker_on_the_same_socket_ends_and_says_why(shared: Settings) -> None:
    log = shared.data_dir.parent / "second.log"
    with process((sys.executable, "-m", "seqgpt_ui.worker"), log, shared) as child:
        assert child.wait(PATIENCE_S) == 3
    assert "another worker" in log.read_text()
    assert ask(shared, lambda client: client.info()).state == "ready"


def test_the_command_line_goes_through_it(shared: Settings) -> None:
    log = shared.data_dir.parent / "cli.log"
    command = (sys.executable, "-m", "seqgpt_ui", "classify", "--labels", "正面,负面", "很好")
    with process(command, log, shared) as child:
        assert child.wait(PATIENCE_S) == 0
    assert log.read_text().split()[0] in ("正面", "负面")
    assert ask(shared, lambda client: client.info()).state == "ready"


def test_the_command_line_starts_a_worker_where_none_runs(tmp_path: Path) -> None:
    settings = fake_settings(tmp_path)
    log = tmp_path / "cli.log"
    command = (sys.executable, "-m", "seqgpt_ui", "extract", "--fields", "人名", "张三来了")
    with process(command, log, settings) as child:
        assert child.wait(PATIENCE_S) == 0
    assert log.read_text().splitlines()[0] == "张三来了"
    assert not settings.socket_path.exists()


def test_a_term_signal_finishes_what_runs_and_refuses_the_rest(tmp_path: Path) -> None:
    settings = fake_settings(tmp_path, max_concurrency=1, max_queue=4, drain_s=5.0)
    with worker_process(settings) as child:

        async def main(client: WorkerClient) -> None:
            first = asyncio.ensure_future(client.generate(long_request()))
            await until_state(client, running=1, waiting=0)
            second = asyncio.ensure_future(client.generate(long_request()))
            await until_state(client, running=1, waiting=1)
            os.kill(child.pid, signal.SIGTERM)
            for answer in await asyncio.gather(first, second):
                unfinished = [result.error for result in answer.items if result.error]
                assert {error.code for error in unfinished} == {"worker_unavailable"}
                assert all(error.retryable for error in unfinished)

        ask(settings, main)
        assert child.wait(PATIENCE_S) == 0
    assert not settings.socket_path.exists()


def test_a_killed_worker_breaks_its_callers_and_its_successor_takes_the_socket(tmp_path: Path) -> None:
    settings = fake_settings(tmp_path)
    with worker_process(settings) as child:

        async def main(client: WorkerClient) -> None:
            waiting = asyncio.ensure_future(client.generate(long_request()))
            await until_state(client, running=1, waiting=0)
            os.kill(child.pid, signal.SIGKILL)
            with pytest.raises(WorkerUnavailable):
                await waiting

        ask(settings, main)
        child.wait()
    assert settings.socket_path.exists()
    with worker_process(settings):
        answer = ask(settings, lambda client: client.generate(GenerateRequest(items=[item()])))
        assert answer.items[0].completion is not None


def test_a_worker_without_a_checkpoint_stays_and_tells_why(tmp_path: Path) -> None:
    settings = Settings(checkpoint=str(tmp_path / "none"), data_dir=tmp_path / "data")
    log = tmp_path / "worker.log"
    with process((sys.executable, "-m", "seqgpt_ui.worker"), log, settings) as child:

        async def main(client: WorkerClient) -> None:
            with pytest.raises(WorkerUnavailable, match="neither a folder"):
                await client.wait_ready(patience_s=PATIENCE_S)
            info = await client.info()
            assert info.state == "failed"
            assert "download" in (info.cause or "")

        ask(settings, main)
        assert child.poll() is None
        os.kill(child.pid, signal.SIGTERM)
        assert child.wait(PATIENCE_S) == 0


def test_a_term_signal_while_loading_ends_it(tmp_path: Path) -> None:
    folder = Path(fake_settings(tmp_path).checkpoint)
    for name in ("config.json", "model.safetensors"):
        (folder / name).touch()
    settings = Settings(checkpoint=str(folder), data_dir=tmp_path / "data")
    with process((sys.executable, "-m", "seqgpt_ui.worker"), tmp_path / "worker.log", settings) as child:
        wait_until(lambda: settings.socket_path.exists() and is_answering(settings), what="the worker listens")
        os.kill(child.pid, signal.SIGTERM)
        assert child.wait(PATIENCE_S) == 0
    assert not settings.socket_path.exists()


def test_a_wrong_setting_stops_the_start(tmp_path: Path) -> None:
    log = tmp_path / "worker.log"
    command = (sys.executable, "-m", "seqgpt_ui.worker")
    with process(command, log, fake_settings(tmp_path), {"SEQGPT_MAX_QUEUE": "many"}) as child:
        assert child.wait(PATIENCE_S) == 2
    assert "SEQGPT_MAX_QUEUE='many'" in log.read_text()


def test_it_ends_with_the_pipe_of_its_parent(tmp_path: Path) -> None:
    settings = fake_settings(tmp_path)
    read_end, write_end = os.pipe()
    command = (sys.executable, "-m", "seqgpt_ui.worker", "--parent-fd", "0")
    child = subprocess.Popen(command, cwd=PROJECT_ROOT, env=child_environment(settings), stdin=read_end)
    try:
        os.close(read_end)
        ask(settings, lambda client: client.wait_ready(patience_s=PATIENCE_S))
        os.close(write_end)
        wait_until(lambda: child.poll() is not None)
        assert child.returncode == 0
    finally:
        child.kill()
        child.wait()


def test_tcp_instead_of_the_socket(tmp_path: Path, free_port: int) -> None:
    settings = fake_settings(tmp_path, worker_host="127.0.0.1", worker_port=free_port)
    with worker_process(settings):
        answer = ask(settings, lambda client: client.generate(GenerateRequest(items=[item()])))
        assert answer.items[0].completion is not None
    assert not settings.socket_path.exists()
