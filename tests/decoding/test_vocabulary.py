"""Tokens as bytes: control tokens written by a user are ordinary, and every text survives the round trip."""

from __future__ import annotations

import json

import pytest
from hypothesis import given
from hypothesis import strategies as st

from seqgpt_ui.decoding.vocabulary import TextStream, Vocabulary, byte_of_character, common_prefix_length
from tests.checkpoints import tokenizer_json

VOCABULARY = Vocabulary.from_json(tokenizer_json())
TEXTS = st.text(st.characters(exclude_categories=["Cs"]), max_size=60)


def test_byte_alphabet_covers_every_byte_once() -> None:
    table = byte_of_character()
    assert sorted(table.values()) == list(range(256))
    assert table["A"] == ord("A")
    assert table["Ġ"] == ord(" ")
    assert table["Ċ"] == ord("\n")


def test_special_ids_are_those_of_bloom() -> None:
    assert (VOCABULARY.eos_id, VOCABULARY.pad_id) == (2, 3)
    assert VOCABULARY.gen_id is not None
    assert Vocabulary.from_json(tokenizer_json(with_gen=False)).gen_id is None


@pytest.mark.parametrize("text", ["[GEN]", "</s>", "<pad>", "<s>", "<unk>", "a[GEN]b</s>", "输出: [GEN]"])
def test_control_tokens_in_text_stay_characters(text: str) -> None:
    ids = VOCABULARY.encode(text)
    assert not {0, 1, 2, 3, VOCABULARY.gen_id} & set(ids)
    assert VOCABULARY.decode(ids) == text


def test_tokens_added_without_being_special_stay_characters_too() -> None:
    content = json.loads(tokenizer_json(with_gen=False))
    content["added_tokens"].append(
        {"id": 511, "content": "[GEN]", "single_word": False, "lstrip": False, "rstrip": False}
        | {"normalized": False, "special": False}
    )
    vocabulary = Vocabulary.from_json(json.dumps(content))
    assert vocabulary.gen_id == 511
    assert 511 not in vocabulary.encode("a [GEN] b")


@given(TEXTS)
def test_round_trip(text: str) -> None:
    ids = VOCABULARY.encode(text)
    assert VOCABULARY.decode(ids) == text
    assert b"".join(map(VOCABULARY.bytes_of, ids)) == text.encode()


@given(TEXTS)
def test_stream_gives_the_same_text_in_whole_characters(text: str) -> None:
    stream = TextStream(VOCABULARY)
    pieces = [stream.push(token) for token in VOCABULARY.encode(text)]
    assert "".join(pieces) + stream.finish() == text
    assert all("�" not in piece for piece in pieces) or "�" in text


def test_a_cut_character_becomes_a_replacement() -> None:
    stream = TextStream(VOCABULARY)
    first = next(token for token in range(512) if VOCABULARY.bytes_of(token) == "龘".encode()[:1])
    assert stream.push(first) == ""
    assert stream.finish() == "�"


@given(st.binary(max_size=4))
def test_prefix_range_holds_exactly_the_tokens_with_the_prefix(prefix: bytes) -> None:
    low, high = VOCABULARY.prefix_range(prefix)
    expected = sum(1 for token in range(512) if (data := VOCABULARY.bytes_of(token)) and data.startswith(prefix))
    assert high - low == expected


def test_tokens_at_lists_equal_tokens_only() -> None:
    low, high = VOCABULARY.prefix_range(b"a")
    assert [VOCABULARY.bytes_of(token) for token in VOCABULARY.tokens_at(low, b"a")] == [b"a"]
    assert high >= low + 1


def test_a_tokenizer_without_end_token_is_refused() -> None:
    content = json.loads(tokenizer_json())
    content["added_tokens"] = []
    content["model"]["vocab"] = {"a": 0}
    content["model"]["merges"] = []
    with pytest.raises(ValueError, match="no </s>"):
        Vocabulary.from_json(json.dumps(content))


@given(st.lists(st.lists(st.integers(0, 2), max_size=5), min_size=1, max_size=5))
def test_common_prefix(sequences: list[list[int]]) -> None:
    length = common_prefix_length(sequences)
    assert len({tuple(sequence[:length]) for sequence in sequences}) == 1
    longer = {tuple(sequence[: length + 1]) for sequence in sequences}
    assert len(longer) > 1 or min(map(len, sequences)) == length


def test_common_prefix_of_nothing() -> None:
    assert common_prefix_length([]) == 0
