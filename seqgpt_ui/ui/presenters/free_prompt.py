"""Free prompts: the answer as it grows, and its traces."""

from __future__ import annotations

from dataclasses import dataclass

from seqgpt_ui.api.serialize import Json, free_json
from seqgpt_ui.errors import SeqGPTError
from seqgpt_ui.tasks.results import FreeAnswer
from seqgpt_ui.ui.i18n import Language
from seqgpt_ui.ui.presenters.notes import error_html, warnings_html
from seqgpt_ui.ui.presenters.traces import free_details_text


@dataclass(frozen=True, slots=True)
class FreeView:
    """Values of the result widgets of the free prompt page."""

    answer: str = ""
    notes: str = ""
    prompt: str = ""
    raw: str = ""
    details: str = ""
    json: Json | None = None


def present_partial(text: str) -> FreeView:
    """The page while the answer grows."""
    return FreeView(answer=text, raw=text)


def present_free(answer: FreeAnswer, model: Json | None, language: Language) -> FreeView:
    """The page once the answer is whole."""
    return FreeView(
        answer=answer.text.strip("\n"),
        notes=warnings_html(answer.warnings, language),
        prompt=answer.prompt,
        raw=answer.text,
        details=free_details_text(answer, language),
        json={"result": free_json(answer), "model": model},
    )


def failed_free(error: SeqGPTError, text: str, language: Language) -> FreeView:
    """The page after an error; what was written until then stays."""
    return FreeView(answer=text, raw=text, notes=error_html(error, language))
