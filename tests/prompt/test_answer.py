"""Answers as a checkpoint is trained to write them, and the parser that reads them back."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from seqgpt_ui.prompt.answer import format_classification, format_extraction
from seqgpt_ui.prompt.parse import parse_classification, parse_extraction
from seqgpt_ui.prompt.profile import FormatProfile

PROFILE = FormatProfile()
WORDS = st.text(st.sampled_from("张三李四北京大学甲乙丙丁abcxyz019"), min_size=1, max_size=6)
PROFILES = st.sampled_from(
    [
        PROFILE,
        FormatProfile(label_separator=";"),
        FormatProfile(span_separator="；", absent="无"),
        FormatProfile(absent=None),
    ]
)


def test_labels_are_joined_and_the_line_ends() -> None:
    assert format_classification(["正面"], PROFILE) == "正面\n"
    assert format_classification(["质量", "价格"], PROFILE) == "质量，价格\n"
    assert format_classification(["a,b"], PROFILE) == "a，b\n"


def test_fields_have_a_line_each_in_the_order_asked() -> None:
    spans = {"地名": ["北京"], "人名": ["张三", "李四"]}
    assert (
        format_extraction(["人名", "地名", "机构名"], spans, PROFILE) == "人名: 张三\t李四\n地名: 北京\n机构名: None\n"
    )


def test_absent_fields_may_be_left_out() -> None:
    assert format_extraction(["人名", "地名"], {"地名": ["北京"]}, FormatProfile(absent=None)) == "地名: 北京\n"


@given(st.lists(WORDS, min_size=1, max_size=5, unique=True), PROFILES)
def test_the_parser_reads_labels_back(labels: list[str], profile: FormatProfile) -> None:
    asked = [*labels, "另一个标签"]
    parsed = parse_classification(format_classification(labels, profile), asked, profile)
    assert parsed.labels == tuple(labels)
    assert not parsed.issues


@given(
    st.lists(WORDS, min_size=1, max_size=6, unique=True),
    st.lists(st.lists(WORDS, max_size=3, unique=True), max_size=6),
    PROFILES,
)
def test_the_parser_reads_spans_back(fields: list[str], found: list[list[str]], profile: FormatProfile) -> None:
    spans = dict(zip(fields, found, strict=False))
    source = "。".join(value for values in found for value in values)
    parsed = parse_extraction(format_extraction(fields, spans, profile), fields, source, profile)
    assert parsed.values == {field: tuple(spans.get(field, ())) for field in fields}


@pytest.mark.parametrize("has_gen", [True, False])
def test_profiles_are_values(has_gen: bool) -> None:
    assert FormatProfile(has_gen=has_gen) == FormatProfile(has_gen, "，", "\t", "None")
    assert len({FormatProfile(has_gen=has_gen), FormatProfile(has_gen=has_gen)}) == 1
