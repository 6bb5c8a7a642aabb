"""One table of texts, whole in both languages."""

from __future__ import annotations

import re
import string
from pathlib import Path

import pytest

from seqgpt_ui import errors
from seqgpt_ui.errors import EngineFailed, QueueFull, SeqGPTError
from seqgpt_ui.prompt.notice import Notice
from seqgpt_ui.ui.i18n import LANGUAGES, Language, first_language, tr, tr_error, tr_notice
from seqgpt_ui.ui.texts import TEXTS

PRODUCT = Path(__file__).resolve().parents[2] / "seqgpt_ui"
CHINESE = re.compile(r"[\u4e00-\u9fff]")
# The same in both languages: a name of the field and a sign.
SAME = {"prompt.top_p", "status.unknown"}


def placeholders(text: str) -> set[str]:
    return {name for _, name, _, _ in string.Formatter().parse(text) if name}


@pytest.mark.parametrize("key", TEXTS)
def test_every_text_is_translated(key: str) -> None:
    assert set(TEXTS[key]) == set(LANGUAGES)
    zh, en = TEXTS[key]["zh"], TEXTS[key]["en"]
    assert zh.strip() and en.strip()
    if key not in SAME:
        assert CHINESE.search(zh), f"{key} is not Chinese: {zh}"
        assert zh != en


@pytest.mark.parametrize("key", TEXTS)
def test_english_texts_hold_no_chinese_but_words_of_the_prompt(key: str) -> None:
    rest = re.sub("输入:|输出:|分类:|抽取:", "", TEXTS[key]["en"])
    assert not CHINESE.search(rest)


@pytest.mark.parametrize("key", TEXTS)
def test_both_languages_use_the_same_values(key: str) -> None:
    zh, en = (placeholders(TEXTS[key][language]) for language in LANGUAGES)
    # English errors show the message alone; Chinese ones may say all that is needed themselves.
    assert zh == en


def test_every_key_that_the_pages_name_exists() -> None:
    pattern = re.compile(r'"((?:app|banner|tab|common|mode|classify|extract|prompt|finish|status|state)\.[a-z_]+)"')
    named = set()
    for path in (PRODUCT / "ui").rglob("*.py"):
        if path.name != "texts.py":
            named |= set(pattern.findall(path.read_text(encoding="utf-8")))
    assert named
    assert named <= set(TEXTS)


def test_no_chinese_text_outside_the_table() -> None:
    allowed = {"texts.py", "i18n.py"}
    for path in (PRODUCT / "ui").rglob("*.py"):
        if path.name not in allowed:
            literals = re.findall(r'"([^"\n]*[\u4e00-\u9fff][^"\n]*)"', path.read_text(encoding="utf-8"))
            assert literals == [], path.name


def test_every_warning_of_the_product_is_translated() -> None:
    pattern = re.compile(r'Notice\(\s*"([a-z_]+)"')
    codes = {code for path in PRODUCT.rglob("*.py") for code in pattern.findall(path.read_text(encoding="utf-8"))}
    assert len(codes) > 10
    assert {f"warning.{code}" for code in codes} <= set(TEXTS)


def test_every_error_that_a_user_can_meet_is_translated() -> None:
    classes = [item for item in vars(errors).values() if isinstance(item, type) and issubclass(item, SeqGPTError)]
    met = {item.code for item in classes if item.http_status in (400, 429, 503, 504, 499)}
    assert {f"error.{code}" for code in met} <= set(TEXTS)


def test_values_are_filled_in() -> None:
    assert tr("status.tokens", "en", count=5) == "5 tokens"
    assert tr("status.tokens", "zh", count=5) == "5 个 token"


def test_unknown_key_is_a_mistake() -> None:
    with pytest.raises(KeyError):
        tr("no.such.key", "en")


def test_errors_in_both_languages() -> None:
    assert tr_error(QueueFull("the queue is full"), "zh").startswith("现在很忙")
    assert tr_error(EngineFailed("a step failed"), "en") == "Something went wrong: a step failed"
    assert tr_error(EngineFailed("a {step} failed"), "zh") == "出错了：a {step} failed"


@pytest.mark.parametrize(
    ("notice", "language", "expected"),
    [
        (Notice("below_threshold", "m", {"threshold": 0.5}), "en", "No label reaches the threshold 0.5"),
        (Notice("below_threshold", "m", {"threshold": 0.5}), "zh", "没有标签达到阈值 0.5"),
        (Notice("below_threshold", "no value came along"), "zh", "no value came along"),
        (Notice("brand_new", "something new"), "zh", "something new"),
    ],
)
def test_notices(notice: Notice, language: Language, expected: str) -> None:
    assert tr_notice(notice, language) == expected


@pytest.mark.parametrize(("setting", "expected"), [("auto", "zh"), ("zh", "zh"), ("en", "en")])
def test_language_of_the_first_answer(setting: str, expected: str) -> None:
    assert first_language(setting) == expected
