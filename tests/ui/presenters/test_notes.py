"""Remarks and numbers."""

from __future__ import annotations

import pytest

from seqgpt_ui.prompt.notice import Notice
from seqgpt_ui.ui.presenters.notes import hint_html, notes_html, score_text, warnings_html


def test_lines_are_escaped_and_shown_once() -> None:
    assert notes_html(["<script>", "<script>"]).count("&lt;script&gt;") == 1
    assert notes_html([]) == ""


def test_kinds() -> None:
    assert "note-hint" in hint_html("classify.none", "en")
    assert "note-warning" in warnings_html([Notice("empty_output", "m")], "en")


@pytest.mark.parametrize(("score", "shown"), [(None, "—"), (0.0, "0.000"), (1.0, "1.000"), (0.12345, "0.123")])
def test_scores(score: float | None, shown: str) -> None:
    assert score_text(score) == shown
