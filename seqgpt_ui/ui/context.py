"""What every page is built from: the widgets' texts, the actions behind the buttons, the templates, the limits."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, field
from typing import Any

import gradio as gr
from gradio.blocks import Block

from seqgpt_ui.prompt.templates import TaskTemplate, TemplateLibrary
from seqgpt_ui.ui.handlers import Handlers
from seqgpt_ui.ui.i18n import Language, tr
from seqgpt_ui.ui.localizer import Localizer
from seqgpt_ui.ui.presenters.templates import template_choices

# The worker has the real limits; these keep one browser from holding every connection to it.
MODEL_LIMIT = 16
LIGHT_LIMIT = 32
# Events of the pages are no public endpoints. What asks the model shares one limit, the rest never waits for it.
MODEL_EVENT: dict[str, Any] = {
    "api_visibility": "private",
    "concurrency_id": "model",
    "concurrency_limit": MODEL_LIMIT,
    "show_progress": "minimal",
}
LIGHT_EVENT: dict[str, Any] = {
    "api_visibility": "private",
    "concurrency_id": "light",
    "concurrency_limit": LIGHT_LIMIT,
    "show_progress": "hidden",
}


# Column names in a language.
Headers = Callable[[Language], list[str]]


@dataclass(slots=True)
class PageContext:
    """Handed to each page while it is built. Pages add their run buttons, which wait for the model."""

    handlers: Handlers
    templates: TemplateLibrary
    localizer: Localizer
    language: gr.Radio
    run_buttons: list[gr.Button] = field(default_factory=list)
    tables: list[tuple[gr.Dataframe, Headers]] = field(default_factory=list)

    def run_button(self, key: str) -> gr.Button:
        """The main button of a page; Ctrl+Enter presses it."""
        button = self.localizer.make(gr.Button, {"value": key}, variant="primary", elem_classes="run", scale=2)
        self.run_buttons.append(button)
        return button

    def template_picker(self, templates: list[TaskTemplate], elem_id: str) -> gr.Dropdown:
        """A list of templates with titles in the user's language."""

        def choices(language: Language) -> list[tuple[str, str]]:
            return template_choices(templates, language)

        return self.localizer.make(
            gr.Dropdown,
            {"label": "common.template", "info": "common.template_info", "choices": choices},
            value=templates[0].id,
            elem_id=elem_id,
            filterable=len(templates) > 12,
        )

    def mode_picker(self, elem_id: str) -> gr.Radio:
        """Fast, precise or official."""

        def choices(language: Language) -> list[tuple[str, str]]:
            return [(tr(f"mode.{mode}", language), mode) for mode in ("fast", "precise", "official")]

        return self.localizer.make(
            gr.Radio,
            {"label": "common.mode", "info": "common.mode_info", "choices": choices},
            value="fast",
            elem_id=elem_id,
        )

    def table(self, key: str, headers: Headers, **properties: Any) -> gr.Dataframe:
        """A table whose column names follow the language."""
        made = self.localizer.make(
            gr.Dataframe,
            {"label": key},
            headers=headers(self.localizer.language),
            interactive=False,
            wrap=True,
            type="array",
            max_height=420,
            **properties,
        )
        self.tables.append((made, headers))
        return made

    def traces(self, page: str) -> list[Block]:
        """Closed drawers with prompt, raw output, counts and JSON; answers the widgets in that order."""
        make = self.localizer.make
        with make(gr.Accordion, {"label": "common.trace"}, open=False, elem_id=f"{page}-trace"):
            prompt = make(
                gr.Textbox, {"label": "common.sent_prompt"}, interactive=False, lines=3, max_lines=12,
                buttons=["copy"], elem_id=f"{page}-sent", elem_classes="mono",
            )  # fmt: skip
            raw = make(
                gr.Textbox, {"label": "common.raw"}, interactive=False, lines=1, max_lines=12,
                buttons=["copy"], elem_id=f"{page}-raw", elem_classes="mono",
            )  # fmt: skip
            details = gr.Markdown(elem_id=f"{page}-details", elem_classes="details")
        with make(gr.Accordion, {"label": "common.json"}, open=False, elem_id=f"{page}-json"):
            shown = gr.JSON(show_label=False, max_height=420)
        return [prompt, raw, details, shown]
