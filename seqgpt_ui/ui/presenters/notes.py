"""Remarks, errors and numbers as the pages show them."""

from __future__ import annotations

from collections.abc import Iterable
from html import escape

from seqgpt_ui.errors import SeqGPTError
from seqgpt_ui.prompt.notice import Notice
from seqgpt_ui.ui.i18n import Language, tr, tr_error, tr_notice

UNKNOWN = "—"


def notes_html(lines: Iterable[str], kind: str = "warning") -> str:
    """Lines as calm boxes; empty without any. Repeated lines are shown once."""
    return "".join(f'<p class="note note-{kind}" role="status">{escape(line)}</p>' for line in dict.fromkeys(lines))


def warnings_html(notices: Iterable[Notice], language: Language) -> str:
    """Warnings of a result."""
    return notes_html(tr_notice(notice, language) for notice in notices)


def error_html(error: SeqGPTError, language: Language) -> str:
    """What went wrong, without a stack trace."""
    return notes_html([tr_error(error, language)], "error")


def hint_html(key: str, language: Language) -> str:
    """A remark that is no warning."""
    return notes_html([tr(key, language)], "hint")


def score_text(score: float | None) -> str:
    """A score with three digits; one that is not known is a dash, never 0."""
    return UNKNOWN if score is None else f"{score:.3f}"
