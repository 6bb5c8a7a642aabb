"""Real processes of the product, each in a folder of its own, ended by their ids whatever happens."""

from __future__ import annotations

import asyncio
import os
import signal
import subprocess
import sys
from collections.abc import Callable, Coroutine, Iterator, Mapping, Sequence
from contextlib import contextmanager, suppress
from pathlib import Path
from typing import Any, TypeVar

from seqgpt_ui.client import WorkerClient
from seqgpt_ui.protocol import (
    ChoiceConstraint,
    GenerateItem,
    GenerateRequest,
    SegmentMessage,
)
from seqgpt_ui.settings import PROJECT_ROOT, Settings, child_environment
from tests.checkpoints import tokenizer_json

T = TypeVar("T")
PATIENCE_S = 90.0


def fake_settings(folder: Path, **fields: Any) -> Settings:
    """Settings of a product without weights that keeps everything in ``folder``."""
    checkpoint = folder / "checkpoint"
    checkpoint.mkdir(exist_ok=True)
    (checkpoint / "tokenizer.json").write_text(tokenizer_json(), encoding="utf-8")
    return Settings(checkpoint=str(checkpoint), backend="fake", data_dir=folder / "data", **fields)


@contextmanager
def process(
    command: Sequence[str], log: Path, settings: Settings, extra: Mapping[str, str] | None = None
) -> Iterator[subprocess.Popen[bytes]]:
    """Run a command from the project's folder, output to ``log``; its whole group is gone afterwards."""
    environ = child_environment(settings) | {"PATH": f"{Path(sys.executable).parent}:{os.defpath}"} | dict(extra or {})
    with log.open("ab") as output:
        child = subprocess.Popen(
            command, cwd=PROJECT_ROOT, env=environ, stdout=output, stderr=output, start_new_session=True
        )
    try:
        yield child
    finally:
        with suppress(ProcessLookupError):
            os.killpg(child.pid, signal.SIGKILL)
        child.wait()


@contextmanager
def worker_process(settings: Settings) -> Iterator[subprocess.Popen[bytes]]:
    """``python -m seqgpt_ui.worker``, ready inside."""
    log = settings.data_dir.parent / "worker.log"
    with process((sys.executable, "-m", "seqgpt_ui.worker"), log, settings) as child:
        ask(settings, lambda client: client.wait_ready(patience_s=PATIENCE_S))
        yield child


def ask(settings: Settings, call: Callable[[WorkerClient], Coroutine[Any, Any, T]]) -> T:
    """What a client of these settings is told."""

    async def main() -> T:
        client = WorkerClient.from_settings(settings)
        try:
            return await asyncio.wait_for(call(client), PATIENCE_S)
        finally:
            await client.aclose()

    return asyncio.run(main())


def item(text: str = "好", choices: Sequence[str] = ("正面", "负面")) -> GenerateItem:
    """One prompt in the official form."""
    segments = [
        SegmentMessage(text="输入: ", is_content=False),
        SegmentMessage(text=text, is_content=True),
        SegmentMessage(text="\n分类: 正面，负面\n输出: [GEN]", is_content=False),
    ]
    return GenerateItem(segments=segments, constraint=ChoiceConstraint(choices=list(choices)))


def long_request() -> GenerateRequest:
    """Keeps a worker without weights busy until somebody leaves: many items of many choices."""
    return GenerateRequest(items=[item("忙" * 200, [f"选项{number}" for number in range(400)])] * 256, deadline_s=600)
