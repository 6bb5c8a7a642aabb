"""The answer syntax of a checkpoint: separators, the word for "absent", and how the answer is opened.

A checkpoint folder may carry its profile as ``seqgpt_format.json``; the defaults are those of the demo model and
the likeliest ones of SeqGPT-560M.
"""

from __future__ import annotations

from dataclasses import dataclass

GEN_TOKEN = "[GEN]"  # noqa: S105 - a vocabulary entry, not a secret


@dataclass(frozen=True, slots=True)
class FormatProfile:
    """How answers of one checkpoint are written.

    ``has_gen`` tells whether the vocabulary has ``[GEN]``; without it the prompt ends in ``输出:`` alone.
    ``absent`` is written where a field has no span; None means that the line is left out instead.
    """

    has_gen: bool = True
    label_separator: str = "，"
    span_separator: str = "\t"
    absent: str | None = "None"
