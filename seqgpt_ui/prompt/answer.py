"""Writes answers the way a checkpoint is trained to give them: the inverse of the parser."""

from __future__ import annotations

from collections.abc import Mapping, Sequence

from seqgpt_ui.prompt.profile import FormatProfile
from seqgpt_ui.prompt.render import shown_label


def format_classification(labels: Sequence[str], profile: FormatProfile) -> str:
    """The answer line of a classification: labels in the order given, one line break at its end."""
    return profile.label_separator.join(map(shown_label, labels)) + "\n"


def format_extraction(fields: Sequence[str], spans: Mapping[str, Sequence[str]], profile: FormatProfile) -> str:
    """The answer of an extraction: one ``field: span<separator>span`` line per field asked, in their order."""
    lines = []
    for field in fields:
        found = spans.get(field, ())
        if not found and profile.absent is None:
            continue
        value = profile.span_separator.join(found) if found else profile.absent
        lines.append(f"{shown_label(field)}: {value}\n")
    return "".join(lines)
