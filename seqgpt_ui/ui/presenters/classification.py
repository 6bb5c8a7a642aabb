"""Classifications as bars, rows and traces."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field

from seqgpt_ui.api.serialize import Json, classification_json
from seqgpt_ui.errors import SeqGPTError
from seqgpt_ui.tasks.results import Classification
from seqgpt_ui.ui.i18n import Language, tr
from seqgpt_ui.ui.presenters.notes import error_html, hint_html, score_text, warnings_html
from seqgpt_ui.ui.presenters.traces import details_text, joined

MAX_BARS = 20
MAX_ROWS = 200
MAX_CELL_CHARS = 200


@dataclass(frozen=True, slots=True)
class ClassificationView:
    """Values of the result widgets of the classification page."""

    bars: dict[str, float] | str | None = None
    is_heading_shown: bool = True
    headers: list[str] = field(default_factory=list)
    rows: list[list[str]] = field(default_factory=list)
    notes: str = ""
    prompt: str = ""
    raw: str = ""
    details: str = ""
    json: Json | None = None


def present_classifications(
    texts: Sequence[str], results: Sequence[Classification], model: Json | None, language: Language
) -> ClassificationView:
    """What the page shows for these texts; the bars are those of a single text."""
    single = results[0] if len(results) == 1 else None
    notes = warnings_html((notice for result in results for notice in result.warnings), language)
    if single is not None and not single.labels:
        notes = hint_html("classify.none", language) + notes
    return ClassificationView(
        bars=None if single is None else bars(single),
        is_heading_shown=single is not None and len(single.labels) == 1,
        headers=table_headers(language),
        rows=[] if single is not None else [table_row(*pair) for pair in zip(texts, results, strict=True)][:MAX_ROWS],
        notes=notes,
        prompt=joined(result.prompt for result in results),
        raw=joined(result.raw for result in results),
        details=details_text(results[0], language) if single is not None else "",
        json={"results": [classification_json(result) for result in results], "model": model},
    )


def failed_classification(error: SeqGPTError, language: Language) -> ClassificationView:
    """The page after an error: no result, and why."""
    return ClassificationView(headers=table_headers(language), notes=error_html(error, language))


def bars(result: Classification) -> dict[str, float] | str | None:
    """Labels with known scores, best first; the bare labels where no score is known (mode official)."""
    scores = result.scores or {item.label: item.score for item in result.labels}
    known = {label: score for label, score in scores.items() if score is not None}
    if known:
        best = sorted(known.items(), key=lambda pair: -pair[1])[:MAX_BARS]
        return dict(best)
    return "，".join(item.label for item in result.labels) or None


def table_row(text: str, result: Classification) -> list[str]:
    """One text of several: the text, its labels, their scores."""
    shown = text if len(text) <= MAX_CELL_CHARS else text[: MAX_CELL_CHARS - 1] + "…"
    return [
        shown,
        "，".join(item.label for item in result.labels),
        ", ".join(score_text(item.score) for item in result.labels),
    ]


def table_headers(language: Language) -> list[str]:
    """Column names of the table of several texts."""
    return [tr(f"classify.column_{name}", language) for name in ("text", "labels", "score")]
