"""Prompts are the official ones, character by character and token by token."""

from __future__ import annotations

import json
from pathlib import Path

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from tokenizers import Tokenizer

from seqgpt_ui.prompt.profile import FormatProfile
from seqgpt_ui.prompt.render import join_labels, render, render_free, shown_label, trim_ending
from seqgpt_ui.prompt.templates import TemplateLibrary, parse_template
from tests.checkpoints import tokenizer_json

LIBRARY = TemplateLibrary.from_folder()
OFFICIAL, FREE = LIBRARY.get("official"), LIBRARY.get("free")
PROFILE, WITHOUT_GEN = FormatProfile(), FormatProfile(has_gen=False)
GOLDEN = json.loads((Path(__file__).parent / "golden" / "prompts.json").read_text(encoding="utf-8"))
TEXTS = st.text(st.characters(exclude_categories=["Cs"]), max_size=120)
LABELS = st.lists(
    st.text(st.characters(exclude_categories=["Cs", "Cc", "Zl", "Zp"]), min_size=1).filter(str.strip),
    min_size=1,
    max_size=8,
)


@pytest.mark.parametrize("case", GOLDEN, ids=lambda case: case["name"])
def test_golden_prompts(case: dict[str, str | list[str]]) -> None:
    task, text, labels = str(case["task"]), str(case["text"]), list(case["labels"])
    assert str(render(task, text, labels, OFFICIAL, PROFILE)) == case["prompt"]


@settings(max_examples=1000)
@given(TEXTS, LABELS)
def test_prompts_equal_the_official_code(text: str, labels: list[str]) -> None:
    listed = "，".join(label.strip().replace(",", "，") for label in labels)
    assert (
        str(render("classify", text, labels, OFFICIAL, PROFILE)) == f"输入: {text.strip()}\n分类: {listed}\n输出: [GEN]"
    )
    assert (
        str(render("extract", text, labels, OFFICIAL, PROFILE)) == f"输入: {text.strip()}\n抽取: {listed}\n输出: [GEN]"
    )


@given(TEXTS, LABELS)
def test_without_gen_the_prompt_ends_in_the_output_mark(text: str, labels: list[str]) -> None:
    prompt = str(render("classify", text, labels, OFFICIAL, WITHOUT_GEN))
    assert prompt == str(render("classify", text, labels, OFFICIAL, PROFILE)).removesuffix(" [GEN]")
    assert prompt.endswith("\n输出:")


@given(TEXTS, LABELS)
def test_values_are_content_and_the_skeleton_is_markup(text: str, labels: list[str]) -> None:
    segments = render("classify", text, labels, OFFICIAL, PROFILE).segments
    content = [segment.text for segment in segments if segment.is_content]
    assert content == [text.strip(), "分类", join_labels(labels)]
    assert "".join(segment.text for segment in segments if not segment.is_content) == "输入: \n: \n输出: [GEN]"


@given(TEXTS)
def test_token_ids_equal_the_plain_tokenizer(text: str) -> None:
    tokenizer = Tokenizer.from_str(tokenizer_json())
    prompt = render("classify", text, ["正面", "负面"], OFFICIAL, PROFILE)
    whole = "".join(segment.text for segment in prompt.segments)
    official = f"输入: {text.strip()}\n分类: 正面，负面\n输出: [GEN]"
    assert tokenizer.encode(whole).ids == tokenizer.encode(official).ids
    if "[GEN]" not in text:
        assert tokenizer.encode(whole).ids[-1] == tokenizer.token_to_id("[GEN]")


def test_markup_in_a_text_stays_content() -> None:
    text = "好[GEN]</s>\n输出: {{ labels }}"
    segments = render("classify", text, ["正面"], OFFICIAL, PROFILE).segments
    assert [segment.text for segment in segments if segment.is_content] == [text, "分类", "正面"]


@pytest.mark.parametrize(
    ("typed", "sent"),
    [
        ("写一句话", "写一句话\n输出: [GEN]"),
        ("写一句话\n输出:", "写一句话\n输出: [GEN]"),
        ("写一句话\n输出: ", "写一句话\n输出: [GEN]"),
        ("写一句话\n输出：", "写一句话\n输出: [GEN]"),
        ("写一句话\n输出: [GEN]", "写一句话\n输出: [GEN]"),
        ("写一句话\n输出:[GEN] [GEN]\n", "写一句话\n输出: [GEN]"),
        ("写一句话[GEN]", "写一句话\n输出: [GEN]"),
        ("输出:", "输出: [GEN]"),
        (" 前面的空格", " 前面的空格\n输出: [GEN]"),
        ("a [GEN] b", "a [GEN] b\n输出: [GEN]"),
    ],
)
def test_free_prompts_get_their_ending_once(typed: str, sent: str) -> None:
    assert str(render_free(typed, FREE, PROFILE)) == sent
    assert str(render_free(sent, FREE, PROFILE)) == sent
    assert str(render_free(typed, FREE, WITHOUT_GEN)) == sent.removesuffix(" [GEN]")


@given(TEXTS)
def test_free_prompts_end_in_the_mark_and_are_idempotent(text: str) -> None:
    prompt = str(render_free(text, FREE, PROFILE))
    assert prompt.endswith("输出: [GEN]")
    assert str(render_free(prompt, FREE, PROFILE)) == prompt


@given(TEXTS)
def test_only_the_ending_of_a_free_prompt_is_markup(text: str) -> None:
    segments = render_free(text, FREE, PROFILE).segments
    assert [segment.text for segment in segments if not segment.is_content][-1].endswith("[GEN]")
    assert len([segment for segment in segments if not segment.is_content]) == 1


def test_trim_ending_leaves_the_rest_alone() -> None:
    assert trim_ending("输出: 甲\n乙") == "输出: 甲\n乙"
    assert trim_ending("[GEN][GEN]") == ""
    assert trim_ending("x 输出：  ") == "x 输出:"


@pytest.mark.parametrize(("label", "shown"), [("a,b", "a，b"), (" 正面 ", "正面"), ("a，b", "a，b"), ("3.5", "3.5")])
def test_a_label_never_shows_a_half_width_comma(label: str, shown: str) -> None:
    assert shown_label(label) == shown


def test_a_template_of_ones_own_is_given_the_ending() -> None:
    head = "---\ntitle: {zh: 题, en: Title}\ntask: classify\n---\n"
    mine = parse_template("mine", 1, head + "{{ text }} -> {{ labels }}  \n\n")
    assert str(render("classify", "T", ["甲"], mine, PROFILE)) == "T -> 甲\n输出: [GEN]"
    assert render("classify", "T", ["甲"], mine, PROFILE).template_id == "mine.v1"


def test_a_template_that_says_nothing_still_ends_well() -> None:
    head = "---\ntitle: {zh: 题, en: Title}\ntask: classify\n---\n"
    assert str(render("classify", "T", ["甲"], parse_template("mine", 1, head + "\n"), PROFILE)) == "\n输出: [GEN]"
