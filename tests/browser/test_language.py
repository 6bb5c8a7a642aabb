"""The language of the page: the browser's, then the visitor's choice, kept."""

from __future__ import annotations

import re

import pytest
from playwright.sync_api import Browser, expect

from seqgpt_ui.ui.texts import TEXTS
from tests.browser.conftest import Visitor, visiting
from tests.web_server import running_app

pytestmark = pytest.mark.browser
CHINESE = re.compile(r"[\u4e00-\u9fff]+")
# What stays Chinese on an English page: the switch itself, key words of the prompt.
STAYS = {"中文", "输入", "输出", "分类", "抽取"}


@pytest.mark.parametrize(
    ("locale", "title"), [("zh-CN", "分类"), ("zh-TW", "分类"), ("zh", "分类"), ("de", "Classification")]
)
def test_first_language_is_the_browsers(browser: Browser, server: str, locale: str, title: str) -> None:
    with visiting(browser, server, locale=locale) as visitor:
        page = visitor.open()
        expect(page.get_by_role("tab").first).to_have_text(title)


def test_choice_is_kept(visitor: Visitor) -> None:
    page = visitor.open()
    expect(page.get_by_role("tab").first).to_have_text("分类")
    page.locator("#language").get_by_text("English").click()
    expect(page.get_by_role("tab").first).to_have_text("Classification")
    expect(page.locator(".banner")).to_contain_text("answers")
    visitor.open()
    expect(page.get_by_role("tab").first).to_have_text("Classification")
    assert page.evaluate("document.documentElement.lang") == "en"


def test_what_was_typed_survives_the_switch(visitor: Visitor) -> None:
    page = visitor.open()
    page.locator("#classify-text textarea").fill("我的文本")
    page.locator("#language").get_by_text("English").click()
    expect(page.get_by_role("button", name="Classify", exact=True)).to_be_visible()
    expect(page.locator("#classify-text textarea")).to_have_value("我的文本")


def test_no_text_of_the_page_stays_behind(browser: Browser, server: str) -> None:
    with visiting(browser, server, locale="zh-CN") as visitor:
        page = visitor.open()
        expect(page.get_by_role("tab").first).to_have_text("分类")
        page.locator("#language").get_by_text("English").click()
        expect(page.get_by_role("tab").first).to_have_text("Classification")
        chinese = {text["zh"] for text in TEXTS.values() if CHINESE.search(text["zh"])} - STAYS
        for number in range(4):
            visitor.tab(number)
            shown = set(page.locator(".gradio-container").inner_text().split("\n"))
            assert shown & chinese == set()


def test_setting_fixes_the_first_language(browser: Browser) -> None:
    with (
        running_app("/healthz", children=False, language="en") as url,
        visiting(browser, url, locale="zh-CN") as visitor,
    ):
        page = visitor.open(is_ready=False)
        expect(page.get_by_role("tab").first).to_have_text("Classification")
