"""The page that answers free prompts, as they are written."""

from __future__ import annotations

from collections.abc import AsyncIterator
from typing import Any

import gradio as gr

from seqgpt_ui.ui.context import LIGHT_EVENT, MODEL_EVENT, PageContext
from seqgpt_ui.ui.presenters.free_prompt import FreeView
from seqgpt_ui.ui.presenters.templates import example_prompt, templates_of


def build_free_prompt_page(context: PageContext) -> None:
    """Lay out the page and wire its events."""
    templates = templates_of(context.templates, "classify", "extract")
    make = context.localizer.make
    with gr.Row(equal_height=False, elem_classes="page"):
        with gr.Column(scale=6, min_width=320):
            template = context.template_picker(templates, "prompt-template")
            prompt = make(
                gr.Textbox, {"label": "prompt.prompt", "info": "prompt.hint"}, lines=8, max_lines=20,
                value=example_prompt(templates[0]), elem_id="prompt-text",
            )  # fmt: skip
            options = _options(context)
            with gr.Row():
                run = context.run_button("prompt.run")
                stop = make(gr.Button, {"value": "prompt.stop"}, scale=1, elem_id="prompt-stop")
        with gr.Column(scale=5, min_width=320):
            answer = make(
                gr.Textbox, {"label": "prompt.answer"}, interactive=False, lines=6, max_lines=24, buttons=["copy"],
                elem_id="prompt-answer",
            )  # fmt: skip
            notes = gr.HTML(elem_id="prompt-notes")
            outputs = [answer, notes, *context.traces("prompt")]

    async def show_answer(*values: Any) -> AsyncIterator[list[Any]]:
        async for view in context.handlers.prompt(*values):
            yield _show(view)

    def pick(template_id: str) -> str:
        return example_prompt(context.templates.get(template_id))

    running = run.click(show_answer, [prompt, *options, context.language], outputs, **MODEL_EVENT)
    stop.click(None, cancels=[running], api_visibility="private", queue=False)
    template.input(pick, [template], [prompt], **LIGHT_EVENT)


def _options(context: PageContext) -> list[Any]:
    make = context.localizer.make
    with make(gr.Accordion, {"label": "common.options"}, open=False, elem_id="prompt-options"):
        with gr.Row():
            tokens = make(
                gr.Slider, {"label": "prompt.max_new_tokens"}, minimum=1, maximum=1024, step=1, value=256,
                elem_id="prompt-max-new-tokens",
            )  # fmt: skip
            penalty = make(
                gr.Slider, {"label": "prompt.repetition_penalty"}, minimum=0.5, maximum=4, step=0.05, value=1,
            )  # fmt: skip
        sample = make(gr.Checkbox, {"label": "prompt.do_sample"}, elem_id="prompt-do-sample")
        with gr.Row():
            temperature = make(gr.Slider, {"label": "prompt.temperature"}, minimum=0.05, maximum=5, step=0.05, value=1)
            top_p = make(gr.Slider, {"label": "prompt.top_p"}, minimum=0.01, maximum=1, step=0.01, value=1)
        seed = make(gr.Number, {"label": "prompt.seed", "info": "prompt.seed_info"}, value=None, precision=0, minimum=0)
    return [tokens, penalty, sample, temperature, top_p, seed]


def _show(view: FreeView) -> list[Any]:
    """The view as values of the result widgets, in their order."""
    return [view.answer, view.notes, view.prompt, view.raw, view.details, view.json]
