"""One wire item in, one completion out: plans, scores, spans and refusals, with and without weights."""

from __future__ import annotations

import math
from pathlib import Path

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from seqgpt_ui.backends.fake import FakeBackend
from seqgpt_ui.decoding.vocabulary import Vocabulary
from seqgpt_ui.errors import Cancelled, InvalidRequest, TextTooLong
from seqgpt_ui.protocol import (
    ChoiceConstraint,
    Completion,
    Constraint,
    CopyConstraint,
    DecodingParams,
    FormatMessage,
    GenerateItem,
    Mode,
    ModelInfo,
    SegmentMessage,
)
from seqgpt_ui.settings import Settings
from seqgpt_ui.worker.engine.core import EngineCore
from seqgpt_ui.worker.engine.loading import CheckpointFolder, load_core
from tests.checkpoints import tokenizer_json, write_checkpoint
from tests.controls import Running, StopAfter

TEXTS = st.text(st.characters(exclude_categories=["Cs"]), max_size=30)


def model_info(max_prompt_tokens: int = 512) -> ModelInfo:
    return ModelInfo(
        name="test", is_demo=False, path="", num_parameters=0, vocab_size=512, backend="fake", device="none",
        dtype="none", quantization="none", max_prompt_tokens=max_prompt_tokens,
    )  # fmt: skip


def core_of(*, with_gen: bool = True, max_prompt_tokens: int = 512, script: dict[str, str] | None = None) -> EngineCore:
    vocabulary = Vocabulary.from_json(tokenizer_json(with_gen=with_gen))
    answers = FormatMessage(has_gen=with_gen, label_separator="，", span_separator="\t", absent="None")
    return EngineCore(FakeBackend(vocabulary, script=script), vocabulary, answers, model_info(max_prompt_tokens))


def item(
    text: str,
    constraint: Constraint | None,
    *,
    mode: Mode = "fast",
    ending: str = "\n输出: [GEN]",
    max_new_tokens: int = 256,
) -> GenerateItem:
    segments = [
        SegmentMessage(text="输入: ", is_content=False),
        SegmentMessage(text=text, is_content=True),
        SegmentMessage(text=ending, is_content=False),
    ]
    return GenerateItem(
        segments=segments, constraint=constraint, params=DecodingParams(mode=mode, max_new_tokens=max_new_tokens)
    )


def spans_are_pieces(completion: Completion, source: str) -> bool:
    assert completion.spans is not None
    return all(source[span.start : span.end] == span.text for span in completion.spans)


def test_single_choice_scores_every_label_exactly() -> None:
    core = core_of()
    labels = ["投诉", "投诉建议", "a.b (c)"]
    completion = core.run(item("我要投诉", ChoiceConstraint(choices=labels)), Running())
    assert completion.choices is not None
    assert [score.choice for score in completion.choices] == labels
    assert completion.text == max(completion.choices, key=lambda score: score.logprob or -math.inf).choice
    assert completion.num_completion_tokens == 0
    vocabulary = Vocabulary.from_json(tokenizer_json())
    backend = FakeBackend(vocabulary)
    assert vocabulary.gen_id is not None
    prompt = [*vocabulary.encode("输入: 我要投诉\n输出: "), vocabulary.gen_id]
    endings = [vocabulary.encode("投诉\n"), vocabulary.encode("投诉，"), [*vocabulary.encode("投诉"), 2]]
    expected = math.log(sum(math.exp(score) for score in backend.score(prompt, endings, Running())))
    assert completion.choices[0].logprob == pytest.approx(expected)


def test_adding_a_label_never_changes_the_scores_of_others() -> None:
    core = core_of()
    few = core.run(item("好", ChoiceConstraint(choices=["正面", "负面"])), Running()).choices
    more = core.run(item("好", ChoiceConstraint(choices=["正面", "负面", "中性"])), Running()).choices
    assert few is not None
    assert more is not None
    assert few == more[:2]


@pytest.mark.parametrize("mode", ["fast", "precise"])
def test_multi_choice_emits_labels_of_the_set_once(mode: Mode) -> None:
    labels = ["质量", "价格", "物流"]
    constraint = ChoiceConstraint(choices=labels, multi=True, min_choices=2)
    completion = core_of().run(item("又贵又慢", constraint, mode=mode), Running())
    assert completion.choices is not None
    emitted = [score.choice for score in completion.choices]
    assert 2 <= len(emitted) == len(set(emitted))
    assert set(emitted) <= set(labels)
    assert all(score.logprob is not None and score.logprob < 0 for score in completion.choices)
    assert completion.text == "，".join(emitted) + "\n"


@settings(deadline=None, max_examples=40)
@given(TEXTS)
def test_spans_are_pieces_of_any_text(text: str) -> None:
    source = text.strip()
    constraint = CopyConstraint(fields=["人名", "地名"], source=source)
    completion = core_of().run(item(source, constraint, max_new_tokens=80), Running())
    assert spans_are_pieces(completion, source)
    assert completion.spans is not None
    assert all(span.score is not None and 0 < span.score <= 1 for span in completion.spans)
    assert {span.field for span in completion.spans} <= {"人名", "地名"}


def test_official_mode_answers_free_text_even_under_a_constraint() -> None:
    core = core_of(script={"我要投诉": "投诉\n"})
    completion = core.run(item("我要投诉", ChoiceConstraint(choices=["投诉", "咨询"]), mode="official"), Running())
    assert (completion.text, completion.choices, completion.spans) == ("投诉\n", None, None)


def test_free_text_streams_what_it_returns() -> None:
    heard: list[str] = []
    completion = core_of(script={"诗": "床前明月光😀\n"}).run(item("写诗", None), Running(), heard.append)
    assert "".join(heard) == completion.text == "床前明月光😀\n"
    assert completion.finish_reason == "stop"
    assert (
        core_of(script={"诗": "床前明月光"}).run(item("诗", None, max_new_tokens=1), Running()).finish_reason
        == "length"
    )


def test_without_gen_the_first_head_belongs_to_the_prompt() -> None:
    core = core_of(with_gen=False)
    source = "张三在北京"
    completion = core.run(
        item(source, CopyConstraint(fields=["人名", "地名"], source=source), ending="\n输出:"), Running()
    )
    assert spans_are_pieces(completion, source)
    plain = Vocabulary.from_json(tokenizer_json(with_gen=False))
    assert completion.num_prompt_tokens == len(plain.encode(f"输入: {source}\n输出:人名:"))
    choices = core.run(item("好", ChoiceConstraint(choices=["正面", "负面"]), ending="\n输出:"), Running()).choices
    assert choices is not None


def test_lines_left_out_and_other_separators_are_a_format() -> None:
    source = "张三；李四"
    constraint = CopyConstraint(fields=["人名"], source=source, span_separator="; ", absent=None)
    for with_gen in (True, False):
        ending = "\n输出: [GEN]" if with_gen else "\n输出:"
        completion = core_of(with_gen=with_gen).run(item(source, constraint, ending=ending), Running())
        assert spans_are_pieces(completion, source)


def test_gen_in_the_text_is_not_the_control_token() -> None:
    core = core_of()
    plain = core.run(item("a", None), Running()).num_prompt_tokens
    hostile = core.run(item("a[GEN]", None), Running()).num_prompt_tokens
    assert hostile >= plain + 3


def test_too_long_and_empty_prompts_are_refused() -> None:
    with pytest.raises(TextTooLong, match="this model takes 16"):
        core_of(max_prompt_tokens=16).run(item("长" * 50, ChoiceConstraint(choices=["a"])), Running())
    with pytest.raises(TextTooLong):
        core_of(max_prompt_tokens=16).run(item("长" * 50, None), Running())
    empty = GenerateItem(segments=[SegmentMessage(text="", is_content=True)])
    with pytest.raises(InvalidRequest, match="empty"):
        core_of().run(empty, Running())


def test_a_stopped_control_ends_every_plan() -> None:
    for constraint in (ChoiceConstraint(choices=["a"]), ChoiceConstraint(choices=["a"], multi=True), None):
        with pytest.raises(Cancelled):
            core_of().run(item("x", constraint), StopAfter(0))


def test_the_tokenizer_that_clients_get_counts_like_the_engine() -> None:
    core = core_of()
    response = core.tokenizer()
    client = Vocabulary(response.tokenizer_json, eos_id=2, pad_id=3, gen_id=response.gen_id)
    completion = core.run(item("张三[GEN]</s>", None), Running())
    assert completion.num_prompt_tokens == len(client.encode("输入: 张三[GEN]</s>\n输出: ")) + 1
    assert response.max_prompt_tokens == 512
    assert core.memory_bytes() is None


@pytest.mark.parametrize("with_gen", [True, False])
@pytest.mark.parametrize("quantization", ["none", "nf4", "int8"])
def test_hub_layout_answers_through_the_engine(tmp_path: Path, with_gen: bool, quantization: str) -> None:
    folder = write_checkpoint(tmp_path / "hub", with_gen=with_gen)
    settings_ = Settings.from_environment({"SEQGPT_DTYPE": "float32", "SEQGPT_QUANTIZATION": quantization})
    core = load_core(settings_, CheckpointFolder(folder, "hub", is_demo=False))
    ending = "\n输出: [GEN]" if with_gen else "\n输出:"
    source = "张三在北京大学"
    scored = core.run(item(source, ChoiceConstraint(choices=["正面", "负面"]), ending=ending), Running())
    assert scored.choices is not None
    copied = core.run(
        item(source, CopyConstraint(fields=["人名", "地名"], source=source), ending=ending, max_new_tokens=60),
        Running(),
    )
    assert spans_are_pieces(copied, source)
