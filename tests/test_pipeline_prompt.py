"""Free prompts through the pipeline, whole and streamed."""

from __future__ import annotations

import asyncio
import contextlib
from collections.abc import AsyncIterator
from dataclasses import replace
from typing import Any

import pytest

from seqgpt_ui import errors
from seqgpt_ui.pipeline import Pipeline
from seqgpt_ui.protocol import (
    GenerateRequest,
    ItemError,
    StreamEvent,
)
from seqgpt_ui.tasks.requests import PromptRequest
from seqgpt_ui.tasks.results import FreeAnswer
from tests.fakes import LIBRARY, ScriptedClient, completion


def free(client: ScriptedClient, request: PromptRequest) -> FreeAnswer:
    return asyncio.run(Pipeline(client, LIBRARY).prompt(request, request_id="r1"))


def test_a_free_prompt_is_sent_with_its_ending() -> None:
    client = ScriptedClient(lambda item: completion("好的\n", num_prompt_tokens=9))
    answer = free(client, PromptRequest("写一句话\n输出:", max_new_tokens=5, do_sample=True, temperature=0.5, seed=7))
    assert client.prompts == ["写一句话\n输出: [GEN]"]
    assert (answer.prompt, answer.text, answer.finish_reason) == ("写一句话\n输出: [GEN]", "好的\n", "stop")
    assert (answer.num_prompt_tokens, answer.num_tokens) == (9, 3)
    params = client.items[0].params
    assert (params.max_new_tokens, params.do_sample, params.temperature, params.seed) == (5, True, 0.5, 7)
    assert client.items[0].constraint is None


def test_free_prompts_are_looked_over() -> None:
    client = ScriptedClient(lambda item: completion("x", finish_reason="length"))
    answer = free(client, PromptRequest("输入: 好\n分类: 正面,负面"))
    assert [notice.code for notice in answer.warnings] == [
        "missing_output_mark",
        "half_width_commas",
        "truncated_output",
    ]


@pytest.mark.parametrize(
    ("values", "kind", "param"),
    [
        ({"prompt": " \n"}, errors.InvalidRequest, "prompt"),
        ({"prompt": "a\udc00"}, errors.InvalidRequest, "prompt"),
        ({"prompt": "好" * 2000}, errors.TextTooLong, "prompt"),
        ({"prompt": "好" * 100_001}, errors.TextTooLong, "prompt"),
        ({"max_new_tokens": 0}, errors.InvalidRequest, "max_new_tokens"),
        ({"repetition_penalty": 9.0}, errors.InvalidRequest, "repetition_penalty"),
        ({"temperature": 0.0}, errors.InvalidRequest, "temperature"),
        ({"top_p": 1.5}, errors.InvalidRequest, "top_p"),
        ({"seed": -1}, errors.InvalidRequest, "seed"),
        ({"deadline_s": -1.0}, errors.InvalidRequest, "deadline_s"),
    ],
)
def test_bad_free_prompts_are_refused(values: dict[str, Any], kind: type[errors.InvalidRequest], param: str) -> None:
    client = ScriptedClient(lambda item: completion("x"))
    with pytest.raises(kind) as caught:
        free(client, replace(PromptRequest("好"), **values))
    assert caught.value.param == param
    assert client.requests == []


def stream(client: ScriptedClient, request: PromptRequest) -> list[str | FreeAnswer]:
    async def collect() -> list[str | FreeAnswer]:
        return [piece async for piece in Pipeline(client, LIBRARY).stream_prompt(request, request_id="r1")]

    return asyncio.run(collect())


def test_a_streamed_prompt_gives_pieces_and_then_the_answer() -> None:
    client = ScriptedClient(lambda item: completion("你好\n"))
    client.deltas = ["你", "", "好\n"]
    *pieces, answer = stream(client, PromptRequest("问好"))
    assert pieces == ["你", "好\n"]
    assert isinstance(answer, FreeAnswer)
    assert answer.text == "你好\n"
    assert client.requests[0].stream
    assert client.closed


def test_leaving_a_stream_closes_the_workers() -> None:
    client = ScriptedClient(lambda item: completion("你好\n"))
    client.deltas = ["你", "好"]

    async def leave() -> None:
        async with contextlib.aclosing(Pipeline(client, LIBRARY).stream_prompt(PromptRequest("问好"))) as pieces:
            assert await anext(pieces) == "你"
        assert client.closed

    asyncio.run(leave())


def test_a_failing_stream_raises_its_error() -> None:
    client = ScriptedClient(lambda item: ItemError(code="deadline_exceeded", message="late"))
    client.deltas = ["你"]
    with pytest.raises(errors.DeadlineExceeded):
        stream(client, PromptRequest("问好"))


def test_a_stream_without_a_result_is_a_worker_error() -> None:
    class Broken(ScriptedClient):
        async def stream(
            self, request: GenerateRequest, *, request_id: str | None = None
        ) -> AsyncIterator[StreamEvent]:
            yield StreamEvent(delta="你")

    with pytest.raises(errors.WorkerError, match="without a result"):
        stream(Broken(lambda item: completion()), PromptRequest("问好"))
