"""Says on the wire which answers are legal: the labels, or the pieces of the text. Called by the tasks."""

from __future__ import annotations

from collections.abc import Sequence

from seqgpt_ui.prompt.profile import FormatProfile
from seqgpt_ui.prompt.render import shown_label
from seqgpt_ui.protocol import ChoiceConstraint, CopyConstraint, FormatMessage


def profile_from(message: FormatMessage) -> FormatProfile:
    """The answer syntax of the worker's checkpoint."""
    return FormatProfile(
        has_gen=message.has_gen,
        label_separator=message.label_separator,
        span_separator=message.span_separator,
        absent=message.absent,
    )


def choice_constraint(
    labels: Sequence[str],
    profile: FormatProfile,
    *,
    multi: bool = False,
    min_choices: int = 1,
    max_choices: int | None = None,
) -> ChoiceConstraint:
    """The answer is one of ``labels``, or several. Bounds are cut to what the number of labels permits."""
    most = min(max_choices, len(labels)) if max_choices is not None else None
    return ChoiceConstraint(
        choices=list(map(shown_label, labels)),
        separator=profile.label_separator,
        multi=multi,
        min_choices=max(1, min(min_choices, most if most is not None else len(labels))),
        max_choices=most,
    )


def copy_constraint(fields: Sequence[str], text: str, profile: FormatProfile) -> CopyConstraint:
    """Values are pieces of ``text``, stripped as the prompt shows it (see ``copy_source``)."""
    return CopyConstraint(
        fields=list(map(shown_label, fields)),
        source=copy_source(text)[0],
        span_separator=profile.span_separator,
        absent=profile.absent,
    )


def copy_source(text: str) -> tuple[str, int]:
    """The text as the prompt shows it, and how many characters of white space went from its beginning."""
    return text.strip(), len(text) - len(text.lstrip())
