"""Samples: the official prompt, then the answer, with labels drawn anew each time."""

from __future__ import annotations

import random

import pytest
from tokenizers import Tokenizer

from seqgpt_ui.decoding.vocabulary import Vocabulary
from seqgpt_ui.prompt.profile import FormatProfile
from seqgpt_ui.prompt.templates import TemplateLibrary
from tests.checkpoints import tokenizer_json
from training.examples import MAX_FIELDS, SampleBuilder, redraw
from training.rows import Row

VOCABULARY = Vocabulary.from_json(tokenizer_json())
OFFICIAL = TemplateLibrary.from_folder().get("official")


def builder(*, with_gen: bool = True) -> SampleBuilder:
    tokenizer = Tokenizer.from_str(tokenizer_json(with_gen=with_gen))
    return SampleBuilder(tokenizer, OFFICIAL, FormatProfile(has_gen=with_gen))


def test_prompt_and_answer_of_a_classification() -> None:
    sample = builder().build(Row("1", "classify", " 好 ", ("正面", "负面,差"), ("负面,差", "正面")))
    prompt, answer = sample.ids[: sample.answer_start], sample.ids[sample.answer_start :]
    assert prompt[-1] == VOCABULARY.gen_id
    assert VOCABULARY.decode(prompt[:-1]) == "输入: 好\n分类: 正面，负面，差\n输出: "
    assert VOCABULARY.decode(answer) == "负面，差，正面\n"
    assert answer[-1] == VOCABULARY.eos_id


def test_prompt_and_answer_of_an_extraction() -> None:
    row = Row("1", "extract", "张三和李四", ("人名", "地名"), {"人名": ("张三", "李四")})
    sample = builder().build(row)
    assert VOCABULARY.decode(sample.ids[sample.answer_start :]) == "人名: 张三\t李四\n地名: None\n"


def test_control_tokens_in_a_text_stay_characters() -> None:
    sample = builder().build(Row("1", "classify", "[GEN]</s>", ("a",), ("a",)))
    assert sample.ids.count(VOCABULARY.gen_id or -1) == 1
    assert sample.ids.count(VOCABULARY.eos_id) == 1


def test_a_vocabulary_without_gen_ends_in_the_output_mark() -> None:
    sample = builder(with_gen=False).build(Row("1", "classify", "好", ("正面",), ("正面",)))
    plain = Vocabulary.from_json(tokenizer_json(with_gen=False))
    assert plain.decode(sample.ids[: sample.answer_start]).endswith("\n输出:")
    with pytest.raises(ValueError, match="no \\[GEN\\]"):
        SampleBuilder(Tokenizer.from_str(tokenizer_json(with_gen=False)), OFFICIAL, FormatProfile())


def test_redrawn_labels_hold_the_gold_and_come_from_the_pool() -> None:
    pool = tuple(f"label{index}" for index in range(40))
    row = Row("1", "classify", "x", pool[:10], (pool[3], pool[5]))
    seen = set()
    for seed in range(60):
        drawn = redraw(row, pool, random.Random(seed))
        assert set(drawn.gold) == {pool[3], pool[5]}
        assert list(drawn.gold) == [label for label in drawn.labels if label in drawn.gold]
        assert set(drawn.labels) <= set(pool)
        assert 3 <= len(drawn.labels) == len(set(drawn.labels)) <= 14
        seen.add(drawn.labels)
    assert len(seen) > 50


def test_redrawn_fields_are_few_and_keep_their_spans() -> None:
    fields = tuple(f"field{index}" for index in range(10))
    row = Row("1", "extract", "abc", fields, {"field1": ("a",), "field9": ("c",)})
    for seed in range(60):
        drawn = redraw(row, fields, random.Random(seed))
        assert 1 <= len(drawn.labels) <= MAX_FIELDS
        assert isinstance(drawn.gold, dict)
        assert set(drawn.gold) == set(drawn.labels) & {"field1", "field9"}


def test_fields_with_synonyms_are_renamed_with_their_spans() -> None:
    row = Row("1", "extract", "张三在北京", ("人名", "地名"), {"人名": ("张三",), "地名": ("北京",)})
    names = set()
    for seed in range(80):
        drawn = redraw(row, row.labels, random.Random(seed))
        assert isinstance(drawn.gold, dict)
        assert set(drawn.gold) == set(drawn.labels)
        names |= set(drawn.labels)
    assert {"人名", "人物", "姓名", "地名", "地点"} <= names


def test_heads_weigh_little_and_values_fully() -> None:
    row = Row("1", "extract", "张三和李四", ("人名", "地名"), {"人名": ("张三", "李四")})
    sample = builder().build(row)
    answer = sample.ids[sample.answer_start :]
    assert len(sample.weights) == len(answer)
    light = [token for token, weight in zip(answer, sample.weights, strict=True) if weight < 1]
    assert VOCABULARY.decode(light) == "人名:地名:"


def test_an_answer_whose_lines_fuse_counts_evenly() -> None:
    row = Row("1", "extract", "a", ("（甲", "(b"), {})
    sample = builder().build(row)
    assert len(sample.weights) == len(sample.ids) - sample.answer_start
