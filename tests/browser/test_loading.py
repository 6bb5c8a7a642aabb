"""The page before there is a model."""

from __future__ import annotations

import httpx
import pytest
from playwright.sync_api import Browser, expect

from tests.browser.conftest import visiting

pytestmark = pytest.mark.browser


def test_page_opens_and_says_what_it_waits_for(browser: Browser, server_without_worker: str) -> None:
    with visiting(browser, server_without_worker) as visitor:
        page = visitor.open(is_ready=False)
        expect(page.locator(".banner-loading")).to_contain_text("正在加载")
        expect(page.get_by_role("button", name="分类", exact=True)).to_be_disabled()
        visitor.tab(3)
        expect(page.locator(".card-loading dd")).to_have_text("加载中")
        visitor.shot("loading-zh")


def test_probes_and_requests_say_it_too(server_without_worker: str) -> None:
    assert httpx.get(f"{server_without_worker}/healthz").status_code == 200
    assert httpx.get(f"{server_without_worker}/readyz").status_code == 503
    answer = httpx.post(f"{server_without_worker}/api/classify", json={"text": "a", "labels": "x"})
    assert answer.status_code == 503
    assert answer.json()["error"]["code"] == "worker_unavailable"
    assert int(answer.headers["retry-after"]) >= 1
