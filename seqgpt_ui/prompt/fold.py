"""Folds case and width (full-width letters, compatibility forms) and remembers where every character came from.

Folding changes lengths (``㈱`` becomes three characters, ``İ`` two), so a place in folded text is never an offset.
"""

from __future__ import annotations

import unicodedata


def fold(text: str) -> str:
    """``text`` without differences of case and width."""
    return FoldedText(text).folded


class FoldedText:
    """A text, its folded form, and for every folded character the index of the one that it came from."""

    def __init__(self, text: str) -> None:
        self._text = text
        pieces: list[str] = []
        self._origins: list[int] = []
        for index, character in enumerate(text):
            piece = unicodedata.normalize("NFKD", unicodedata.normalize("NFKD", character).casefold())
            pieces.append(piece)
            self._origins.extend([index] * len(piece))
        self.folded = "".join(pieces)
        self._origins.append(len(text))

    def origin(self, place: int) -> int:
        """The index in the text of the character that the folded ``place`` belongs to; its length at the end."""
        return self._origins[place]

    def slice(self, begin: int, end: int) -> str:
        """The characters of the text that the folded places ``begin`` to ``end`` came from."""
        return self._text[self._origins[begin] : self._origins[end]]

    def find(self, folded: str, start: int = 0) -> tuple[int, int] | None:
        """The first run of whole characters, from index ``start`` on, whose folded form is ``folded``."""
        if not folded:
            return None
        place = self.folded.find(folded)
        while place >= 0:
            end = place + len(folded)
            first, last = self._origins[place], self._origins[end - 1]
            if first >= start and self._opens(place) and self._origins[end] != last:
                return first, last + 1
            place = self.folded.find(folded, place + 1)
        return None

    def _opens(self, place: int) -> bool:
        return place == 0 or self._origins[place - 1] != self._origins[place]
