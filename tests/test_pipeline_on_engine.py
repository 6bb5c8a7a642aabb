"""The pipeline on the real engine core, guides and tokenizer; only the probabilities are made up."""

from __future__ import annotations

import asyncio
import functools
from collections.abc import AsyncIterator
from typing import Any

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from seqgpt_ui.backends.fake import FakeBackend
from seqgpt_ui.decoding.vocabulary import Vocabulary
from seqgpt_ui.pipeline import Pipeline
from seqgpt_ui.protocol import (
    FormatMessage,
    GenerateRequest,
    GenerateResponse,
    InfoResponse,
    ItemResult,
    ModelInfo,
    StreamEvent,
    TokenizerResponse,
)
from seqgpt_ui.tasks.requests import ClassifyRequest, ExtractRequest, PromptRequest
from seqgpt_ui.tasks.results import FreeAnswer
from seqgpt_ui.worker.engine.core import EngineCore
from tests.checkpoints import tokenizer_json
from tests.controls import Running
from tests.fakes import LIBRARY

LIMIT = 256
MODEL = ModelInfo(
    name="test",
    is_demo=False,
    path="",
    num_parameters=0,
    vocab_size=512,
    backend="fake",
    device="none",
    dtype="none",
    quantization="none",
    max_prompt_tokens=LIMIT,
)
TEXTS = st.text(
    st.one_of(
        st.characters(exclude_categories=["Cs"]), st.sampled_from("张三李四北京大学，。；\t\n None[GEN]</s>💩𠀀")
    ),
    min_size=1,
    max_size=60,
).filter(str.strip)


class EngineClient:
    """A worker without a process around it."""

    def __init__(self, *, has_gen: bool) -> None:
        vocabulary = Vocabulary.from_json(tokenizer_json(with_gen=has_gen))
        answers = FormatMessage(has_gen=has_gen, label_separator="，", span_separator="\t", absent="None")
        self.core = EngineCore(FakeBackend(vocabulary), vocabulary, answers, MODEL)

    async def generate(self, request: GenerateRequest, *, request_id: str | None = None) -> GenerateResponse:
        sent = GenerateRequest.model_validate_json(request.model_dump_json())
        results = [ItemResult(completion=self.core.run(item, Running())) for item in sent.items]
        return GenerateResponse.model_validate_json(GenerateResponse(items=results).model_dump_json())

    async def stream(self, request: GenerateRequest, *, request_id: str | None = None) -> AsyncIterator[StreamEvent]:
        deltas: list[str] = []
        completion = self.core.run(request.items[0], Running(), deltas.append)
        for delta in deltas:
            yield StreamEvent(delta=delta)
        yield StreamEvent(result=ItemResult(completion=completion))

    async def tokenizer(self) -> TokenizerResponse:
        return self.core.tokenizer()

    async def info(self) -> InfoResponse:
        return InfoResponse(state="ready", model=MODEL)


@functools.cache
def pipeline(has_gen: bool = True) -> Pipeline:
    return Pipeline(EngineClient(has_gen=has_gen), LIBRARY)


@settings(max_examples=40, deadline=None)
@given(TEXTS, st.booleans(), st.sampled_from([None, True]))
def test_labels_are_always_those_asked(text: str, has_gen: bool, multi: bool | None) -> None:
    request = ClassifyRequest((text,), "投诉，投诉建议，bug report,3.5（外观）", multi_label=bool(multi))
    (result,) = asyncio.run(pipeline(has_gen).classify(request))
    labels = {"投诉", "投诉建议", "bug report", "3.5（外观）"}
    assert result.labels
    assert {item.label for item in result.labels} <= labels
    assert result.scores is not None
    assert set(result.scores) == labels
    assert multi or sum(score for score in result.scores.values() if score is not None) == pytest.approx(1.0)


@settings(max_examples=40, deadline=None)
@given(TEXTS, st.booleans())
def test_spans_are_always_pieces_of_the_text(text: str, has_gen: bool) -> None:
    (result,) = asyncio.run(pipeline(has_gen).extract(ExtractRequest((text,), "人名，地名，机构名")))
    for entity in result.entities:
        assert entity.start is not None
        assert text[entity.start : entity.end] == entity.text
        assert (entity.start, entity.end) in entity.occurrences
    assert not [notice for notice in result.warnings if notice.code == "unaligned_spans"]


@pytest.mark.parametrize("mode", ["fast", "precise", "official"])
@pytest.mark.parametrize("unit", ["张三在北京大学工作。", "没有标点的一段话", "The quick brown fox. "])
def test_long_texts_fit_the_engine_in_windows(mode: Any, unit: str) -> None:
    text = unit * 60
    (result,) = asyncio.run(pipeline().classify(ClassifyRequest((text,), "正面，负面", mode=mode)))
    assert result.windows > 1
    assert all(0 < shard.num_tokens <= LIMIT for shard in result.shards)


def test_a_label_set_beyond_the_context_reaches_a_final() -> None:
    labels = tuple(f"类别{number}" for number in range(80))
    (result,) = asyncio.run(pipeline().classify(ClassifyRequest(("一段短文本",), labels)))
    assert result.labels[0].label in labels
    assert [notice.code for notice in result.warnings] == ["labels_split"]


def test_the_counter_agrees_with_the_engine() -> None:
    async def ask() -> list[FreeAnswer]:
        return [
            await pipeline(has_gen).prompt(PromptRequest("输入: 好\n分类: 正面\n输出:")) for has_gen in (True, False)
        ]

    for has_gen, answer in zip((True, False), asyncio.run(ask()), strict=True):
        checkpoint = pipeline(has_gen)._checkpoint
        assert checkpoint is not None
        assert checkpoint.counter.count_prompt(answer.prompt) == answer.num_prompt_tokens


def test_a_free_prompt_streams_what_it_answers() -> None:
    async def collect() -> list[str | FreeAnswer]:
        return [piece async for piece in pipeline().stream_prompt(PromptRequest("问好"))]

    *pieces, answer = asyncio.run(collect())
    assert isinstance(answer, FreeAnswer)
    assert "".join(piece for piece in pieces if isinstance(piece, str)) == answer.text
