"""The page that finds pieces of a text."""

from __future__ import annotations

from typing import Any

import gradio as gr

from seqgpt_ui.ui.context import LIGHT_EVENT, MODEL_EVENT, PageContext
from seqgpt_ui.ui.presenters.extraction import ExtractionView, table_headers
from seqgpt_ui.ui.presenters.templates import example_labels, example_samples, example_text, templates_of


def build_extraction_page(context: PageContext) -> None:
    """Lay out the page and wire its events."""
    templates = templates_of(context.templates, "extract")
    make, first = context.localizer.make, templates[0]
    with gr.Row(equal_height=False, elem_classes="page"):
        with gr.Column(scale=6, min_width=320):
            template = context.template_picker(templates, "extract-template")
            text = make(
                gr.Textbox, {"label": "extract.text", "placeholder": "extract.text_hint"}, lines=6, max_lines=16,
                value=example_text(first), elem_id="extract-text",
            )  # fmt: skip
            fields = make(
                gr.Textbox, {"label": "extract.fields", "info": "classify.labels_info"}, lines=2, max_lines=8,
                value=example_labels(first), elem_id="extract-fields",
            )  # fmt: skip
            with make(gr.Accordion, {"label": "common.options"}, open=False, elem_id="extract-options"):
                mode = context.mode_picker("extract-mode")
            run = context.run_button("extract.run")
            examples = make(
                gr.Dataset, {"label": "common.examples"}, components=[gr.Textbox(visible=False)],
                samples=example_samples(first), type="index", layout="gallery", elem_id="extract-examples",
            )  # fmt: skip
        with gr.Column(scale=5, min_width=320):
            outputs = _results(context)

    async def show_extraction(*values: Any) -> list[Any]:
        return _show(await context.handlers.extract(*values))

    def pick(template_id: str) -> list[Any]:
        picked = context.templates.get(template_id)
        return [example_text(picked), example_labels(picked), gr.update(samples=example_samples(picked))]

    def use_example(template_id: str, index: int) -> list[Any]:
        picked = context.templates.get(template_id)
        return [example_text(picked, index), example_labels(picked, index)]

    run.click(show_extraction, [text, fields, mode, template, context.language], outputs, **MODEL_EVENT)
    template.input(pick, [template], [text, fields, examples], **LIGHT_EVENT)
    examples.click(use_example, [template, examples], [text, fields], **LIGHT_EVENT)


def _results(context: PageContext) -> list[Any]:
    make = context.localizer.make
    highlight = make(
        gr.HighlightedText, {"label": "extract.highlight"}, interactive=False, show_legend=False,
        elem_id="extract-highlight",
    )  # fmt: skip
    notes = gr.HTML(elem_id="extract-notes")
    table = context.table("extract.table", table_headers, elem_id="extract-table")
    return [highlight, notes, table, *context.traces("extract")]


def _show(view: ExtractionView) -> list[Any]:
    """The view as updates of the result widgets, in their order."""
    return [
        gr.update(value=view.segments, color_map=view.colors),
        view.notes,
        {"headers": view.headers, "data": view.rows},
        view.prompt,
        view.raw,
        view.details,
        view.json,
    ]
