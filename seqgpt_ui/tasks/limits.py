"""What a request may hold at most, and the checks of texts and templates that every task shares."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import get_args

from seqgpt_ui.errors import InvalidRequest, InvalidTemplate, TextTooLong
from seqgpt_ui.prompt.templates import TaskTemplate, TemplateLibrary
from seqgpt_ui.protocol import Mode
from seqgpt_ui.tasks.task import Document

MAX_DEADLINE_S = 3600.0
DEFAULT_TEMPLATE = "official"


@dataclass(frozen=True, slots=True)
class Limits:
    """Bounds of one request. ``max_new_tokens`` bounds every constrained answer."""

    max_text_chars: int = 100_000
    max_labels: int = 500
    max_texts: int = 256
    max_new_tokens: int = 256

    def documents(self, texts: Sequence[str]) -> list[Document]:
        """The texts of a request. Raises ``InvalidRequest`` (none, too many, blank, not UTF-8) or ``TextTooLong``."""
        if isinstance(texts, str) or not texts:
            raise InvalidRequest("text is missing; give at least one", param="text")
        if len(texts) > self.max_texts:
            raise InvalidRequest(f"{len(texts)} texts; the limit is {self.max_texts} a request", param="text")
        for number, text in enumerate(texts, start=1):
            where = "text" if len(texts) == 1 else f"text {number}"
            self.check_text(text, where, "text")
        return [Document(text) for text in texts]

    def check_text(self, text: str, where: str, param: str) -> None:
        """Check one text; ``where`` names it in the message. Raises ``InvalidRequest`` or ``TextTooLong``."""
        if not isinstance(text, str):
            raise InvalidRequest(f"{where} is not a string", param=param)
        if not text.strip():
            raise InvalidRequest(f"{where} is empty", param=param)
        if len(text) > self.max_text_chars:
            message = f"{where} has {len(text)} characters; the limit is {self.max_text_chars}"
            raise TextTooLong(message, param=param)
        try:
            text.encode()
        except UnicodeEncodeError as error:
            message = f"{where} holds a lone surrogate at position {error.start}, which is no character"
            raise InvalidRequest(message, param=param) from error


def check_mode(mode: str) -> None:
    """Check a mode that came from outside. Raises ``InvalidRequest`` listing the modes."""
    if mode not in get_args(Mode):
        raise InvalidRequest(f"mode is {mode!r}; expected one of {', '.join(get_args(Mode))}", param="mode")


def pick_template(library: TemplateLibrary, name: str | None, task: str) -> TaskTemplate:
    """The template of a request, the official prompt by default. Raises ``InvalidTemplate`` for one of another task."""
    template = library.get(name or DEFAULT_TEMPLATE)
    if template.task not in (task, "any"):
        raise InvalidTemplate(f"template {template.id} is for task {template.task}, not {task}", param="template")
    return template
