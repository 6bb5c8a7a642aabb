"""Documents that are made from code equal the code."""

from __future__ import annotations

from seqgpt_ui.settings import PROJECT_ROOT, settings_document


def test_the_settings_document_is_up_to_date() -> None:
    """``python -m seqgpt_ui settings > docs/settings.md`` renews it."""
    assert (PROJECT_ROOT / "docs" / "settings.md").read_text(encoding="utf-8") == settings_document()
