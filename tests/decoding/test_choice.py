"""Label sequences and the multi-label guide: canonical tokens, prefixes of one another, each label at most once."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from seqgpt_ui.decoding.choice import ChoiceGuide, ChoiceState, encode_choices
from seqgpt_ui.decoding.vocabulary import Vocabulary
from tests.checkpoints import tokenizer_json

VOCABULARY = Vocabulary.from_json(tokenizer_json())
PLAIN = Vocabulary.from_json(tokenizer_json(with_gen=False))
PROMPT = "输入: 我要投诉\n分类: 投诉，投诉建议\n输出: "
LABEL_ALPHABET = "投诉建议ab.(c) ，1:：！"
LABELS = st.lists(
    st.text(LABEL_ALPHABET, min_size=1, max_size=6).map(str.strip).filter(bool), min_size=1, max_size=6, unique=True
)


def read(guide: ChoiceGuide, tokens: list[int]) -> ChoiceState:
    """The state after ``tokens``, each of which must be allowed."""
    state = guide.start
    for token in tokens:
        assert token in guide.allowed(state)
        state = guide.advance(state, token)
    return state


def guide_of(labels: list[str], **bounds: int) -> ChoiceGuide:
    return ChoiceGuide(VOCABULARY, encode_choices(VOCABULARY, PROMPT, labels, "，"), **bounds)


def test_prompt_ends_in_gen_and_labels_stand_alone() -> None:
    choices = encode_choices(VOCABULARY, PROMPT, ["投诉", "投诉建议"], "，")
    assert choices.prompt_ids == (*VOCABULARY.encode(PROMPT), VOCABULARY.gen_id)
    assert choices.first[0].line_end == tuple(VOCABULARY.encode("投诉\n"))
    assert choices.first[0].separated == tuple(VOCABULARY.encode("投诉，"))
    assert choices.first[0].end == (*VOCABULARY.encode("投诉"), VOCABULARY.eos_id)


@given(LABELS)
def test_without_gen_prompt_and_label_are_encoded_as_a_whole(labels: list[str]) -> None:
    prompt = PROMPT.rstrip(" ")
    choices = encode_choices(PLAIN, prompt, labels, "，")
    for label, sequences in zip(labels, choices.first, strict=True):
        assert [*choices.prompt_ids, *sequences.line_end] == PLAIN.encode(prompt + label + "\n")
        assert [*choices.prompt_ids, *sequences.end] == [*PLAIN.encode(prompt + label), PLAIN.eos_id]
        assert sequences.line_end


@given(LABELS)
def test_own_tokens_never_count_an_ending_that_stands_apart(labels: list[str]) -> None:
    for label, sequences in zip(labels, encode_choices(VOCABULARY, PROMPT, labels, "，").first, strict=True):
        own = VOCABULARY.decode(sequences.line_end[: sequences.own])
        assert 1 <= sequences.own <= len(sequences.end)
        assert label.startswith(own) or own.startswith(label)


@given(LABELS, st.data())
def test_every_walk_ends_and_spells_labels_of_the_set_once(labels: list[str], data: st.DataObject) -> None:
    guide = guide_of(labels)
    state, tokens = guide.start, []
    while not state.ended:
        allowed = guide.allowed(state)
        assert allowed == tuple(sorted(set(allowed)))
        assert allowed
        tokens.append(data.draw(st.sampled_from(allowed)))
        state = guide.advance(state, tokens[-1])
        assert len(tokens) < 200
    emitted = [labels[item.choice] for item in guide.emitted(state)]
    assert 1 <= len(emitted) == len(set(emitted))
    assert VOCABULARY.decode(tokens).rstrip("\n") == "，".join(emitted)
    for item in guide.emitted(state):
        assert 0 <= item.first < item.last <= len(tokens)


@given(LABELS, st.data())
def test_the_canonical_answer_is_legal_and_read_back(labels: list[str], data: st.DataObject) -> None:
    chosen = data.draw(st.permutations(labels))[: data.draw(st.integers(1, len(labels)))]
    if any("，" in label for label in chosen):
        return  # such a label may be read as two others: covered below
    guide = guide_of(labels)
    tokens: list[int] = []
    for label in chosen[:-1]:
        tokens += VOCABULARY.encode(label + "，")
    tokens += [*VOCABULARY.encode(chosen[-1] + "\n"), VOCABULARY.eos_id]
    state = read(guide, tokens)
    assert state.ended
    assert [labels[item.choice] for item in guide.emitted(state)] == list(chosen)


def test_label_with_a_separator_inside_wins_over_two_labels() -> None:
    labels = ["好，快", "好", "快"]
    guide = guide_of(labels)
    state = read(guide, [*VOCABULARY.encode("好，快\n"), VOCABULARY.eos_id])
    assert [labels[item.choice] for item in guide.emitted(state)] == ["好，快"]


def test_bounds_on_the_number_of_labels() -> None:
    labels = ["正面", "负面", "中性"]
    newline = VOCABULARY.encode("\n")[0]
    comma = VOCABULARY.encode("，")[0]
    at_least_two = guide_of(labels, min_choices=2)
    state = read(at_least_two, VOCABULARY.encode("正面"))
    assert newline not in at_least_two.allowed(state)
    assert VOCABULARY.eos_id not in at_least_two.allowed(state)
    at_most_one = guide_of(labels, max_choices=1)
    state = read(at_most_one, VOCABULARY.encode("正面"))
    assert comma not in at_most_one.allowed(state)
    assert newline in at_most_one.allowed(state)


def test_last_label_cannot_be_followed_by_a_separator() -> None:
    guide = guide_of(["正面"])
    state = read(guide, VOCABULARY.encode("正面"))
    assert VOCABULARY.encode("，")[0] not in guide.allowed(state)


def test_forced_run_follows_where_nothing_else_may_come() -> None:
    guide = guide_of(["正面", "负面建议"])
    state = read(guide, VOCABULARY.encode("正面\n"))
    assert guide.forced(state) == (VOCABULARY.eos_id,)
    assert guide.draft(state) == ()
    assert guide.final(state)
    assert not guide.final(guide.start)
    one_way = guide_of(["负面建议"], max_choices=1)
    forced = one_way.forced(one_way.start)
    assert VOCABULARY.decode(forced) == "负面建议"


def test_a_token_that_is_not_allowed_is_refused() -> None:
    guide = guide_of(["正面"])
    with pytest.raises(ValueError, match="not allowed"):
        guide.advance(guide.start, VOCABULARY.encode("负")[0])


def test_a_separator_with_a_blank_gives_the_blank_to_the_next_label() -> None:
    choices = encode_choices(VOCABULARY, PROMPT, ["fox", "dog"], ", ")
    guide = ChoiceGuide(VOCABULARY, choices)
    state = read(guide, [*VOCABULARY.encode("fox, dog\n"), VOCABULARY.eos_id])
    assert [item.choice for item in guide.emitted(state)] == [0, 1]


def test_states_are_values() -> None:
    guide = guide_of(["正面", "负面"])
    token = guide.allowed(guide.start)[0]
    assert guide.advance(guide.start, token) == guide.advance(guide.start, token)
    assert hash(guide.start) == hash(guide_of(["正面", "负面"]).start)
