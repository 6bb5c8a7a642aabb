"""What the buttons do, without any widget."""

from __future__ import annotations

import asyncio

import pytest

from seqgpt_ui.api.service import Service
from seqgpt_ui.errors import QueueFull, WorkerUnavailable
from seqgpt_ui.prompt.templates import TemplateLibrary
from seqgpt_ui.settings import Settings
from seqgpt_ui.tasks.requests import ClassifyRequest, ExtractRequest, PromptRequest
from seqgpt_ui.ui.handlers import Handlers
from seqgpt_ui.ui.presenters.free_prompt import FreeView
from tests.fakes_web import ScriptedPipeline

pytestmark = pytest.mark.anyio


@pytest.fixture
def anyio_backend() -> str:
    return "asyncio"


@pytest.fixture
async def pipeline() -> ScriptedPipeline:
    return ScriptedPipeline()


@pytest.fixture
async def handlers(pipeline: ScriptedPipeline) -> Handlers:
    return Handlers(Service(pipeline, TemplateLibrary.from_folder(), Settings(deadline_s=30)))


async def test_classify_one_text(handlers: Handlers, pipeline: ScriptedPipeline) -> None:
    view = await handlers.classify("a\nb", False, "x，y", False, 0, False, "fast", "sentiment.v1", "en")
    assert view.bars == {"体育": 0.75, "财经": 0.25}
    assert pipeline.requests == [
        ClassifyRequest(texts=("a\nb",), labels="x，y", template="sentiment.v1", deadline_s=30)
    ]


async def test_classify_lines(handlers: Handlers, pipeline: ScriptedPipeline) -> None:
    view = await handlers.classify("a\n\n  \nb\r\nc", True, "x", True, 0.5, True, "precise", "", "en")
    assert [row[0] for row in view.rows] == ["a", "b", "c"]
    (request,) = pipeline.requests
    assert request == ClassifyRequest(
        texts=("a", "b", "c"),
        labels="x",
        multi_label=True,
        threshold=0.5,
        all_scores=True,
        mode="precise",
        template=None,
        deadline_s=30,
    )


async def test_blank_text_is_left_to_the_pipeline_to_refuse(handlers: Handlers, pipeline: ScriptedPipeline) -> None:
    await handlers.classify("  ", True, "x", False, 0, False, "fast", "", "en")
    assert pipeline.requests[0].texts == ("  ",)


async def test_classify_error_is_shown(handlers: Handlers, pipeline: ScriptedPipeline) -> None:
    pipeline.error = QueueFull("the queue is full")
    view = await handlers.classify("a", False, "x", False, 0, False, "fast", "", "zh")
    assert "现在很忙" in view.notes
    assert view.bars is None


async def test_extract(handlers: Handlers, pipeline: ScriptedPipeline) -> None:
    view = await handlers.extract("小明在北京", "人名，地点", "fast", "entities.v1", "zh")
    assert view.segments == [("小明", "人名"), ("在北京", None)]
    assert pipeline.requests == [
        ExtractRequest(texts=("小明在北京",), fields="人名，地点", template="entities.v1", deadline_s=30)
    ]


async def test_extract_error_is_shown(handlers: Handlers, pipeline: ScriptedPipeline) -> None:
    pipeline.error = WorkerUnavailable("starting")
    assert "not ready" in (await handlers.extract("a", "x", "fast", "", "en")).notes


async def views(handlers: Handlers, seed: float | None = None) -> list[FreeView]:
    return [view async for view in handlers.prompt("p", 16.0, 1.1, True, 0.7, 0.9, seed, "en")]


async def test_prompt_grows(handlers: Handlers, pipeline: ScriptedPipeline) -> None:
    first, second, last = await views(handlers, seed=3.0)
    assert (first.answer, second.answer, last.answer) == ("你", "你好！\n", "你好！")
    assert pipeline.requests == [
        PromptRequest(
            "p",
            max_new_tokens=16,
            repetition_penalty=1.1,
            do_sample=True,
            temperature=0.7,
            top_p=0.9,
            seed=3,
            deadline_s=30,
        )
    ]


async def test_prompt_error_keeps_what_was_written(handlers: Handlers, pipeline: ScriptedPipeline) -> None:
    pipeline.stream_error = QueueFull("full")
    *_, last = await views(handlers)
    assert last.answer == "你好！\n"
    assert "busy" in last.notes


async def test_prompt_error_at_once(handlers: Handlers, pipeline: ScriptedPipeline) -> None:
    pipeline.error = QueueFull("full")
    (only,) = await views(handlers)
    assert only.answer == ""


async def test_stopping_ends_the_work(handlers: Handlers, pipeline: ScriptedPipeline) -> None:
    pipeline.mid_gate = asyncio.Event()
    running = asyncio.create_task(views(handlers))
    await asyncio.wait_for(pipeline.is_started.wait(), 5)
    running.cancel()
    await asyncio.wait_for(pipeline.is_cancelled.wait(), 5)


async def test_info_of_a_worker_that_does_not_answer(handlers: Handlers, pipeline: ScriptedPipeline) -> None:
    pipeline.state = WorkerUnavailable("no worker answers")
    info = await handlers.info()
    assert (info.state, info.cause) == ("loading", "no worker answers")
