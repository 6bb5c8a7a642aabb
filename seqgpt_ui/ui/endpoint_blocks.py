"""Lets callers of a named endpoint leave out the values at the end that have defaults."""

from __future__ import annotations

from typing import Any

import gradio as gr
from gradio.components.api_component import Api


class EndpointBlocks(gr.Blocks):
    """Blocks whose endpoints take ``{"data": [text, labels]}`` where Gradio alone wants every value."""

    def validate_inputs(self, block_fn: Any, inputs: list[Any]) -> None:
        """Fill up ``inputs`` with defaults. Gradio's own refusal would write the values received into the log."""
        missing = block_fn.inputs[len(inputs) :]
        if not all(isinstance(block, Api) for block in missing):
            raise gr.Error(f"{len(missing)} input values are missing", print_exception=False)
        inputs.extend(block.value for block in missing)
