"""The assembled pages: events, limits, languages, and what they load."""

from __future__ import annotations

import re
from typing import Any

import httpx
import pytest

from seqgpt_ui.ui.blocks import MAX_WAITING_EVENTS, page_script
from seqgpt_ui.ui.context import LIGHT_LIMIT, MODEL_LIMIT
from seqgpt_ui.ui.localizer import Localizer
from seqgpt_ui.ui.theme import create_theme

pytestmark = pytest.mark.anyio
ENDPOINTS = {"classify", "extract", "prompt", "templates", "status"}


async def test_only_the_named_endpoints_are_public(blocks: Any) -> None:
    public = [fn.api_name for fn in blocks.fns.values() if fn.api_visibility == "public"]
    assert sorted(public) == sorted(ENDPOINTS)


async def test_every_event_has_its_own_limit(blocks: Any) -> None:
    limits = {"model": MODEL_LIMIT, "light": LIGHT_LIMIT}
    for fn in blocks.fns.values():
        if fn.queue and fn.fn is not None and not fn.is_cancel_function:
            assert fn.concurrency_limit == limits[fn.concurrency_id], fn.api_name


async def test_what_asks_the_model_does_not_hold_up_the_rest(blocks: Any) -> None:
    asking = {fn.api_name for fn in blocks.fns.values() if fn.concurrency_id == "model"}
    assert asking == {"classify", "extract", "prompt", "show_classification", "show_extraction", "show_answer"}


async def test_queue_is_bounded(blocks: Any) -> None:
    assert blocks._queue.max_size == MAX_WAITING_EVENTS


async def test_page_opens_and_comes_from_here_alone(client: httpx.AsyncClient) -> None:
    page = await client.get("/")
    assert page.status_code == 200
    links = re.findall(r"""(?:src|href)=["'](https?:)?//([^/"']+)""", page.text)
    assert {host for _, host in links} <= {"127.0.0.1:7860"}
    assert "fonts.googleapis" not in page.text


async def test_rest_is_found_before_the_pages(client: httpx.AsyncClient) -> None:
    assert (await client.get("/healthz")).json() == {"status": "ok"}
    answer = await client.post("/api/classify", json={"text": "a", "labels": "x"})
    assert answer.json()["results"][0]["raw"] == "体育\n"
    assert (await client.get("/api/nothing")).json()["error"]["code"] == "not_found"
    assert (await client.get("/api/classify")).status_code == 405


async def test_what_gradio_would_tell_others_is_off(client: httpx.AsyncClient, blocks: Any) -> None:
    assert (await client.get("/monitoring")).status_code in (403, 404)
    config = (await client.get("/config")).json()
    assert config["analytics_enabled"] is False
    assert not config.get("run_history")
    assert config["show_error"] is False


async def test_too_large_a_body_is_refused_for_pages_too(client: httpx.AsyncClient) -> None:
    response = await client.post("/gradio_api/call/classify", content=b" " * 9_000_000)
    assert response.status_code == 413


async def test_theme_needs_no_font_from_elsewhere() -> None:
    theme = create_theme()
    assert [sheet for sheet in theme._stylesheets if sheet] == []


async def test_widgets_change_their_language() -> None:
    import gradio as gr

    localizer = Localizer("zh")
    with gr.Blocks():
        text = localizer.make(gr.Textbox, {"label": "classify.text", "placeholder": "classify.text_hint"}, lines=3)
        radio = localizer.make(gr.Radio, {"choices": lambda language: [(language, "value")]})
    assert (text.label, text.lines) == ("文本", 3)
    assert radio.choices == [("zh", "value")]
    assert localizer.widgets == [text, radio]
    first, second = localizer.updates("en")
    assert first["label"] == "Text"
    assert first["placeholder"] == "Paste or type the text to classify"
    assert second["choices"] == [("en", "value")]


async def test_first_language_follows_the_setting(blocks: Any) -> None:
    labels = {block.label for block in blocks.blocks.values() if getattr(block, "label", None)}
    assert "文本" in labels
    assert "Text" not in labels


@pytest.mark.parametrize(("setting", "shown", "fixed"), [("auto", "zh", ""), ("zh", "zh", "zh"), ("en", "en", "en")])
async def test_page_script_knows_the_language_setting(setting: str, shown: str, fixed: str) -> None:
    script = page_script(setting)
    assert f'const shown = "{shown}"' in script
    assert f'const fixed = "{fixed}"' in script
    assert "__" not in script
    assert "</script" not in script
