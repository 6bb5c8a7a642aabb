"""A core that a test steers: what an item's text says decides how it ends."""

from __future__ import annotations

import asyncio
import threading
from collections.abc import Callable, Coroutine
from typing import Any, TypeVar

from seqgpt_ui.backends.base import Control
from seqgpt_ui.errors import EngineFailed, InvalidRequest, TextTooLong, raise_if_stopped
from seqgpt_ui.protocol import (
    Completion,
    FormatMessage,
    GenerateItem,
    GenerateRequest,
    ModelInfo,
    SegmentMessage,
    TokenizerResponse,
)
from seqgpt_ui.worker.engine.bridge import AsyncEngine
from seqgpt_ui.worker.engine.contract import Loaded

T = TypeVar("T")
PATIENCE_S = 20.0
MODEL = ModelInfo(
    name="stub",
    is_demo=True,
    path="/nowhere",
    num_parameters=1,
    vocab_size=2,
    backend="stub",
    device="none",
    dtype="none",
    quantization="none",
    max_prompt_tokens=1024,
)


class StubCore:
    """Echoes. ``hold ...`` blocks until ``release`` or a reason to stop; ``fail``, ``bug`` and ``bad`` raise."""

    model = MODEL

    def __init__(self) -> None:
        self.ran: list[str] = []
        self.holding = threading.Event()
        self.release = threading.Event()
        self.tokenizer_calls = 0

    def tokenizer(self) -> TokenizerResponse:
        self.tokenizer_calls += 1
        answer_format = FormatMessage(has_gen=True, label_separator="，", span_separator="\t", absent="None")
        return TokenizerResponse(tokenizer_json="{}", format=answer_format, gen_id=7, max_prompt_tokens=1024)

    def memory_bytes(self) -> int | None:
        return 12

    def run(self, item: GenerateItem, control: Control, on_text: Callable[[str], None] | None = None) -> Completion:
        text = item.segments[0].text
        self.ran.append(text)
        word = text.split()[0]
        if word == "hold":
            self._hold(control)
        if word == "fail":
            raise EngineFailed("the device is gone")
        if word == "bug":
            raise KeyError("secret text of a caller")
        if word == "bad":
            raise TextTooLong("the prompt is too long", param="segments")
        if word == "refuse":
            raise InvalidRequest("no")
        for piece in text.split() if on_text else ():
            on_text(piece) if on_text else None
        return completion(text, "cancelled" if word == "halted" else "stop")

    def _hold(self, control: Control) -> None:
        self.holding.set()
        while not self.release.wait(0.005):
            raise_if_stopped(control.stopped())


def completion(text: str, finish_reason: Any = "stop") -> Completion:
    """An answer of three prompt tokens and two of its own."""
    return Completion(text=text, finish_reason=finish_reason, num_prompt_tokens=3, num_completion_tokens=2)


def request(*texts: str, **fields: Any) -> GenerateRequest:
    """One item per text."""
    items = [GenerateItem(segments=[SegmentMessage(text=text, is_content=True)]) for text in texts]
    return GenerateRequest(items=items, **fields)


def run(main: Coroutine[Any, Any, T]) -> T:
    """Run one coroutine to its end, but not for ever."""

    async def bounded() -> T:
        return await asyncio.wait_for(main, PATIENCE_S)

    return asyncio.run(bounded())


async def eventually(condition: Callable[[], bool]) -> None:
    """Wait until ``condition`` holds."""
    async with asyncio.timeout(PATIENCE_S):
        while not condition():  # noqa: ASYNC110 - what is watched has no event of its own
            await asyncio.sleep(0.005)


async def started(core: StubCore | None = None, **options: Any) -> tuple[AsyncEngine, StubCore]:
    """A ready engine around a stub."""
    stub = core or StubCore()
    engine = AsyncEngine(lambda: Loaded(stub, "only this one"), **options)
    engine.start()
    await eventually(lambda: engine.state == "ready")
    return engine, stub
