"""Label lists in every form that people type."""

from __future__ import annotations

import json

import pytest
from hypothesis import given
from hypothesis import strategies as st

from seqgpt_ui.errors import InvalidLabels
from seqgpt_ui.prompt.render import shown_label
from seqgpt_ui.tasks.labels import MAX_LABEL_CHARS, LabelSet, check_label, read_labels

SEPARATORS = [",", "，", "、", ";", "；", "|", "\n", "\r\n", " , ", "，\n", ";;"]
PLAIN = st.text(
    st.characters(exclude_categories=["Cs", "Cc", "Zl", "Zp"], exclude_characters=",，、;；|[\ufeff"), max_size=12
)
NAMES = st.lists(PLAIN.filter(str.strip), min_size=1, max_size=8)


def read(source: str | list[str] | tuple[str, ...], max_labels: int = 500) -> LabelSet:
    return read_labels(source, param="labels", max_labels=max_labels)


@pytest.mark.parametrize("separator", SEPARATORS)
def test_every_separator_gives_the_same_labels(separator: str) -> None:
    assert read(separator.join(["正面", "负面", "bug report"])).labels == ("正面", "负面", "bug report")


@pytest.mark.parametrize(
    ("source", "expected"),
    [
        ("正面", ("正面",)),
        (" 正面 ，负面 ", ("正面", "负面")),
        ("正面，，负面，", ("正面", "负面")),
        ("甲,乙，丙、丁;戊；己|庚\n辛", ("甲", "乙", "丙", "丁", "戊", "己", "庚", "辛")),
        ('["甲,乙", "丙"]', ("甲,乙", "丙")),
        (' \n["甲", "丙"]\n', ("甲", "丙")),
        ('["a|b；c"]', ("a|b；c",)),
        ("\ufeff正面，负面", ("正面", "负面")),
        ("时间:开始，3.5元，(外观)", ("时间:开始", "3.5元", "(外观)")),
        ("投诉，投诉建议", ("投诉", "投诉建议")),
        ("正面\u2028负面", ("正面", "负面")),
    ],
)
def test_strings_are_split(source: str, expected: tuple[str, ...]) -> None:
    assert read(source).labels == expected
    assert read(source).notices == ()


def test_items_of_a_list_stay_whole() -> None:
    assert read(["甲,乙", "丙；丁", " 戊 "]).labels == ("甲,乙", "丙；丁", "戊")
    assert read(("[不是 JSON",)).labels == ("[不是 JSON",)


def test_repeated_labels_are_left_out_and_told() -> None:
    found = read("正面，负面，正面， 正面 ")
    assert found.labels == ("正面", "负面")
    (notice,) = found.notices
    assert notice.code == "duplicate_labels"
    assert notice.values == {"param": "labels", "labels": "正面", "count": 2}


def test_labels_that_look_alike_in_the_prompt_are_one() -> None:
    found = read(["a,b", "a，b", "c"])
    assert found.labels == ("a,b", "c")
    assert found.notices[0].values["labels"] == "a，b"


@pytest.mark.parametrize(
    ("source", "cause"),
    [
        ("", "empty"),
        ("  \n ", "empty"),
        ("，,;", "empty"),
        ([], "empty"),
        ("[]", "empty"),
        (["正面", " "], "empty entry"),
        ('["正面", ""]', "empty entry"),
        ('["正面"', "no JSON list"),
        ("[正面，负面]", "no JSON list"),
        ("[" * 100_000, "no JSON list"),
        ("[1, 2]", "list of strings"),
        ('["a", null]', "list of strings"),
        ('[["a"]]', "list of strings"),
        (["a\nb"], "line break or TAB"),
        (["a\tb"], "line break or TAB"),
        (["a\u2029b"], "line break or TAB"),
        ("正面\t负面", "line break or TAB"),
        ('["a\\nb"]', "line break or TAB"),
        (["x" * (MAX_LABEL_CHARS + 1)], "201 characters; the limit is 200"),
        ('["\\ud800"]', "lone surrogate"),
        (["\udfff"], "lone surrogate"),
        (["a", "b", "c", "d"], "4 entries; the limit is 3"),
    ],
)
def test_unusable_labels_are_refused_naming_the_field(source: str | list[str], cause: str) -> None:
    with pytest.raises(InvalidLabels, match=cause) as caught:
        read_labels(source, param="fields", max_labels=3)
    assert caught.value.param == "fields"
    assert "fields" in caught.value.message


def test_a_list_must_hold_strings() -> None:
    with pytest.raises(InvalidLabels, match="not int"):
        read_labels([1, 2], param="labels", max_labels=5)  # type: ignore[list-item]


def test_doubles_do_not_count_towards_the_limit() -> None:
    assert read("甲，甲，甲，乙", max_labels=2).labels == ("甲", "乙")


def test_the_longest_label_passes() -> None:
    assert read(["x" * MAX_LABEL_CHARS]).labels == ("x" * MAX_LABEL_CHARS,)


def test_one_label_alone_is_checked_too() -> None:
    assert check_label(" 其他 ", "fallback_label") == "其他"
    with pytest.raises(InvalidLabels, match="fallback_label"):
        check_label("\n", "fallback_label")


@given(NAMES, st.lists(st.sampled_from(SEPARATORS), min_size=8, max_size=8))
def test_any_separators_equal_the_list(names: list[str], separators: list[str]) -> None:
    typed = "".join(name + separator for name, separator in zip(names, separators, strict=False))
    assert read(typed).labels == read(names).labels
    assert read(json.dumps(names)).labels == read(names).labels


@given(NAMES)
def test_labels_are_stripped_distinct_and_in_order(names: list[str]) -> None:
    labels = read(names).labels
    assert list(labels) == list(dict.fromkeys(name.strip() for name in names))
    assert read(list(labels)) == LabelSet(labels)


@given(st.text(max_size=60))
def test_any_string_is_read_or_refused(source: str) -> None:
    try:
        labels = read(source).labels
    except InvalidLabels:
        return
    assert labels
    assert len({shown_label(label) for label in labels}) == len(labels)
    assert all(label == label.strip() and "\n" not in label and "\t" not in label for label in labels)
