"""Surface noise for some texts: emoji, HTML leftovers, full-width digits, lost punctuation, odd spacing and case."""

from __future__ import annotations

from random import Random

from training.generator.grammar import Draft

_FULL_WIDTH = {ord(str(digit)): chr(0xFF10 + digit) for digit in range(10)}
_PREFIXES = ("　　", "<p>", "【转】", "\u200b", ">> ", "  ", "&nbsp;", "RT ", "#", "1、", "• ")
_SUFFIXES = ("😊", "👍👍", "😡", "~~", "！！！", "<br/>", "&nbsp;", "</p>", "...", "  ", "[图片]", "🙏", "😂")
_LOST = {ord(mark): " " for mark in "，。、！；,!;"}


def dirty(draft: Draft, rng: Random) -> tuple[str, list[tuple[int, int, str]]]:
    """Return the draft's text with noise, and its spans moved accordingly."""
    text, shift = draft.text(), 0
    kind = rng.randrange(6)
    if kind == 0:
        text = text.translate(_FULL_WIDTH)
    elif kind == 1:
        text = _lose_punctuation(text, draft)
    elif kind == 5 and text.isascii():
        text = rng.choice((text.lower(), text.upper()))
    if kind in (2, 4):
        prefix = rng.choice(_PREFIXES)
        text, shift = prefix + text, len(prefix)
    if kind in (3, 4):
        text += rng.choice(_SUFFIXES)
    return text, [(start + shift, end + shift, field) for start, end, field in draft.spans]


def _lose_punctuation(text: str, draft: Draft) -> str:
    bare = list(text.translate(_LOST))
    for start, end, _ in draft.spans:
        bare[start:end] = text[start:end]
    return "".join(bare)
