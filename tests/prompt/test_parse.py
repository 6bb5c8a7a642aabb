"""The parser reads messy answers and never fails on any string."""

from __future__ import annotations

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from seqgpt_ui.prompt.parse import parse_classification, parse_extraction
from seqgpt_ui.prompt.profile import FormatProfile

LABELS = ("投诉", "投诉建议", "咨询", "bug report", "质量(外观)", "3C数码", "a，b", "时间:开始")
SOURCE = "张三、李四在北京大学工作，电话010-1234；价格：3.50元。John Smith  met  Anna Lee. 一，二；三"
FIELDS = ("人名", "地名", "机构名", "电话", "价格", "person", "人")

CLASSIFICATIONS = [
    ("投诉\n", ["投诉"]),
    ("投诉", ["投诉"]),
    ("  投诉建议  \n", ["投诉建议"]),
    ("投诉，咨询\n", ["投诉", "咨询"]),
    ("投诉,咨询", ["投诉", "咨询"]),
    ("投诉、咨询；投诉建议", ["投诉", "咨询", "投诉建议"]),
    ("投诉\t咨询", ["投诉", "咨询"]),
    ("投诉\n咨询\n", ["投诉", "咨询"]),
    ("咨询;", ["咨询"]),
    ("投诉</s>", ["投诉"]),
    ("\ufeff投诉", ["投诉"]),
    ("[GEN] 投诉", ["投诉"]),
    ("投诉。", ["投诉"]),
    ("“投诉”", ["投诉"]),
    ("**投诉**", ["投诉"]),
    ("- 投诉\n- 咨询", ["投诉", "咨询"]),
    ("1. 投诉\n2. 咨询", ["投诉", "咨询"]),
    ("（1）投诉", ["投诉"]),
    ("① 投诉", ["投诉"]),
    ("分类: 投诉", ["投诉"]),
    ("标签：咨询", ["咨询"]),
    ("Bug Report", ["bug report"]),
    ("ＢＵＧ ＲＥＰＯＲＴ", ["bug report"]),
    ("质量（外观）", ["质量(外观)"]),
    ("3C数码", ["3C数码"]),
    ("3c数码", ["3C数码"]),
    ("a,b", ["a，b"]),
    ("a，b，投诉", ["a，b", "投诉"]),
    ("时间：开始", ["时间:开始"]),
]

EXTRACTIONS = [
    ("人名: 张三\t李四\n", {"人名": ["张三", "李四"]}),
    ("人名：张三\n地名：北京\n", {"人名": ["张三"], "地名": ["北京"]}),
    ("人名:张三\n", {"人名": ["张三"]}),
    ("人名 : 张三", {"人名": ["张三"]}),
    ("- 人名: 张三\n* 地名: 北京", {"人名": ["张三"], "地名": ["北京"]}),
    ("1. 人名: 张三\n2、地名: 北京", {"人名": ["张三"], "地名": ["北京"]}),
    ("• 人名: 张三", {"人名": ["张三"]}),
    ("**人名**: 张三", {"人名": ["张三"]}),
    ("【人名】：张三", {"人名": ["张三"]}),
    ("人名: 张三;地名: 北京;", {"人名": ["张三"], "地名": ["北京"]}),
    ("人名: 张三；地名: 北京", {"人名": ["张三"], "地名": ["北京"]}),
    ("人名: 张三  李四", {"人名": ["张三", "李四"]}),
    ("人名: 张三、李四", {"人名": ["张三、李四"]}),
    ("人名: 张三，李四", {"人名": ["张三", "李四"]}),
    ("人名: 李四,张三", {"人名": ["李四", "张三"]}),
    ("人名: 李四；John Smith、Anna Lee", {"人名": ["李四", "John Smith", "Anna Lee"]}),
    ("人名: 一，二；三", {"人名": ["一，二；三"]}),
    ("person: John Smith  met", {"person": ["John Smith  met"]}),
    ("PERSON: john smith", {"person": ["john smith"]}),
    ("人名: None\n地名: none\n机构名: 无\n电话:\n", {}),
    ("人名: 张三\tNone", {"人名": ["张三"]}),
    ("人名: 张三\n人名: 李四", {"人名": ["张三", "李四"]}),
    ("人名: 张三\n李四\n", {"人名": ["张三", "李四"]}),
    ("人名:\n- 张三\n- 李四\n", {"人名": ["张三", "李四"]}),
    ("价格: 价格：3.50元", {"价格": ["价格：3.50元"]}),
    ("人: 张三\n人名: 李四", {"人": ["张三"], "人名": ["李四"]}),
    ("人名: 张三</s>", {"人名": ["张三"]}),
    ("\ufeff人名: 张三<pad><pad>", {"人名": ["张三"]}),
    ("人名: 张三\r\n地名: 北京\r\n", {"人名": ["张三"], "地名": ["北京"]}),
    ("人名: 王五", {"人名": ["王五"]}),
    ("电话: ０１０-1234", {"电话": ["０１０-1234"]}),
]


@pytest.mark.parametrize(("answer", "expected"), CLASSIFICATIONS)
def test_messy_classifications(answer: str, expected: list[str]) -> None:
    parsed = parse_classification(answer, LABELS)
    assert list(parsed.labels) == expected
    assert not [issue for issue in parsed.issues if issue.code == "unknown_label"]


@pytest.mark.parametrize(("answer", "expected"), EXTRACTIONS)
def test_messy_extractions(answer: str, expected: dict[str, list[str]]) -> None:
    parsed = parse_extraction(answer, FIELDS, SOURCE)
    assert {field: list(found) for field, found in parsed.values.items() if found} == expected
    assert not [issue for issue in parsed.issues if issue.code == "unparsed"]


@pytest.mark.parametrize(
    ("answer", "unknown"),
    [
        ("高兴", ["高兴"]),
        ("投诉信", ["投诉信"]),
        ("这是投诉", ["这是投诉"]),
        ("不是咨询，投诉", ["不是咨询"]),
        ("投诉\n其他\n", ["其他"]),
    ],
)
def test_what_is_no_label_is_told_and_never_guessed(answer: str, unknown: list[str]) -> None:
    issues = parse_classification(answer, LABELS).issues
    assert [issue.text for issue in issues if issue.code == "unknown_label"] == unknown


def test_a_longer_label_is_never_read_as_its_prefix() -> None:
    assert parse_classification("投诉建议", ("投诉", "投诉建议")).labels == ("投诉建议",)
    assert parse_classification("投诉建议", ("投诉",)).labels == ()
    assert parse_extraction("投诉建议: 张三", ("投诉", "投诉建议"), SOURCE).values["投诉建议"] == ("张三",)


def test_repeated_labels_count_once_and_are_told() -> None:
    parsed = parse_classification("投诉，投诉", LABELS)
    assert parsed.labels == ("投诉",)
    assert [issue.code for issue in parsed.issues] == ["duplicate_label"]


@pytest.mark.parametrize("answer", ["", " ", "\n", "</s>", "\ufeff"])
def test_an_empty_answer_is_an_issue(answer: str) -> None:
    assert [issue.code for issue in parse_classification(answer, LABELS).issues] == ["empty_output"]
    parsed = parse_extraction(answer, FIELDS, SOURCE)
    assert [issue.code for issue in parsed.issues] == ["empty_output"]
    assert set(parsed.values) == set(FIELDS)


@pytest.mark.parametrize("answer", ["随便说说", "国籍: 中国", "一些话\n再说一些", "???"])
def test_lines_without_a_field_are_told(answer: str) -> None:
    parsed = parse_extraction(answer, FIELDS, SOURCE)
    assert not any(parsed.values.values())
    assert [issue.text for issue in parsed.issues if issue.code == "unparsed"] == answer.split("\n")


def test_a_line_after_a_field_belongs_to_it_only_if_it_is_in_the_text() -> None:
    parsed = parse_extraction("人名: 张三\n北京大学\n火星", FIELDS, SOURCE)
    assert parsed.values["人名"] == ("张三", "北京大学")
    assert [issue.text for issue in parsed.issues] == ["火星"]


def test_repeated_values_are_merged_and_told() -> None:
    parsed = parse_extraction("人名: 张三\t张三\n人名: 张三", FIELDS, SOURCE)
    assert parsed.values["人名"] == ("张三",)
    assert [issue.code for issue in parsed.issues] == ["duplicate_value", "duplicate_value"]


@pytest.mark.parametrize(
    ("value", "source", "expected"),
    [
        ("None", "the answer was None of these", ("None",)),
        ("None", "Nonesuch Records", ()),
        ("无", "过敏史：无。", ("无",)),
        ("无", "无线网络", ()),
        ("none", "nothing here", ()),
    ],
)
def test_the_word_for_nothing_counts_where_the_text_says_it(value: str, source: str, expected: tuple[str, ...]) -> None:
    assert parse_extraction(f"人名: {value}", ("人名",), source).values["人名"] == expected


def test_control_tokens_that_the_text_holds_are_kept() -> None:
    assert parse_extraction("人名: <pad>先生", ("人名",), "我是<pad>先生").values["人名"] == ("<pad>先生",)
    assert parse_extraction("人名: 张三<pad>", ("人名",), "我是张三").values["人名"] == ("张三",)


def test_the_profile_names_a_separator_of_its_own() -> None:
    profile = FormatProfile(label_separator="/", span_separator="/")
    assert parse_classification("投诉/咨询", LABELS, profile).labels == ("投诉", "咨询")
    assert parse_extraction("人名: 李四/张三", FIELDS, SOURCE, profile).values["人名"] == ("李四", "张三")


def test_fields_with_digits_and_colons_win_over_bullets() -> None:
    source = "三号线早上六点，1楼大厅"
    parsed = parse_extraction("3.线路: 三号线\n时间:开始: 六点\n1楼: 大厅", ("3.线路", "时间:开始", "1楼"), source)
    assert parsed.values == {"3.线路": ("三号线",), "时间:开始": ("六点",), "1楼": ("大厅",)}


MESS = st.text(
    st.one_of(st.characters(), st.sampled_from("\n\t;；:：，,、。- 12人名张三None</s>[GEN]İ㈱ﬁ")), max_size=200
)
SOME = st.lists(st.text(min_size=1, max_size=6), max_size=5)


@settings(max_examples=300)
@given(MESS, SOME)
def test_any_string_is_read_as_labels(answer: str, labels: list[str]) -> None:
    parsed = parse_classification(answer, labels)
    assert set(parsed.labels) <= set(labels)
    assert len(set(parsed.labels)) == len(parsed.labels)
    assert all(issue.code and isinstance(issue.text, str) for issue in parsed.issues)


@settings(max_examples=300)
@given(MESS, SOME, MESS)
def test_any_string_is_read_as_fields(answer: str, fields: list[str], source: str) -> None:
    parsed = parse_extraction(answer, fields, source)
    assert set(parsed.values) == set(fields)
    for found in parsed.values.values():
        assert len(set(found)) == len(found)
        assert all(value == value.strip() and value and "\n" not in value and "\t" not in value for value in found)


@given(MESS, MESS)
def test_real_fields_in_a_mess(answer: str, source: str) -> None:
    parse_extraction(answer, ("人名", "None", "1", ":", "；"), source)
    parse_classification(answer, ("人名", "None", "1", ":", "；", ","))
