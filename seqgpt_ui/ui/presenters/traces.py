"""How an answer came about: the prompts as sent, the raw output, and the counts."""

from __future__ import annotations

from collections.abc import Iterable

from seqgpt_ui.tasks.results import Classification, Extraction, FreeAnswer
from seqgpt_ui.ui.i18n import Language, tr


def joined(parts: Iterable[str]) -> str:
    """Prompts or raw outputs of several texts in one box."""
    return "\n\n".join(parts)


def details_text(result: Classification | Extraction, language: Language) -> str:
    """Template, mode, windows and tokens in one line."""
    return tr(
        "common.details",
        language,
        template=result.template,
        mode=tr(f"mode.{result.mode}", language),
        windows=result.windows,
        num_tokens=result.num_tokens,
    )


def free_details_text(answer: FreeAnswer, language: Language) -> str:
    """Tokens and the way a free answer ended, in one line."""
    return tr(
        "prompt.details",
        language,
        num_prompt_tokens=answer.num_prompt_tokens,
        num_tokens=answer.num_tokens,
        finish=tr(f"finish.{answer.finish_reason}", language),
    )
