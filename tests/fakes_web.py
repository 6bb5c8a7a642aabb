"""A pipeline that answers from a script, for tests of the web process: no worker, no model, no prompt."""

from __future__ import annotations

import asyncio
from collections.abc import AsyncGenerator, Callable
from dataclasses import dataclass, field, replace
from typing import Any

from seqgpt_ui.errors import SeqGPTError
from seqgpt_ui.pipeline import Pipeline
from seqgpt_ui.prompt.notice import Notice
from seqgpt_ui.protocol import InfoResponse, ModelInfo
from seqgpt_ui.tasks.requests import ClassifyRequest, ExtractRequest, PromptRequest
from seqgpt_ui.tasks.results import (
    Classification,
    Entity,
    Extraction,
    FreeAnswer,
    LabelScore,
    ShardTrace,
)

MODEL = ModelInfo(
    name="seqgpt-mini",
    is_demo=True,
    path="/models/seqgpt-mini",
    num_parameters=6_800_000,
    vocab_size=8192,
    backend="fake",
    device="cpu",
    dtype="float32",
    quantization="none",
    max_prompt_tokens=1024,
)
READY = InfoResponse(
    state="ready",
    model=MODEL,
    choice_reason="no SeqGPT-560M on this machine",
    num_waiting=1,
    num_running=2,
    max_queue=64,
    max_concurrency=2,
    uptime_s=3723.0,
    num_finished=12,
    tokens_per_s=321.0,
    rss_bytes=512 * 2**20,
    version="0.1.0",
)
LOADING = InfoResponse(state="loading", cause="loading seqgpt-mini")
NOTICE = Notice("duplicate_labels", "1 label was given twice", {"count": 1})


def shard(labels: tuple[str, ...], raw: str, end: int) -> ShardTrace:
    """One prompt over the first ``end`` characters."""
    return ShardTrace(f"输入: x\n分类: {'，'.join(labels)}\n输出: [GEN]", raw, labels, 0, end, 21, "stop")


def classification(**changes: Any) -> Classification:
    """A text labelled 体育 with a known score for every label."""
    labels = ("体育", "财经")
    base = Classification(
        labels=(LabelScore("体育", 0.75),),
        scores={"体育": 0.75, "财经": 0.25},
        prompt=shard(labels, "", 4).prompt,
        raw="体育\n",
        windows=1,
        num_tokens=21,
        warnings=(),
        shards=(shard(labels, "体育\n", 4),),
        template="official.v1",
        mode="fast",
        mass=0.5,
    )
    return replace(base, **changes)


def extraction(**changes: Any) -> Extraction:
    """One person found in ``小明在北京``, no place."""
    labels = ("人名", "地点")
    base = Extraction(
        entities=(Entity("人名", "小明", 0, 2, 0.9, ((0, 2),)),),
        fields={"人名": ("小明",), "地点": ()},
        prompt=shard(labels, "", 5).prompt,
        raw="人名: 小明\n地点: None\n",
        windows=1,
        num_tokens=23,
        warnings=(),
        shards=(shard(labels, "人名: 小明\n地点: None\n", 5),),
        template="official.v1",
        mode="fast",
    )
    return replace(base, **changes)


def free_answer(**changes: Any) -> FreeAnswer:
    """A short answer that ended by itself."""
    return replace(FreeAnswer("你好\n输出: [GEN]", "你好！\n", "stop", 5, 4, ()), **changes)


@dataclass
class ScriptedPipeline(Pipeline):
    """Answers what it was told to. ``error`` is raised instead; ``gate`` holds every answer back until it is set,
    ``mid_gate`` what follows the first piece of a stream.
    """

    classify_answer: Callable[[str], Classification] = lambda text: classification()
    extract_answer: Callable[[str], Extraction] = lambda text: extraction()
    free: FreeAnswer = field(default_factory=free_answer)
    deltas: tuple[str, ...] = ("你", "好！\n")
    state: InfoResponse | SeqGPTError = READY
    error: Exception | None = None
    stream_error: SeqGPTError | None = None
    gate: asyncio.Event | None = None
    mid_gate: asyncio.Event | None = None
    requests: list[Any] = field(default_factory=list)
    request_ids: list[str | None] = field(default_factory=list)
    is_cancelled: asyncio.Event = field(default_factory=asyncio.Event)
    is_started: asyncio.Event = field(default_factory=asyncio.Event)

    async def _admit(self, request: Any, request_id: str | None) -> None:
        self.requests.append(request)
        self.request_ids.append(request_id)
        self.is_started.set()
        await self._wait(self.gate)
        if self.error is not None:
            raise self.error

    async def _wait(self, gate: asyncio.Event | None) -> None:
        try:
            if gate is not None:
                await gate.wait()
        except asyncio.CancelledError:
            self.is_cancelled.set()
            raise

    async def classify(self, request: ClassifyRequest, *, request_id: str | None = None) -> list[Classification]:
        await self._admit(request, request_id)
        return [self.classify_answer(text) for text in request.texts]

    async def extract(self, request: ExtractRequest, *, request_id: str | None = None) -> list[Extraction]:
        await self._admit(request, request_id)
        return [self.extract_answer(text) for text in request.texts]

    async def prompt(self, request: PromptRequest, *, request_id: str | None = None) -> FreeAnswer:
        await self._admit(request, request_id)
        return self.free

    async def stream_prompt(
        self, request: PromptRequest, *, request_id: str | None = None
    ) -> AsyncGenerator[str | FreeAnswer, None]:
        await self._admit(request, request_id)
        for delta in self.deltas:
            yield delta
            await self._wait(self.mid_gate)
        if self.stream_error is not None:
            raise self.stream_error
        yield self.free

    async def info(self) -> InfoResponse:
        if isinstance(self.state, SeqGPTError):
            raise self.state
        return self.state
