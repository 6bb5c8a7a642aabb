"""The page that chooses labels for texts."""

from __future__ import annotations

from typing import Any

import gradio as gr

from seqgpt_ui.prompt.templates import TaskTemplate
from seqgpt_ui.ui.context import LIGHT_EVENT, MODEL_EVENT, PageContext
from seqgpt_ui.ui.presenters.classification import ClassificationView, table_headers
from seqgpt_ui.ui.presenters.templates import (
    example_labels,
    example_samples,
    example_text,
    templates_of,
)


def build_classification_page(context: PageContext) -> None:
    """Lay out the page and wire its events."""
    templates = templates_of(context.templates, "classify")
    make, first = context.localizer.make, templates[0]
    with gr.Row(equal_height=False, elem_classes="page"):
        with gr.Column(scale=6, min_width=320):
            template = context.template_picker(templates, "classify-template")
            text = make(
                gr.Textbox, {"label": "classify.text", "placeholder": "classify.text_hint"}, lines=6, max_lines=16,
                value=example_text(first), elem_id="classify-text",
            )  # fmt: skip
            labels = make(
                gr.Textbox, {"label": "classify.labels", "info": "classify.labels_info"}, lines=2, max_lines=8,
                value=example_labels(first), elem_id="classify-labels",
            )  # fmt: skip
            options = _options(context, first)
            run = context.run_button("classify.run")
            examples = make(
                gr.Dataset, {"label": "common.examples"}, components=[gr.Textbox(visible=False)],
                samples=example_samples(first), type="index", layout="gallery", elem_id="classify-examples",
            )  # fmt: skip
        with gr.Column(scale=5, min_width=320):
            outputs = _results(context)
    several, multi, threshold, all_scores, mode = options
    inputs = [text, several, labels, multi, threshold, all_scores, mode, template, context.language]

    async def show_classification(*values: Any) -> list[Any]:
        return _show(await context.handlers.classify(*values))

    def pick(template_id: str) -> list[Any]:
        picked = context.templates.get(template_id)
        samples = gr.update(samples=example_samples(picked))
        return [example_text(picked), example_labels(picked), picked.multi_label, False, samples]

    def use_example(template_id: str, index: int) -> list[Any]:
        picked = context.templates.get(template_id)
        return [example_text(picked, index), example_labels(picked, index), False]

    run.click(show_classification, inputs, outputs, **MODEL_EVENT)
    template.input(pick, [template], [text, labels, multi, several, examples], **LIGHT_EVENT)
    examples.click(use_example, [template, examples], [text, labels, several], **LIGHT_EVENT)


def _options(context: PageContext, first: TaskTemplate) -> list[Any]:
    make = context.localizer.make
    with make(gr.Accordion, {"label": "common.options"}, open=False, elem_id="classify-options"):
        mode = context.mode_picker("classify-mode")
        with gr.Row():
            multi = make(gr.Checkbox, {"label": "classify.multi"}, value=first.multi_label, elem_id="classify-multi")
            several = make(gr.Checkbox, {"label": "classify.several"}, elem_id="classify-several")
            all_scores = make(gr.Checkbox, {"label": "classify.all_scores"}, elem_id="classify-all-scores")
        threshold = make(
            gr.Slider, {"label": "classify.threshold", "info": "classify.threshold_info"}, minimum=0, maximum=1,
            step=0.01, value=0, elem_id="classify-threshold",
        )  # fmt: skip
    return [several, multi, threshold, all_scores, mode]


def _results(context: PageContext) -> list[Any]:
    make = context.localizer.make
    bars = make(gr.Label, {"label": "classify.result"}, elem_id="classify-result")
    table = context.table("classify.table", table_headers, visible=False, elem_id="classify-table")
    notes = gr.HTML(elem_id="classify-notes")
    return [bars, table, notes, *context.traces("classify")]


def _show(view: ClassificationView) -> list[Any]:
    """The view as updates of the result widgets, in their order."""
    is_table = bool(view.rows)
    return [
        gr.update(value=view.bars, show_heading=view.is_heading_shown, visible=not is_table),
        gr.update(value={"headers": view.headers, "data": view.rows}, visible=is_table),
        view.notes,
        view.prompt,
        view.raw,
        view.details,
        view.json,
    ]
