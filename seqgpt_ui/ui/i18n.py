"""Looks up what the pages say. Languages are ``zh`` and ``en``; they never reach a prompt."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Literal

from seqgpt_ui.errors import SeqGPTError
from seqgpt_ui.prompt.notice import Notice
from seqgpt_ui.ui.texts import TEXTS

Language = Literal["zh", "en"]
LANGUAGES: tuple[Language, ...] = ("zh", "en")
# A language's own name is the same in both languages.
LANGUAGE_NAMES: tuple[tuple[str, Language], ...] = (("中文", "zh"), ("English", "en"))


def first_language(setting: str) -> Language:
    """Language of the page as first sent: the setting's, or Chinese until the browser has said its own."""
    return "en" if setting == "en" else "zh"


def tr(key: str, language: Language, **values: object) -> str:
    """The text of ``key`` with ``values`` filled in. Raises ``KeyError`` for a key that is not in the table."""
    text = TEXTS[key][language]
    return text.format(**values) if values else text


def tr_error(error: SeqGPTError, language: Language) -> str:
    """What went wrong, calmly."""
    key = f"error.{error.code}"
    return tr(key if key in TEXTS else "error.other", language, message=error.message)


def tr_notice(notice: Notice, language: Language) -> str:
    """A warning in the user's language; one that the table does not know, or cannot fill, stays English."""
    texts: Mapping[str, str] | None = TEXTS.get(f"warning.{notice.code}")
    if texts is None:
        return notice.message
    try:
        return texts[language].format(**notice.values)
    except (KeyError, IndexError):
        return notice.message
