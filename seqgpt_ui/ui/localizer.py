"""Makes widgets whose texts come from the table, and changes those texts when the user picks the other language."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from typing import Any, TypeVar

import gradio as gr
from gradio.blocks import Block

from seqgpt_ui.ui.i18n import Language, tr

B = TypeVar("B", bound=Block)
# A key of the table, or a function of the language for values that are lists.
TextSource = str | Callable[[Language], Any]


class Localizer:
    """Remembers which property of which widget shows which text."""

    def __init__(self, language: Language) -> None:
        self.language = language
        self._widgets: list[tuple[Block, Mapping[str, TextSource]]] = []

    def make(self, widget: Callable[..., B], texts: Mapping[str, TextSource], **properties: Any) -> B:
        """Create a widget; ``texts`` maps its properties to keys of the table."""
        made = widget(**_resolve(texts, self.language), **properties)
        self._widgets.append((made, texts))
        return made

    @property
    def widgets(self) -> list[Block]:
        """All widgets with texts, in the order of ``updates``."""
        return [widget for widget, _ in self._widgets]

    def updates(self, language: Language) -> list[Any]:
        """What changes in each widget when the language does."""
        return [gr.update(**_resolve(texts, language)) for _, texts in self._widgets]


def _resolve(texts: Mapping[str, TextSource], language: Language) -> dict[str, Any]:
    return {
        name: tr(source, language) if isinstance(source, str) else source(language) for name, source in texts.items()
    }
