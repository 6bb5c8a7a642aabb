"""Extraction answers: every legal walk gives pieces of the text with right offsets, and every right answer is legal."""

from __future__ import annotations

import random

import pytest
from hypothesis import assume, given, settings
from hypothesis import strategies as st

from seqgpt_ui.decoding.copy import CopyAutomaton, Kind
from seqgpt_ui.decoding.copy_guide import CopyGuide, CopyState
from seqgpt_ui.decoding.source import BREAKS, Source
from seqgpt_ui.decoding.vocabulary import Vocabulary
from tests.checkpoints import tokenizer_json

VOCABULARY = Vocabulary.from_json(tokenizer_json())
EXTENSION_B = "\U00020000\U0002a6d6"
TEXTS = st.text(st.sampled_from(f"张三李四北京大学None, ，\t\n。()aA1😀👨‍👩‍👧{EXTENSION_B}é "), min_size=0, max_size=24)
FIELDS = ["人名", "地名（全称）", "price (USD)"]


def automaton_of(text: str, fields: list[str], separator: str = "\t", absent: str | None = "None") -> CopyAutomaton:
    return CopyAutomaton(fields, Source(text), separator=separator, absent=absent)


def guide_of(text: str, fields: list[str], separator: str = "\t", absent: str | None = "None") -> CopyGuide:
    return CopyGuide(VOCABULARY, automaton_of(text, fields, separator, absent))


def read(guide: CopyGuide, tokens: list[int]) -> CopyState:
    """The state after ``tokens``, each of which must be allowed."""
    state = guide.start
    for token in tokens:
        assert token in guide.allowed(state), VOCABULARY.decode([token])
        state = guide.advance(state, token)
    return state


def answer(lines: dict[str, list[str]], separator: str = "\t") -> list[int]:
    """The canonical tokens of a whole answer."""
    text = "".join(f"{field}: {separator.join(spans) or 'None'}\n" for field, spans in lines.items())
    return [*VOCABULARY.encode(text), VOCABULARY.eos_id]


def found(guide: CopyGuide, state: CopyState, text: str, fields: list[str]) -> list[tuple[str, str, int, int]]:
    source = Source(text)
    spans = []
    for path in guide.spans(state):
        start, end = source.character(path.start), source.character(path.end)
        assert text[start:end] == source.text(path.start, path.end)
        spans.append((fields[path.field], text[start:end], start, end))
    return spans


@settings(deadline=None, max_examples=60)
@given(TEXTS, st.integers(0, 2**32))
def test_every_walk_gives_pieces_of_the_text(text: str, seed: int) -> None:
    rng = random.Random(seed)
    guide = guide_of(text, FIELDS)
    state = guide.start
    tokens: list[int] = []
    while not state.ended and len(tokens) < 120:
        allowed = guide.allowed(state)
        assert allowed == tuple(sorted(set(allowed)))
        assert allowed, "no reading may run into a wall"
        newline = [token for token in allowed if VOCABULARY.bytes_of(token) == b"\n"]
        token = newline[0] if newline and rng.random() < 0.3 else rng.choice(allowed)
        tokens.append(token)
        state = guide.advance(state, token)
    for _, span, _, _ in found(guide, state, text, FIELDS):
        assert span == span.strip()
        assert span
        assert not BREAKS & set(span)
    used = [path[:3] for path in guide.spans(state)]
    assert len(used) == len(set(used)), "an occurrence is used once by a field"
    if state.ended:
        assert VOCABULARY.decode(tokens).count("\n") == len(FIELDS)


@settings(deadline=None, max_examples=60)
@given(TEXTS, st.data())
def test_every_right_answer_is_legal_and_read_back(text: str, data: st.DataObject) -> None:
    legal = [
        (start, end)
        for start in range(len(text))
        for end in range(start + 1, len(text) + 1)
        if text[start:end] == text[start:end].strip() and not BREAKS & set(text[start:end])
    ]
    assume(legal)
    lines: dict[str, list[str]] = {}
    for field in FIELDS:
        chosen = data.draw(st.lists(st.sampled_from(legal), max_size=3, unique_by=lambda s: text[s[0] : s[1]]))
        lines[field] = [text[start:end] for start, end in chosen]
    assume(all(spans[:1] != ["None"] for spans in lines.values()))
    guide = guide_of(text, FIELDS)
    state = read(guide, answer(lines))
    assert state.ended
    spans = found(guide, state, text, FIELDS)
    assert [(field, span) for field, span, _, _ in spans] == [(f, s) for f, values in lines.items() for s in values]
    for _, span, start, _ in spans:
        assert start == text.index(span)


def test_absent_is_the_empty_answer_even_where_the_text_holds_the_word() -> None:
    text = "None of us"
    guide = guide_of(text, ["人名"])
    state = read(guide, answer({"人名": []}))
    assert guide.spans(state) == ()
    longer = read(guide, answer({"人名": ["None of us"]}))
    assert found(guide, longer, text, ["人名"]) == [("人名", "None of us", 0, 10)]


def test_repeated_spans_take_the_next_occurrence_and_then_stop() -> None:
    text = "张三说张三"
    guide = guide_of(text, ["人名"])
    state = read(guide, answer({"人名": ["张三", "张三"]}))
    assert found(guide, state, text, ["人名"]) == [("人名", "张三", 0, 2), ("人名", "张三", 3, 5)]
    third = guide.start
    for token in VOCABULARY.encode("人名: 张三\t张三\t张三"):
        third = guide.advance(third, token)
    newline = VOCABULARY.encode("\n")[0]
    assert newline not in guide.allowed(third)


def test_every_field_starts_afresh() -> None:
    text = "北京"
    guide = guide_of(text, ["地名", "机构名"])
    state = read(guide, answer({"地名": ["北京"], "机构名": ["北京"]}))
    assert [path.field for path in guide.spans(state)] == [0, 1]


def test_a_separator_inside_the_text_belongs_to_the_span() -> None:
    text = "上海，北京"
    guide = guide_of(text, ["地名"], separator="，")
    state = read(guide, [*VOCABULARY.encode("地名: 上海，北京\n"), VOCABULARY.eos_id])
    assert found(guide, state, text, ["地名"]) == [("地名", "上海，北京", 0, 5)]
    apart = guide_of("上海和北京", ["地名"], separator="，")
    state = read(apart, [*VOCABULARY.encode("地名: 上海，北京\n"), VOCABULARY.eos_id])
    assert [span for _, span, _, _ in found(apart, state, "上海和北京", ["地名"])] == ["上海", "北京"]


def test_a_separator_of_several_bytes_and_blanks() -> None:
    text = "fox dog cat"
    guide = guide_of(text, ["animal"], separator="; ")
    state = read(guide, [*VOCABULARY.encode("animal: fox; cat\n"), VOCABULARY.eos_id])
    assert [span for _, span, _, _ in found(guide, state, text, ["animal"])] == ["fox", "cat"]


def test_lines_may_be_left_out_where_the_format_says_so() -> None:
    text = "北京"
    guide = guide_of(text, ["人名", "地名", "机构名"], absent=None)
    assert guide.final(guide.start)
    state = read(guide, [*VOCABULARY.encode("地名: 北京\n"), VOCABULARY.eos_id])
    assert found(guide, state, text, ["人名", "地名", "机构名"]) == [("地名", "北京", 0, 2)]
    empty = guide.advance(guide.start, VOCABULARY.eos_id)
    assert empty.ended
    assert guide.spans(empty) == ()


def test_heads_are_forced_canonically_and_stop_before_the_blank() -> None:
    guide = guide_of("张三在北京", ["人名", "地名"])
    assert list(guide.forced(guide.start)) == VOCABULARY.encode("人名:")
    state = read(guide, VOCABULARY.encode("人名: 张三\n"))
    assert list(guide.forced(state)) == VOCABULARY.encode("地名:")
    assert guide.allowed(state) == tuple(VOCABULARY.encode("地名:")[:1])
    done = read(guide, VOCABULARY.encode("人名: 张三\n地名: None\n"))
    assert guide.forced(done) == (VOCABULARY.eos_id,)
    assert guide.allowed(done) == (VOCABULARY.eos_id,)


def test_forcing_equals_what_the_walk_allows() -> None:
    guide = guide_of("张三在北京", ["人名", "地名"])
    state = guide.start
    for token in guide.forced(state):
        assert token in guide._walk(state)
        state = guide.advance(state, token)


def test_drafts_follow_the_text() -> None:
    text = "北京大学在北京"
    guide = guide_of(text, ["机构名"])
    state = guide.start
    for token in VOCABULARY.encode("机构名: 北京"):
        state = guide.advance(state, token)
    assert guide.draft(state) == (), "the readings part here: one ends, one goes on"
    for token in VOCABULARY.encode("大"):
        state = guide.advance(state, token)
    assert VOCABULARY.decode(guide.draft(state)) == "学在北京"
    assert guide.draft(guide.start) == ()


def test_a_prompt_that_holds_the_first_head_starts_behind_it() -> None:
    automaton = automaton_of("张三", ["人名"])
    assert automaton.first_run == "人名:".encode()
    guide = CopyGuide(VOCABULARY, automaton, read=automaton.first_run)
    state = read(guide, [*VOCABULARY.encode(" 张三\n"), VOCABULARY.eos_id])
    assert len(guide.spans(state)) == 1
    assert automaton_of("张三", ["人名"], absent=None).first_run is None


def test_tokens_of_a_span_are_counted_with_its_ending() -> None:
    guide = guide_of("张三", ["人名"])
    tokens = answer({"人名": ["张三"]})
    (path,) = guide.spans(read(guide, tokens))
    head = len(VOCABULARY.encode("人名:"))
    assert path.first == head
    assert VOCABULARY.bytes_of(tokens[path.last]) == b"\n"


def test_a_text_without_any_span_can_only_be_absent() -> None:
    guide = guide_of(" \n\t", ["人名"])
    state = read(guide, answer({"人名": []}))
    assert state.ended


def test_control_tokens_and_other_words_are_refused() -> None:
    guide = guide_of("张三", ["人名"])
    for token in (0, 1, 2, 3, VOCABULARY.gen_id, VOCABULARY.encode("李")[0]):
        assert token is not None
        with pytest.raises(ValueError, match="not allowed"):
            guide.advance(guide.start, token)


def test_kinds_have_an_order_that_prefers_absent() -> None:
    threads = automaton_of("None", ["a"]).begin()
    automaton = automaton_of("None", ["a"])
    for byte in b"a: None":
        threads = automaton.expand(threads, 0)[byte]
    assert [thread.kind for thread in threads] == [Kind.ABSENT, Kind.SPAN]
