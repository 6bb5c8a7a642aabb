"""Requests through the pipeline with a scripted worker: checks, rounds, order, errors."""

from __future__ import annotations

import asyncio
import math
from dataclasses import replace
from typing import Any

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from tokenizers import Tokenizer

from seqgpt_ui import errors
from seqgpt_ui.pipeline import Limits, Pipeline
from seqgpt_ui.protocol import (
    ChoiceConstraint,
    Completion,
    CopyConstraint,
    GenerateItem,
    InfoResponse,
    ItemError,
)
from seqgpt_ui.tasks.requests import ClassifyRequest, ExtractRequest
from seqgpt_ui.tasks.results import Classification, Extraction
from tests.fakes import LIBRARY, Answer, ScriptedClient, completion, find_values, prefer, tokenizer_response

SENTIMENT = "正面,负面、中性"


def classify(client: ScriptedClient, request: ClassifyRequest, limits: Limits | None = None) -> list[Classification]:
    return asyncio.run(Pipeline(client, LIBRARY, limits).classify(request, request_id="r1"))


def extract(client: ScriptedClient, request: ExtractRequest, limits: Limits | None = None) -> list[Extraction]:
    return asyncio.run(Pipeline(client, LIBRARY, limits).extract(request, request_id="r1"))


def test_a_text_is_labelled() -> None:
    client = ScriptedClient(prefer("负面"))
    (result,) = classify(client, ClassifyRequest((" 不好用 ",), SENTIMENT))
    assert [item.label for item in result.labels] == ["负面"]
    assert client.prompts == ["输入: 不好用\n分类: 正面，负面，中性\n输出: [GEN]"]
    assert client.request_ids == ["r1"]
    assert client.num_tokenizer_calls == 1
    item = client.items[0]
    assert isinstance(item.constraint, ChoiceConstraint)
    assert item.params.mode == "fast"
    assert (client.requests[0].priority, client.requests[0].stream) == ("interactive", False)
    assert 59.0 < client.requests[0].deadline_s <= 60.0


def test_fields_are_found() -> None:
    client = ScriptedClient(find_values({"人名": ["张三"], "地名": ["北京"]}))
    (result,) = extract(client, ExtractRequest(("\n张三在北京",), "人名；地名"))
    assert [(entity.field, entity.start, entity.end) for entity in result.entities] == [("人名", 1, 3), ("地名", 4, 6)]
    assert client.prompts == ["输入: 张三在北京\n抽取: 人名，地名\n输出: [GEN]"]


def test_texts_of_a_request_travel_together_and_come_back_in_order() -> None:
    def by_text(item: GenerateItem) -> Completion:
        label = "正面" if "好" in item.segments[1].text else "负面"
        return prefer(label)(item)  # type: ignore[return-value]

    client = ScriptedClient(by_text)
    texts = tuple(f"{'好' if number % 3 else '坏'}{number}" for number in range(150))
    results = classify(client, ClassifyRequest(texts, SENTIMENT, priority="bulk"))
    assert [result.labels[0].label for result in results] == ["正面" if "好" in text else "负面" for text in texts]
    assert [len(request.items) for request in client.requests] == [64, 64, 22]
    assert client.num_tokenizer_calls == 1


@pytest.mark.parametrize(
    "labels",
    [
        "正面，负面，中性",
        "正面,负面,中性",
        "正面、负面、中性",
        "正面;负面；中性",
        "正面|负面\n中性",
        '["正面","负面","中性"]',
    ],
)
def test_labels_typed_with_any_separator_give_one_prompt(labels: str) -> None:
    client = ScriptedClient(prefer("正面"))
    classify(client, ClassifyRequest(("好",), labels))
    assert client.prompts == ["输入: 好\n分类: 正面，负面，中性\n输出: [GEN]"]


def test_a_template_gives_labels_and_its_id() -> None:
    client = ScriptedClient(prefer("财经"))
    (result,) = classify(client, ClassifyRequest(("股价上涨",), template="news_topics"))
    assert result.template == "news_topics.v1"
    assert "分类: 财经，体育，科技" in client.prompts[0]
    client = ScriptedClient(find_values({}))
    (extraction,) = extract(client, ExtractRequest(("张三",), template="resume"))
    assert list(extraction.fields) == list(LIBRARY.get("resume").labels)
    assert len(client.prompts) == 2


def test_multi_label_may_be_left_to_the_template() -> None:
    request = ClassifyRequest(("便宜",), template="review_aspects", multi_label=None)
    client = ScriptedClient(prefer("价格", "质量"))
    (result,) = classify(client, request)
    assert [item.label for item in result.labels] == ["价格", "质量"]
    client = ScriptedClient(prefer("价格", "质量"))
    assert len(classify(client, replace(request, multi_label=False))[0].labels) == 1


def test_a_checkpoint_without_gen_gets_the_plain_ending() -> None:
    client = ScriptedClient(prefer("正面"), has_gen=False)
    (result,) = classify(client, ClassifyRequest(("好",), SENTIMENT))
    assert result.prompt == "输入: 好\n分类: 正面，负面，中性\n输出:"


def test_official_mode_sends_no_constraint() -> None:
    client = ScriptedClient(lambda item: completion("负面\n"))
    (result,) = classify(client, ClassifyRequest(("不好",), SENTIMENT, mode="official"))
    assert client.items[0].constraint is None
    assert client.items[0].params.mode == "official"
    assert [(item.label, item.score) for item in result.labels] == [("负面", None)]
    client = ScriptedClient(lambda item: completion("人名: 张三\n"))
    (extraction,) = extract(client, ExtractRequest(("张三",), "人名", mode="official"))
    assert extraction.fields == {"人名": ("张三",)}


def test_too_many_labels_for_the_context_take_two_rounds() -> None:
    labels = tuple(f"第{number}类标签" for number in range(60))
    client = ScriptedClient(prefer(labels[41]), max_prompt_tokens=256)
    results = classify(client, ClassifyRequest(("短文本", "另一段文本" * 30), labels))
    assert [result.labels[0].label for result in results] == [labels[41]] * 2
    assert {notice.code for result in results for notice in result.warnings} == {"labels_split"}
    assert len(client.requests) == 2


def test_a_long_text_is_read_in_windows() -> None:
    text = "这一段里没有名字。" * 300 + "张三在北京。"
    client = ScriptedClient(find_values({"人名": ["张三"], "地名": ["北京"]}), max_prompt_tokens=256)
    (result,) = extract(client, ExtractRequest((text,), "人名，地名"))
    assert result.windows > 5
    assert [text[entity.start : entity.end] for entity in result.entities] == ["张三", "北京"]


@pytest.mark.parametrize(
    ("request_", "kind", "param"),
    [
        (ClassifyRequest((), SENTIMENT), errors.InvalidRequest, "text"),
        (ClassifyRequest((" ",), SENTIMENT), errors.InvalidRequest, "text"),
        (ClassifyRequest(("a\ud800",), SENTIMENT), errors.InvalidRequest, "text"),
        (ClassifyRequest(("x" * 51,), SENTIMENT), errors.TextTooLong, "text"),
        (ClassifyRequest(("a", "b", "c"), SENTIMENT), errors.InvalidRequest, "text"),
        (ClassifyRequest(("a",)), errors.InvalidLabels, "labels"),
        (ClassifyRequest(("a",), ""), errors.InvalidLabels, "labels"),
        (ClassifyRequest(("a",), ()), errors.InvalidLabels, "labels"),
        (ClassifyRequest(("a",), ("a\nb",)), errors.InvalidLabels, "labels"),
        (ClassifyRequest(("a",), ("\ud800",)), errors.InvalidLabels, "labels"),
        (ClassifyRequest(("a",), "甲，乙，丙，丁，戊，己"), errors.InvalidLabels, "labels"),
        (ClassifyRequest(("a",), SENTIMENT, template="entities"), errors.InvalidTemplate, "template"),
        (ClassifyRequest(("a",), SENTIMENT, template="nope"), errors.InvalidTemplate, "template"),
        (ClassifyRequest(("a",), SENTIMENT, threshold=2.0), errors.InvalidRequest, "threshold"),
        (ClassifyRequest(("a",), SENTIMENT, mode="slow"), errors.InvalidRequest, "mode"),  # type: ignore[arg-type]
        (ClassifyRequest(("a",), SENTIMENT, deadline_s=0), errors.InvalidRequest, "deadline_s"),
        (ExtractRequest(("a",)), errors.InvalidLabels, "fields"),
        (ExtractRequest(("a",), "，"), errors.InvalidLabels, "fields"),
        (ExtractRequest(("",), "人名"), errors.InvalidRequest, "text"),
        (ExtractRequest(("a",), "人名", template="sentiment"), errors.InvalidTemplate, "template"),
        (ExtractRequest(("a",), "人名", mode=""), errors.InvalidRequest, "mode"),  # type: ignore[arg-type]
    ],
)
def test_bad_requests_are_refused_without_asking_the_worker(
    request_: ClassifyRequest | ExtractRequest, kind: type[errors.InvalidRequest], param: str
) -> None:
    client = ScriptedClient(prefer("正面"))
    limits = Limits(max_text_chars=50, max_labels=5, max_texts=2)
    with pytest.raises(kind) as caught:
        if isinstance(request_, ClassifyRequest):
            classify(client, request_, limits)
        else:
            extract(client, request_, limits)
    assert caught.value.param == param
    assert client.requests == []


def test_labels_too_long_for_the_context_are_refused_before_the_worker_is_asked() -> None:
    client = ScriptedClient(prefer("正面"), max_prompt_tokens=64)
    with pytest.raises(errors.LabelsTooLong):
        classify(client, ClassifyRequest(("好" * 40,), ("长" * 100, "短")))
    assert client.requests == []


def test_an_item_error_fails_the_request_as_what_it_is() -> None:
    client = ScriptedClient(lambda item: ItemError(code="engine_failed", message="out of memory"))
    with pytest.raises(errors.EngineFailed, match="out of memory"):
        classify(client, ClassifyRequest(("好", "坏"), SENTIMENT))


def test_a_full_queue_passes_through() -> None:
    client = ScriptedClient(prefer("正面"))
    client.failure = errors.QueueFull("full", retry_after_s=1.5)
    with pytest.raises(errors.QueueFull) as caught:
        classify(client, ClassifyRequest(("好",), SENTIMENT))
    assert caught.value.retry_after_s == 1.5


def test_the_deadline_counts_over_all_rounds() -> None:
    now = [0.0]

    def slow(item: GenerateItem) -> Completion:
        now[0] += 100.0
        return prefer("第1类标签")(item)  # type: ignore[return-value]

    client = ScriptedClient(slow, max_prompt_tokens=256)
    pipeline = Pipeline(client, LIBRARY, clock=lambda: now[0])
    labels = tuple(f"第{number}类标签" for number in range(60))
    with pytest.raises(errors.DeadlineExceeded):
        asyncio.run(pipeline.classify(ClassifyRequest(("短",), labels, deadline_s=150.0)))
    assert len(client.requests) == 1


def test_the_tokenizer_is_built_once_and_again_when_it_changes(monkeypatch: pytest.MonkeyPatch) -> None:
    built: list[str] = []
    original = Tokenizer.from_str

    class Spy:
        @staticmethod
        def from_str(source: str) -> Any:
            built.append(source)
            return original(source)

    monkeypatch.setattr("seqgpt_ui.tokens.Tokenizer", Spy)
    client = ScriptedClient(prefer("正面"))
    pipeline = Pipeline(client, LIBRARY)

    async def ask_thrice() -> None:
        request = ClassifyRequest(("好",), SENTIMENT)
        await pipeline.classify(request)
        await pipeline.classify(request)
        client._response = tokenizer_response(has_gen=False)
        await pipeline.classify(request)

    asyncio.run(ask_thrice())
    assert len(built) == 2
    assert client.prompts[0].endswith("[GEN]")
    assert client.prompts[2].endswith("输出:")


@settings(max_examples=40, deadline=None)
@given(
    st.text(st.one_of(st.characters(exclude_categories=["Cs"]), st.sampled_from("\x00\x01\x1b\n\t[GEN]</s>{{"))).filter(
        str.strip
    ),
    st.sampled_from(["fast", "official"]),
)
def test_any_text_is_answered(text: str, mode: Any) -> None:
    def answer(item: GenerateItem) -> Completion:
        if isinstance(item.constraint, ChoiceConstraint):
            return prefer("负面")(item)  # type: ignore[return-value]
        if isinstance(item.constraint, CopyConstraint):
            spans = find_values({"人名": [item.constraint.source[:3]]})
            return spans(item)  # type: ignore[return-value]
        return completion(text)

    (result,) = classify(ScriptedClient(answer), ClassifyRequest((text,), SENTIMENT, mode=mode))
    assert {item.label for item in result.labels} <= {"正面", "负面", "中性"}
    (extraction,) = extract(ScriptedClient(answer), ExtractRequest((text,), "人名", mode=mode))
    for entity in extraction.entities:
        assert entity.start is None or text[entity.start : entity.end] == entity.text


def test_concurrent_requests_get_their_own_answers() -> None:
    client = ScriptedClient(lambda item: prefer(item.segments[1].text[:2])(item))

    async def ask() -> list[list[Classification]]:
        pipeline = Pipeline(client, LIBRARY)
        requests = [
            ClassifyRequest((f"{label}{number}",), SENTIMENT) for number in range(20) for label in ("正面", "负面")
        ]
        return await asyncio.gather(*(pipeline.classify(request) for request in requests))

    labels = [results[0].labels[0].label for results in asyncio.run(ask())]
    assert labels == ["正面", "负面"] * 20


def test_the_workers_state_is_passed_on() -> None:
    client = ScriptedClient(lambda item: completion())
    assert asyncio.run(Pipeline(client, LIBRARY).info()) == InfoResponse(state="ready")


def test_scores_survive_the_whole_way() -> None:
    answer: Answer = lambda item: completion(  # noqa: E731
        "正面\n", choices={"正面": math.log(0.5), "负面": math.log(0.25), "中性": math.log(0.05)}
    )
    (result,) = classify(ScriptedClient(answer), ClassifyRequest(("好",), SENTIMENT))
    assert result.mass == pytest.approx(0.8)
    assert result.scores == pytest.approx({"正面": 0.625, "负面": 0.3125, "中性": 0.0625})
