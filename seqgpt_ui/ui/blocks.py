"""Assembles the pages into one Blocks app and mounts it. Nothing is built at import."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import gradio as gr
from fastapi import FastAPI

from seqgpt_ui.api.service import Service
from seqgpt_ui.protocol import InfoResponse
from seqgpt_ui.ui.context import LIGHT_EVENT, PageContext
from seqgpt_ui.ui.endpoint_blocks import EndpointBlocks
from seqgpt_ui.ui.endpoints import declare_endpoints
from seqgpt_ui.ui.handlers import Handlers
from seqgpt_ui.ui.i18n import LANGUAGE_NAMES, Language, first_language, tr
from seqgpt_ui.ui.localizer import Localizer
from seqgpt_ui.ui.pages.classification import build_classification_page
from seqgpt_ui.ui.pages.extraction import build_extraction_page
from seqgpt_ui.ui.pages.free_prompt import build_free_prompt_page
from seqgpt_ui.ui.pages.status import build_status_page, refresh_status
from seqgpt_ui.ui.presenters.status import banner_html
from seqgpt_ui.ui.theme import create_theme

FOLDER = Path(__file__).resolve().parent
MAX_WAITING_EVENTS = 128
# Functions of page.js.
FIRST_LANGUAGE_JS = "() => window.seqgptPage.first()"
KEEP_LANGUAGE_JS = "(language) => window.seqgptPage.keep(language)"
SETTLED_JS = "() => { window.seqgptPage.settled(); }"


def create_blocks(service: Service) -> gr.Blocks:
    """All pages and the named endpoints."""
    language = first_language(service.settings.language)
    localizer = Localizer(language)
    blocks: gr.Blocks
    with EndpointBlocks(title=tr("app.title", language), analytics_enabled=False) as blocks:
        # First, so that no event of a page can take the name of an endpoint.
        declare_endpoints(service)
        picker = _top_bar(localizer, language)
        context = PageContext(Handlers(service), service.templates, localizer, picker)
        banner = gr.HTML(banner_html(InfoResponse(state="loading"), language), elem_id="banner")
        with gr.Tabs(elem_id="tabs"):
            cards = _tabs(context)
        _wire_language(blocks, context)
        refresh_status(context, blocks, banner, cards)
    blocks.queue(max_size=MAX_WAITING_EVENTS, default_concurrency_limit=1)
    return blocks


def mount_pages(app: FastAPI, demo: gr.Blocks, setting: str = "auto") -> FastAPI:
    """Mount the pages behind the routes that ``app`` already has. Nothing is loaded from other hosts.

    ``setting`` is the language of the settings: zh, en or auto.
    """
    mounted: FastAPI = gr.mount_gradio_app(
        app,
        demo,
        path="/",
        theme=create_theme(),
        css_paths=FOLDER / "page.css",
        head=f"<script>{page_script(setting)}</script>",
        favicon_path=str(FOLDER / "favicon.svg"),
        footer_links=["api"],
        show_error=False,
        run_history=False,
        enable_monitoring=False,
        ssr_mode=False,
        pwa=False,
        mcp_server=False,
    )
    return mounted


def page_script(setting: str) -> str:
    """The page's own script for a language setting."""
    script = (FOLDER / "page.js").read_text(encoding="utf-8")
    return script.replace("__SHOWN__", first_language(setting)).replace(
        "__FIXED__", "" if setting == "auto" else setting
    )


def _top_bar(localizer: Localizer, language: Language) -> gr.Radio:
    with gr.Row(elem_id="topbar"):
        localizer.make(gr.HTML, {"value": _heading}, elem_id="heading")
        return gr.Radio(
            list(LANGUAGE_NAMES), value=language, show_label=False, container=False, elem_id="language", min_width=140
        )


def _heading(language: Language) -> str:
    return f"<h1>{tr('app.title', language)}</h1><p>{tr('app.tagline', language)}</p>"


def _tabs(context: PageContext) -> gr.HTML:
    """Build the four pages; answers the status page's widget."""
    make = context.localizer.make
    with make(gr.Tab, {"label": "tab.classify"}, id="classify"):
        build_classification_page(context)
    with make(gr.Tab, {"label": "tab.extract"}, id="extract"):
        build_extraction_page(context)
    with make(gr.Tab, {"label": "tab.prompt"}, id="prompt"):
        build_free_prompt_page(context)
    with make(gr.Tab, {"label": "tab.status"}, id="status"):
        return build_status_page(context)


def _wire_language(demo: gr.Blocks, context: PageContext) -> None:
    localizer, picker = context.localizer, context.language

    def switch(language: Language) -> list[Any]:
        return localizer.updates(language)

    def start(language: Language) -> list[Any]:
        return [language, *localizer.updates(language)]

    started = demo.load(start, [picker], [picker, *localizer.widgets], js=FIRST_LANGUAGE_JS, **LIGHT_EVENT)
    started.then(None, js=SETTLED_JS, api_visibility="private")
    picker.input(switch, [picker], localizer.widgets, js=KEEP_LANGUAGE_JS, **LIGHT_EVENT)
    # A table takes new column names together with its rows only.
    tables = [table for table, _ in context.tables]

    def rename_columns(language: Language, *rows: Any) -> list[Any]:
        names = [headers(language) for _, headers in context.tables]
        return [{"headers": names[index], "data": rows[index] or []} for index in range(len(tables))]

    picker.change(rename_columns, [picker, *tables], tables, **LIGHT_EVENT)
