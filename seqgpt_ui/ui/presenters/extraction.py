"""Extractions as highlighted text, rows and traces."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import dataclass, field

from seqgpt_ui.api.serialize import Json, extraction_json
from seqgpt_ui.errors import SeqGPTError
from seqgpt_ui.tasks.results import Entity, Extraction
from seqgpt_ui.ui.i18n import Language, tr
from seqgpt_ui.ui.presenters.notes import UNKNOWN, error_html, hint_html, score_text, warnings_html
from seqgpt_ui.ui.presenters.traces import details_text

Segment = tuple[str, str | None]
# Told apart by hue, equally calm, readable under dark and light text alike.
PALETTE = ("#0f9d8a", "#4f7cd6", "#c2703d", "#a35bb5", "#7a9a2e", "#c0567a", "#3f97b8", "#b08a2c")


@dataclass(frozen=True, slots=True)
class ExtractionView:
    """Values of the result widgets of the extraction page."""

    segments: list[Segment] = field(default_factory=list)
    colors: dict[str, str] = field(default_factory=dict)
    headers: list[str] = field(default_factory=list)
    rows: list[list[str]] = field(default_factory=list)
    notes: str = ""
    prompt: str = ""
    raw: str = ""
    details: str = ""
    json: Json | None = None


def present_extraction(text: str, result: Extraction, model: Json | None, language: Language) -> ExtractionView:
    """What the page shows for one text."""
    notes = warnings_html(result.warnings, language)
    return ExtractionView(
        segments=segments(text, result.entities),
        colors=field_colors(list(result.fields)),
        headers=table_headers(language),
        rows=[table_row(entity) for entity in result.entities],
        notes=notes if result.entities else hint_html("extract.none", language) + notes,
        prompt=result.prompt,
        raw=result.raw,
        details=details_text(result, language),
        json={"results": [extraction_json(result)], "model": model},
    )


def failed_extraction(error: SeqGPTError, language: Language) -> ExtractionView:
    """The page after an error: no result, and why."""
    return ExtractionView(headers=table_headers(language), notes=error_html(error, language))


def segments(text: str, entities: Iterable[Entity]) -> list[Segment]:
    """Cut ``text`` into marked and plain pieces that together are ``text``.

    Pieces never overlap: of two entities that do, the one that starts first wins, then the longer one. The table
    shows all of them.
    """
    pieces: list[Segment] = []
    position = 0
    for start, end, label in _places(text, entities):
        if start < position:
            continue
        if start > position:
            pieces.append((text[position:start], None))
        pieces.append((text[start:end], label))
        position = end
    if position < len(text):
        pieces.append((text[position:], None))
    return pieces


def _places(text: str, entities: Iterable[Entity]) -> list[tuple[int, int, str]]:
    """Where the entities stand, in reading order, longest first; what does not stand in the text is left out."""
    places = [
        (entity.start, entity.end, entity.field)
        for entity in entities
        if entity.start is not None and entity.end is not None and 0 <= entity.start < entity.end <= len(text)
    ]
    return sorted(places, key=lambda place: (place[0], -place[1], place[2]))


def field_colors(fields: Sequence[str]) -> dict[str, str]:
    """A colour for each field, in the order asked."""
    return {name: PALETTE[index % len(PALETTE)] for index, name in enumerate(fields)}


def table_row(entity: Entity) -> list[str]:
    """Field, span, start, end and score of one entity."""
    places = [UNKNOWN if value is None else str(value) for value in (entity.start, entity.end)]
    return [entity.field, entity.text, *places, score_text(entity.score)]


def table_headers(language: Language) -> list[str]:
    """Column names of the table."""
    return [tr(f"extract.column_{name}", language) for name in ("field", "span", "start", "end", "score")]
