"""Runs an engine core inside this process behind the worker client's interface, for measuring without a server."""

from __future__ import annotations

from collections.abc import AsyncIterator
from typing import Literal

from seqgpt_ui.errors import SeqGPTError
from seqgpt_ui.protocol import (
    Completion,
    GenerateItem,
    GenerateRequest,
    GenerateResponse,
    InfoResponse,
    ItemError,
    ItemResult,
    StreamEvent,
    TokenizerResponse,
)
from seqgpt_ui.worker.engine.core import EngineCore


class NeverStopped:
    """A control for work that nobody interrupts."""

    def stopped(self) -> Literal["cancelled", "deadline"] | None:
        """Never."""
        return None


class LocalClient:
    """Answers every request at once, one item after another."""

    def __init__(self, core: EngineCore) -> None:
        self._core = core

    async def generate(self, request: GenerateRequest, *, request_id: str | None = None) -> GenerateResponse:
        """Run all items; an item that fails carries its error."""
        return GenerateResponse(items=[self._answer(item) for item in request.items])

    def _answer(self, item: GenerateItem) -> ItemResult:
        try:
            completion: Completion = self._core.run(item, NeverStopped())
        except SeqGPTError as error:
            return ItemResult(error=ItemError(code=error.code, message=error.message, param=error.param))
        return ItemResult(completion=completion)

    async def stream(self, request: GenerateRequest, *, request_id: str | None = None) -> AsyncIterator[StreamEvent]:
        """The whole answer as one event."""
        yield StreamEvent(result=self._answer(request.items[0]))

    async def tokenizer(self) -> TokenizerResponse:
        """The core's tokenizer and format."""
        return self._core.tokenizer()

    async def info(self) -> InfoResponse:
        """Always ready."""
        return InfoResponse(state="ready", model=self._core.model)
