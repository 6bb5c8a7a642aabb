"""The page that tells what the worker does, and the banner above all pages; both refresh by themselves."""

from __future__ import annotations

from typing import Any

import gradio as gr

from seqgpt_ui.ui.context import LIGHT_EVENT, PageContext
from seqgpt_ui.ui.i18n import Language
from seqgpt_ui.ui.presenters.status import banner_html, status_html

REFRESH_S = 3.0


def build_status_page(context: PageContext) -> gr.HTML:
    """Lay out the page; answers the widget that ``refresh_status`` fills."""
    return gr.HTML(elem_id="status-cards")


def refresh_status(context: PageContext, demo: gr.Blocks, banner: gr.HTML, cards: gr.HTML) -> None:
    """Keep banner, cards and run buttons true: on load, when the language changes, and every few seconds."""

    async def refresh(language: Language) -> list[Any]:
        info = await context.handlers.info()
        button = gr.update(interactive=info.state == "ready")
        return [banner_html(info, language), status_html(info, language), *[button] * len(context.run_buttons)]

    outputs = [banner, cards, *context.run_buttons]
    gr.Timer(REFRESH_S).tick(refresh, [context.language], outputs, **LIGHT_EVENT)
    context.language.change(refresh, [context.language], outputs, **LIGHT_EVENT)
    demo.load(refresh, [context.language], outputs, **LIGHT_EVENT)
