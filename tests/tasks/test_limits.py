"""Bounds of a request, and which template it may name."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from seqgpt_ui.errors import InvalidRequest, InvalidTemplate, TextTooLong
from seqgpt_ui.tasks.limits import Limits, check_mode, pick_template
from tests.fakes import LIBRARY

LIMITS = Limits(max_text_chars=10, max_texts=3)


def test_texts_become_documents_as_they_came() -> None:
    assert [document.text for document in LIMITS.documents((" 好\n", "b"))] == [" 好\n", "b"]


@pytest.mark.parametrize(
    ("texts", "kind", "cause"),
    [
        ((), InvalidRequest, "missing"),
        ("一段话", InvalidRequest, "missing"),
        (("",), InvalidRequest, "text is empty"),
        ((" \n\u3000",), InvalidRequest, "text is empty"),
        (("好", " "), InvalidRequest, "text 2 is empty"),
        (("a", "b", "c", "d"), InvalidRequest, "4 texts; the limit is 3"),
        (("x" * 11,), TextTooLong, "11 characters; the limit is 10"),
        (("a\ud800",), InvalidRequest, "lone surrogate at position 1"),
        ((None,), InvalidRequest, "not a string"),
    ],
)
def test_unusable_texts_are_refused(texts: tuple[str, ...], kind: type[InvalidRequest], cause: str) -> None:
    with pytest.raises(kind, match=cause) as caught:
        LIMITS.documents(texts)
    assert caught.value.param == "text"


@given(st.text(min_size=1, max_size=10))
def test_any_text_with_something_in_it_passes(text: str) -> None:
    try:
        LIMITS.check_text(text, "text", "text")
    except InvalidRequest:
        assert not text.strip() or any("\ud800" <= character <= "\udfff" for character in text)


@pytest.mark.parametrize("text", ["\x00", "a\x00b", "\x1b[0m", "\x7f", "\ufffe", "\u200b"])
def test_control_characters_are_characters(text: str) -> None:
    assert LIMITS.documents((text,))[0].text == text


def test_modes_are_checked() -> None:
    for mode in ("fast", "precise", "official"):
        check_mode(mode)
    with pytest.raises(InvalidRequest, match="fast, precise, official") as caught:
        check_mode("slow")
    assert caught.value.param == "mode"


@pytest.mark.parametrize(
    ("name", "task", "expected"),
    [
        (None, "classify", "official.v1"),
        ("", "extract", "official.v1"),
        ("sentiment", "classify", "sentiment.v1"),
        ("sentiment.v1", "classify", "sentiment.v1"),
        ("entities", "extract", "entities.v1"),
    ],
)
def test_templates_are_picked_by_name_or_id(name: str | None, task: str, expected: str) -> None:
    assert pick_template(LIBRARY, name, task).id == expected


@pytest.mark.parametrize(
    ("name", "task", "cause"),
    [
        ("sentiment", "extract", "is for task classify"),
        ("entities", "classify", "is for task extract"),
        ("free", "classify", "is for task prompt"),
        ("sentiment.v99", "classify", "unknown template"),
        ("../etc/passwd", "classify", "unknown template"),
    ],
)
def test_templates_of_another_task_are_refused(name: str, task: str, cause: str) -> None:
    with pytest.raises(InvalidTemplate, match=cause) as caught:
        pick_template(LIBRARY, name, task)
    assert caught.value.param == "template"
