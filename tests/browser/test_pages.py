"""Each tab as people use it: a template picked, a text typed, a result seen."""

from __future__ import annotations

import json
import re

import httpx
import pytest
from playwright.sync_api import Browser, expect

from tests.browser.conftest import Visitor, visiting

pytestmark = pytest.mark.browser


def bars(visitor: Visitor) -> dict[str, int]:
    """Labels and per cent of the result."""
    rows = visitor.page.locator("#classify-result [data-testid$='-confidence-set'], #classify-result .confidence-set")
    found = {}
    for text in rows.all_inner_texts():
        label, percent = text.strip().split("\n")[0], text.strip().split("\n")[-1]
        found[label] = int(percent.rstrip("%"))
    return found


def test_classification(visitor: Visitor) -> None:
    page = visitor.open()
    visitor.pick("classify", "情感倾向")
    labels = page.locator("#classify-labels textarea").input_value().split("，")
    page.locator("#classify-text textarea").fill("这家店的面又热又香，下次还来。")
    page.get_by_role("button", name="分类", exact=True).click()
    expect(page.locator("#classify-result h2")).to_have_text(re.compile("|".join(labels)))
    shown = bars(visitor)
    assert set(shown) == set(labels)
    assert sum(shown.values()) == pytest.approx(100, abs=len(labels))
    page.locator("#classify-trace > button, #classify-trace .label-wrap").first.click()
    expect(page.locator("#classify-sent textarea")).to_have_value(
        re.compile(r"^输入: 这家店的面又热又香，下次还来。\n分类: .*\n输出: \[GEN\]$")
    )
    expect(page.locator("#classify-raw textarea")).to_have_value(re.compile("|".join(labels)))
    visitor.shot("classification-zh")


def test_classification_of_several_lines(visitor: Visitor) -> None:
    page = visitor.open()
    page.locator("#classify-options > button, #classify-options .label-wrap").first.click()
    page.locator("#classify-several input").check()
    page.locator("#classify-text textarea").fill("第一条\n\n第二条\n第三条")
    page.get_by_role("button", name="分类", exact=True).click()
    table = page.locator("#classify-table")
    expect(table).to_be_visible()
    expect(table.get_by_text("第三条")).to_be_visible()
    expect(page.locator("#classify-result")).to_be_hidden()
    visitor.shot("classification-lines-zh")


def test_example_and_keyboard(visitor: Visitor) -> None:
    page = visitor.open()
    example = page.locator("#classify-examples button.gallery-item").nth(1)
    text = example.inner_text()
    example.click()
    expect(page.locator("#classify-text textarea")).to_have_value(re.compile(re.escape(text.rstrip(".… ")[:20])))
    page.locator("#classify-text textarea").press("Control+Enter")
    expect(page.locator("#classify-result h2")).to_be_visible()


def test_wrong_input_is_answered_calmly(visitor: Visitor) -> None:
    page = visitor.open()
    page.locator("#classify-labels textarea").fill("")
    page.get_by_role("button", name="分类", exact=True).click()
    note = page.locator("#classify-notes .note-error")
    expect(note).to_contain_text("标签有误")
    assert "Traceback" not in page.content()
    visitor.shot("classification-error-zh")


def test_markup_in_labels_stays_text(visitor: Visitor) -> None:
    page = visitor.open()
    page.locator("#classify-labels textarea").fill("<img src=x onerror=window.hacked=1>，<b>x</b>，<b>x</b>")
    page.get_by_role("button", name="分类", exact=True).click()
    expect(page.locator("#classify-notes .note-warning").first).to_contain_text("<b>x</b>")
    assert page.evaluate("window.hacked") is None


def test_extraction(visitor: Visitor) -> None:
    page = visitor.open()
    visitor.tab(1)
    visitor.pick("extract", "简历")
    text = "  张敏，2019年毕业于华东理工大学😀，现任青木科技公司产品经理。\n电话 138-0000-1234  "
    page.locator("#extract-text textarea").fill(text)
    page.get_by_role("button", name="抽取", exact=True).click()
    expect(page.locator("#extract-highlight .highlighted .text").first).to_be_visible()
    pieces = page.locator("#extract-highlight .text").evaluate_all("items => items.map(item => item.textContent)")
    assert "".join(pieces) == text.replace("\n", "")
    fields = page.locator("#extract-fields textarea").input_value().split("，")
    table = page.locator("#extract-table")
    expect(table.get_by_role("gridcell").first).to_be_visible()
    rows = [row.get_by_role("gridcell").all_inner_texts() for row in table.get_by_role("row").all()]
    found = [[cell.strip() for cell in row] for row in rows if len(row) == 5]
    assert found
    for field, span, start, end, score in found:
        assert field in fields
        assert text[int(start) : int(end)] == span
        assert 0 < float(score) <= 1
    visitor.shot("extraction-zh")


def test_json_is_that_of_rest(visitor: Visitor, server: str) -> None:
    page = visitor.open()
    visitor.tab(1)
    text, fields = "李雷和韩梅梅在北京见面。", "人名，地点"
    page.locator("#extract-text textarea").fill(text)
    page.locator("#extract-fields textarea").fill(fields)
    template = "contract_clauses.v1"
    page.get_by_role("button", name="抽取", exact=True).click()
    expect(page.locator("#extract-highlight .text").first).to_be_visible()
    page.locator("#extract-trace > button, #extract-trace .label-wrap").first.click()
    answer = httpx.post(f"{server}/api/extract", json={"text": text, "fields": fields, "template": template}).json()
    expect(page.locator("#extract-raw textarea")).to_have_value(answer["results"][0]["raw"])
    expect(page.locator("#extract-sent textarea")).to_have_value(answer["results"][0]["prompt"])
    page.locator("#extract-json > button, #extract-json .label-wrap").first.click()
    expect(page.locator("#extract-json")).to_contain_text("seqgpt-mini")


def test_free_prompt(visitor: Visitor, server: str) -> None:
    page = visitor.open()
    visitor.tab(2)
    visitor.pick("prompt", "新闻主题")
    expect(page.locator("#prompt-text textarea")).to_have_value(
        re.compile(r"^输入: .*\n分类: 财经，.*\n输出:$", re.DOTALL)
    )
    prompt = "输入: 你好\n分类: 问候，告别\n输出:"
    page.locator("#prompt-text textarea").fill(prompt)
    page.get_by_role("button", name="生成", exact=True).click()
    answer = httpx.post(f"{server}/api/prompt", json={"prompt": prompt}).json()["result"]
    expect(page.locator("#prompt-answer textarea")).to_have_value(answer["text"].strip("\n"))
    page.locator("#prompt-trace > button, #prompt-trace .label-wrap").first.click()
    expect(page.locator("#prompt-sent textarea")).to_have_value(f"{prompt} [GEN]")
    expect(page.locator("#prompt-details")).to_contain_text("正常结束")
    visitor.shot("free-prompt-zh")


def test_status_refreshes_by_itself(visitor: Visitor, server: str) -> None:
    page = visitor.open()
    visitor.tab(3)
    expect(page.locator(".card-ready dd")).to_have_text("就绪")
    expect(page.locator("#status-cards")).to_contain_text("seqgpt-mini")
    before = httpx.get(f"{server}/api/status").json()["num_finished"]
    body = {"text": ["a", "b", "c"], "labels": "x,y"}
    assert httpx.post(f"{server}/api/classify", content=json.dumps(body), headers={"Content-Type": "application/json"})
    after = httpx.get(f"{server}/api/status").json()["num_finished"]
    assert after > before
    expect(page.locator("#status-cards")).to_contain_text(f"共完成 {after}")
    visitor.shot("status-zh")


@pytest.mark.parametrize("number", range(4))
def test_dark_and_english(browser: Browser, server: str, number: int) -> None:
    with visiting(browser, server, locale="en-US", color_scheme="dark") as visitor:
        page = visitor.open()
        expect(page.get_by_role("tab").nth(0)).to_have_text("Classification")
        visitor.tab(number)
        if number < 3:
            page.keyboard.press("Control+Enter")
            result = ["#classify-result h2", "#extract-highlight .text", "#prompt-answer textarea"][number]
            expect(page.locator(result).first).to_be_visible()
        visitor.shot(f"dark-en-{number}")


@pytest.mark.parametrize("number", range(4))
def test_phone(browser: Browser, server: str, number: int) -> None:
    with visiting(browser, server, viewport={"width": 375, "height": 740}, device_scale_factor=2) as visitor:
        page = visitor.open()
        visitor.tab(number)
        if number < 3:
            page.keyboard.press("Control+Enter")
            result = ["#classify-result h2", "#extract-highlight .text", "#prompt-answer textarea"][number]
            expect(page.locator(result).first).to_be_visible()
        width = page.evaluate("document.scrollingElement.scrollWidth")
        visitor.shot(f"phone-zh-{number}")
        assert width <= 375
