"""Chromium in front of the running product. Missing Chromium is a failure, never a skip."""

from __future__ import annotations

import shutil
from collections.abc import Iterator
from contextlib import contextmanager

import pytest
from playwright.sync_api import Browser, Page, expect, sync_playwright

from seqgpt_ui.settings import PROJECT_ROOT
from tests.web_server import running_app

PATIENCE_MS = 30_000
SCREENSHOTS = PROJECT_ROOT / "artifacts" / "screenshots"
CHROMIUM_NAMES = ("chromium", "chromium-browser", "google-chrome")


@pytest.fixture(scope="module")
def server() -> Iterator[str]:
    """The product with the backend that needs no weights, ready to answer."""
    with running_app() as url:
        yield url


@pytest.fixture(scope="module")
def server_without_worker() -> Iterator[str]:
    """The web process alone, as it is while a worker still loads."""
    with running_app("/healthz", children=False) as url:
        yield url


@pytest.fixture(scope="module")
def browser() -> Iterator[Browser]:
    """Chromium of the system. While Playwright runs, its event loop runs in this thread: no longer than one module."""
    found = next(filter(None, map(shutil.which, CHROMIUM_NAMES)), None)
    assert found, "Chromium is missing; as root: apt-get install chromium fonts-noto-cjk"
    expect.set_options(timeout=PATIENCE_MS)
    with sync_playwright() as playwright:
        chromium = playwright.chromium.launch(executable_path=found, args=["--no-sandbox"])
        yield chromium
        chromium.close()


class Visitor:
    """A person at the page: what they do, and what the page must not do meanwhile."""

    def __init__(self, page: Page, server: str) -> None:
        self.page = page
        self.server = server
        self.requests: list[str] = []
        self.problems: list[str] = []
        page.set_default_timeout(PATIENCE_MS)
        page.on("request", lambda request: self.requests.append(request.url))
        page.on("pageerror", lambda error: self.problems.append(str(error)))

    def open(self, is_ready: bool = True) -> Page:
        """Open the page; ``is_ready`` waits until it says which model answers."""
        self.page.goto(self.server)
        kind = ".banner-demo, .banner-full" if is_ready else ".banner"
        self.page.locator(kind).wait_for()
        return self.page

    def tab(self, number: int) -> None:
        """Turn to a tab."""
        self.page.get_by_role("tab").nth(number).click()

    def pick(self, page_name: str, title: str) -> None:
        """Pick a template and wait until it has filled in its text."""
        text = self.page.locator(f"#{page_name}-text textarea")
        before = text.input_value()
        self.page.locator(f"#{page_name}-template input").click()
        self.page.get_by_role("option", name=title, exact=True).click()
        expect(text).not_to_have_value(before)

    def shot(self, name: str) -> None:
        """Keep a picture."""
        SCREENSHOTS.mkdir(parents=True, exist_ok=True)
        self.page.screenshot(path=SCREENSHOTS / f"{name}.png", full_page=True)


@contextmanager
def visiting(browser: Browser, server: str, **options: object) -> Iterator[Visitor]:
    """A fresh browser profile; at its end nothing was asked of other hosts and no script has failed."""
    context = browser.new_context(**{"locale": "zh-CN", "viewport": {"width": 1280, "height": 900}, **options})  # type: ignore[arg-type]
    visitor = Visitor(context.new_page(), server)
    yield visitor
    context.close()
    assert visitor.problems == []
    strangers = [url for url in visitor.requests if not url.startswith((server, "data:", "blob:"))]
    assert strangers == []


@pytest.fixture
def visitor(browser: Browser, server: str) -> Iterator[Visitor]:
    """A visitor whose browser speaks Chinese."""
    with visiting(browser, server) as person:
        yield person
