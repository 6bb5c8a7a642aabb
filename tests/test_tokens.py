"""Token counts and places agree with the tokenizer; control tokens in a text are never matched."""

from __future__ import annotations

import functools

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from tokenizers import Tokenizer

from seqgpt_ui.errors import WorkerError
from seqgpt_ui.tokens import TokenCounter
from tests.checkpoints import tokenizer_json
from tests.fakes import tokenizer_response

TEXTS = st.text(st.characters(exclude_categories=["Cs"]), max_size=80)


@functools.cache
def shared() -> TokenCounter:
    return TokenCounter.from_response(tokenizer_response())


@pytest.fixture
def counter() -> TokenCounter:
    return shared()


@pytest.fixture(scope="module")
def plain() -> Tokenizer:
    tokenizer = Tokenizer.from_str(tokenizer_json())
    tokenizer.encode_special_tokens = True
    return tokenizer


def test_counts_as_the_tokenizer_does(counter: TokenCounter, plain: Tokenizer) -> None:
    for text in ("", " ", "正面", "人名: 张三\t李四\n", "The quick brown fox"):
        assert counter.count(text) == len(plain.encode(text, add_special_tokens=False).ids)


def test_control_tokens_in_a_text_are_ordinary_characters(counter: TokenCounter) -> None:
    for mark in ("[GEN]", "</s>", "<pad>", "<s>", "<unk>"):
        assert counter.count(mark) > 1


def test_the_final_gen_of_a_prompt_is_one_token(counter: TokenCounter) -> None:
    prompt = "输入: 好\n分类: 正面\n输出: [GEN]"
    assert counter.count_prompt(prompt) == counter.count(prompt.removesuffix("[GEN]")) + 1


def test_without_gen_in_the_vocabulary_its_characters_count() -> None:
    counter = TokenCounter.from_response(tokenizer_response(has_gen=False))
    assert counter.count_prompt("输出: [GEN]") == counter.count("输出: [GEN]")
    assert counter.count_prompt("输出:") == counter.count("输出:")


def test_truncation_and_padding_stored_in_the_file_are_switched_off() -> None:
    tokenizer = Tokenizer.from_str(tokenizer_json())
    tokenizer.enable_truncation(4)
    tokenizer.enable_padding(length=64)
    response = tokenizer_response().model_copy(update={"tokenizer_json": tokenizer.to_str()})
    counter = TokenCounter.from_response(response)
    assert counter.count("好") < 10
    assert counter.count("好" * 100) >= 100


@pytest.mark.parametrize("broken", ["", "{}", "not json", '{"version": "1.0"}'])
def test_an_unreadable_tokenizer_is_a_worker_error(broken: str) -> None:
    response = tokenizer_response().model_copy(update={"tokenizer_json": broken})
    with pytest.raises(WorkerError, match="tokenizer"):
        TokenCounter.from_response(response)


@given(TEXTS)
def test_token_places_ascend_and_are_code_points(text: str) -> None:
    counter = shared()
    starts = counter.starts(text)
    assert starts == sorted(starts)
    assert len(starts) == counter.count(text)
    assert all(0 <= start < len(text) for start in starts)


def test_every_astral_character_is_one_place(counter: TokenCounter) -> None:
    assert sorted(set(counter.starts("a😀𠀀b"))) == [0, 1, 2, 3]


@settings(max_examples=20)
@given(TEXTS)
def test_nul_and_control_characters_are_counted(text: str) -> None:
    assert shared().count("\x00" + text) >= 1
