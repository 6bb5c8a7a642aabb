"""Extraction: chunks of fields, offsets, official answers, oddities."""

from __future__ import annotations

import pytest

from seqgpt_ui.errors import LabelsTooLong, WorkerError
from seqgpt_ui.protocol import CopyConstraint, SpanMessage
from seqgpt_ui.tasks.extraction import MAX_OCCURRENCES
from seqgpt_ui.tasks.results import Extraction
from seqgpt_ui.tasks.task import Document
from tests.fakes import completion, span
from tests.tasks.extracting import codes, extract, found, places, task


def test_one_prompt_asks_for_all_fields() -> None:
    (shard,) = task().plan(Document("  张三在北京\n"))
    assert str(shard.prompt) == "输入: 张三在北京\n抽取: 人名，地名\n输出: [GEN]"
    assert shard.constraint == CopyConstraint(fields=["人名", "地名"], source="张三在北京")


def test_seven_fields_are_four_and_three() -> None:
    fields = ["姓名", "学校", "专业", "公司", "职位", "电话", "邮箱"]
    shards = task(fields).plan(Document("张三"))
    assert [str(shard.prompt) for shard in shards] == [
        "输入: 张三\n抽取: 姓名，学校，专业，公司\n输出: [GEN]",
        "输入: 张三\n抽取: 职位，电话，邮箱\n输出: [GEN]",
    ]


@pytest.mark.parametrize(("count", "expected"), [(6, [6]), (13, [5, 4, 4]), (12, [6, 6]), (25, [5, 5, 5, 5, 5])])
def test_chunks_are_balanced(count: int, expected: list[int]) -> None:
    shards = task([f"字段{number}" for number in range(count)]).plan(Document("x"))
    assert [len(shard.labels) for shard in shards] == expected


def test_offsets_are_those_of_the_text_as_it_came() -> None:
    text = "\n \u3000张三在北京见李四 \n"
    result = extract(task(), text, found({"人名": ["李四", "张三"], "地名": ["北京"]}))
    assert places(result) == [("人名", "张三", 3, 5), ("地名", "北京", 6, 8), ("人名", "李四", 9, 11)]
    assert all(text[entity.start : entity.end] == entity.text for entity in result.entities)
    assert result.fields == {"人名": ("张三", "李四"), "地名": ("北京",)}
    assert (result.windows, result.num_tokens, result.template, result.mode) == (1, 10, "official.v1", "fast")


def test_offsets_are_code_points() -> None:
    text = "💩👨‍👩‍👧𠮷野家在北京"
    result = extract(task(["店名"]), text, found({"店名": ["𠮷野家"]}))
    assert places(result) == [("店名", "𠮷野家", 6, 9)]


def test_scores_come_through_and_unknown_ones_stay_unknown() -> None:
    assert extract(task(), "张三", found({"人名": ["张三"]}, 0.25)).entities[0].score == 0.25
    assert extract(task(), "张三", found({"人名": ["张三"]}, None)).entities[0].score is None


def test_occurrences_list_every_place() -> None:
    result = extract(task(), "北京到北京", found({"地名": ["北京"]}))
    assert result.entities[0].occurrences == ((0, 2), (3, 5))


def test_very_many_occurrences_are_cut_and_told() -> None:
    text = "好" * (MAX_OCCURRENCES + 5)
    result = extract(task(max_prompt_tokens=2000), text, found({"人名": ["好"]}))
    assert len(result.entities[0].occurrences) == MAX_OCCURRENCES
    assert codes(result) == ["occurrences_cut"]


def test_fields_keep_the_users_spelling() -> None:
    result = extract(task(["甲,乙"]), "张三", lambda shard: completion(spans=[span("甲，乙", "张三", "张三")]))
    assert places(result) == [("甲,乙", "张三", 0, 2)]
    assert result.fields == {"甲,乙": ("张三",)}


def test_the_same_place_may_belong_to_two_fields_in_their_order() -> None:
    result = extract(task(), "北京", found({"地名": ["北京"], "人名": ["北京"]}))
    assert places(result) == [("人名", "北京", 0, 2), ("地名", "北京", 0, 2)]


def official(text: str, raw: str, fields: str = "人名，地名") -> Extraction:
    made = task(fields, mode="official")
    assert all(shard.constraint is None for shard in made.plan(Document(text)))
    return extract(made, text, lambda shard: completion(raw))


def test_official_answers_are_parsed_and_aligned() -> None:
    result = official("  张三、李四在北京", "人名: 张三\t李四\n地名: 北京\n")
    assert places(result) == [("人名", "张三", 2, 4), ("人名", "李四", 5, 7), ("地名", "北京", 8, 10)]
    assert all(entity.score is None for entity in result.entities)
    assert result.warnings == ()


def test_official_values_in_another_case_or_width_are_the_texts_own() -> None:
    result = official("ＡＢＣ公司的Apple", "地名: abc\n人名: APPLE\n")
    assert places(result) == [("地名", "ＡＢＣ", 0, 3), ("人名", "Apple", 6, 11)]


def test_official_values_that_are_not_in_the_text_have_no_place() -> None:
    result = official("张三", "人名: 张三\t王五\n")
    assert places(result) == [("人名", "张三", 0, 2), ("人名", "王五", None, None)]
    assert result.fields["人名"] == ("张三", "王五")
    assert result.entities[1].occurrences == ()
    assert codes(result) == ["unaligned_spans"]


def test_official_oddities_are_told() -> None:
    result = official("张三", "随便\n人名: 张三\t张三\n")
    assert codes(result) == ["unparsed_output", "duplicate_values"]
    assert result.warnings[0].values == {"text": "随便"}
    assert codes(official("张三", "")) == ["empty_output"]


def test_nothing_found_is_a_result() -> None:
    result = official("张三", "人名: None\n地名: None\n")
    assert result.entities == ()
    assert result.fields == {"人名": (), "地名": ()}
    assert result.warnings == ()


def test_markup_doubles_and_cut_answers_are_told() -> None:
    made = task("人名，人名，[GEN]")
    result = extract(made, "张三</s>", lambda shard: completion(spans=[], finish_reason="length"))
    assert codes(result) == ["duplicate_labels", "markup_in_text", "markup_in_text", "truncated_output"]


def test_a_span_that_does_not_match_its_text_is_looked_up() -> None:
    wrong = SpanMessage(field="人名", text="李四", start=0, end=2, score=0.5)
    assert places(extract(task(), "张三李四", lambda shard: completion(spans=[wrong]))) == [("人名", "李四", 2, 4)]
    missing = wrong.model_copy(update={"text": "王五"})
    result = extract(task(), "张三李四", lambda shard: completion(spans=[missing]))
    assert places(result) == [("人名", "王五", None, None)]


def test_answers_outside_the_constraint_are_worker_errors() -> None:
    with pytest.raises(WorkerError, match="without spans"):
        extract(task(), "张三", lambda shard: completion("人名: 张三"))
    with pytest.raises(WorkerError, match="not asked"):
        extract(task(), "张三", lambda shard: completion(spans=[span("国籍", "张三", "张三")]))


def test_a_field_too_long_for_the_context_is_refused() -> None:
    with pytest.raises(LabelsTooLong) as caught:
        task(["长" * 150], max_prompt_tokens=160).plan(Document("张三" * 40))
    assert caught.value.param == "fields"


def test_long_fields_are_asked_in_smaller_chunks() -> None:
    fields = [f"{number}" * 30 for number in range(6)]
    shards = task(fields, max_prompt_tokens=160).plan(Document("张三" * 40))
    assert {len(shard.labels) for shard in shards} == {3}
