"""Reads answers that nothing constrained. Total: any string gives values and issues, never an exception.

Grammar (facts sheet of SeqGPT-560M, "Parser grammar"): classification is a list of labels; extraction is one
``field: value`` line per field, values separated by TAB, blanks or punctuation, ``None`` where there is nothing.
"""

from __future__ import annotations

import re
from collections.abc import Sequence
from dataclasses import dataclass, field

from seqgpt_ui.prompt.fold import FoldedText, fold
from seqgpt_ui.prompt.lint import CONTROL_TOKENS
from seqgpt_ui.prompt.profile import FormatProfile
from seqgpt_ui.prompt.render import shown_label

_BULLET = re.compile(r"\s*(?:[-*•·●▪■◆>+–—]+|[（(]?\d{1,3}[)）.．、:：](?!\d)|[①-⑳])\s*")
_LINE_BREAK = re.compile(r"[\n\r\v\f\x1c-\x1e\x85\u2028\u2029]")
_ITEM_MARK = re.compile(r"[;；]")
_OPENERS, _CLOSERS = " *\"'“‘【[「『《", " *\"'”’】]」』》"
_LABEL_TRIM = " \u3000\"'“”‘’「」『』【】*。.!！"
_LABEL_SEPARATORS = "\n\r\t,、;|。"
_VALUE_SEPARATORS = "；;、，,"
_BLANKS = re.compile(r"[ \u3000]{2,}")
_HEAD_CHARS = 512  # longer than any label, so that a line is folded no further than its label can reach
_ABSENT_WORDS = ("none", "无")


@dataclass(frozen=True, slots=True)
class ParseIssue:
    """Something in an answer that the grammar did not expect: a stable code and the piece of the answer."""

    code: str
    text: str = ""


@dataclass(frozen=True, slots=True)
class ParsedLabels:
    """Labels found, in the order of the answer and in the spelling asked."""

    labels: tuple[str, ...]
    issues: tuple[ParseIssue, ...] = ()


@dataclass(frozen=True, slots=True)
class ParsedFields:
    """Values found for every field asked, in the order of the answer."""

    values: dict[str, tuple[str, ...]]
    issues: tuple[ParseIssue, ...] = ()


def parse_classification(answer: str, labels: Sequence[str], profile: FormatProfile | None = None) -> ParsedLabels:
    """Find the labels of an answer. Issues: empty_output, unknown_label, duplicate_label."""
    text = FoldedText(_without_controls(answer, ""))
    separators = _LABEL_SEPARATORS + fold((profile or FormatProfile()).label_separator)
    known = _by_length(labels)
    found: list[str] = []
    issues: list[ParseIssue] = [] if text.folded.strip() else [ParseIssue("empty_output")]
    place, end = 0, len(text.folded)
    while place < end:
        stop, label = _label_at(text.folded, place, known, separators)
        if label is None:
            stop = next((i for i in range(place, end) if text.folded[i] in separators), end)
            label = _label_in(text.slice(place, stop), known)
        piece = text.slice(place, stop).strip()
        if label is not None:
            if label in found:
                issues.append(ParseIssue("duplicate_label", piece))
            else:
                found.append(label)
        elif piece:
            issues.append(ParseIssue("unknown_label", piece))
        place = stop + 1
    return ParsedLabels(tuple(found), tuple(issues))


def _by_length(labels: Sequence[str]) -> list[tuple[str, str]]:
    """Folded forms and labels, longest first, so that no label hides a longer one."""
    pairs = {fold(shown_label(label)): label for label in reversed(labels)}
    return sorted(((form, label) for form, label in pairs.items() if form), key=lambda pair: -len(pair[0]))


def _label_at(folded: str, place: int, known: Sequence[tuple[str, str]], separators: str) -> tuple[int, str | None]:
    """The longest label that begins at ``place`` (after blanks) and ends at a separator; labels may hold separators."""
    for ignored in (" ", _LABEL_TRIM):
        begin = _skip(folded, place, ignored)
        for form, label in known:
            if folded.startswith(form, begin):
                stop = begin + len(form)
                if stop < len(folded) and folded[stop] not in separators:
                    stop = _skip(folded, stop, _LABEL_TRIM)
                if stop == len(folded) or folded[stop] in separators:
                    return stop, label
    return place, None


def _skip(text: str, place: int, ignored: str) -> int:
    while place < len(text) and text[place] in ignored:
        place += 1
    return place


def _label_in(piece: str, known: Sequence[tuple[str, str]]) -> str | None:
    """The label that a piece is, without a bullet or what stands before a colon; never a label inside a sentence."""
    match = _BULLET.match(piece)
    forms = [fold(piece[match.end() :])] if match else []
    forms += [tail for form in (fold(piece), *forms) if (tail := form.partition(":")[2])]
    for form in forms:
        for name, label in known:
            if form.strip(_LABEL_TRIM) == name or form.strip() == name:
                return label
    return None


@dataclass(slots=True)
class _Reading:
    """What was read so far."""

    values: dict[str, list[str]]
    issues: list[ParseIssue] = field(default_factory=list)
    last: str | None = None


def parse_extraction(
    answer: str, fields: Sequence[str], source: str, profile: FormatProfile | None = None
) -> ParsedFields:
    """Find the values of every field. ``source`` decides whether punctuation separates values or belongs to one.

    Issues: empty_output, unparsed (a line that belongs to no field), duplicate_value.
    """
    values = _Values(source, profile or FormatProfile())
    known = _by_length(fields)
    reading = _Reading({name: [] for name in fields})
    text = _without_controls(answer, source)
    if not text.strip():
        reading.issues.append(ParseIssue("empty_output"))
    for line in _LINE_BREAK.split(text):
        for item in _items(line, known):
            _read_item(item, known, values, reading)
    return ParsedFields({name: tuple(found) for name, found in reading.values.items()}, tuple(reading.issues))


def _read_item(item: str, known: Sequence[tuple[str, str]], values: _Values, reading: _Reading) -> None:
    if not item.strip():
        return
    match = _field_of(item, known)
    if match is not None:
        reading.last, value = match
    else:
        value = _unbulleted(item, values)
    if reading.last is None or (match is None and not values.occurs(value.strip())):
        reading.issues.append(ParseIssue("unparsed", item.strip()))
        return
    found = reading.values[reading.last]
    for piece in values.split(value):
        if piece in found:
            reading.issues.append(ParseIssue("duplicate_value", piece))
        else:
            found.append(piece)


def _unbulleted(line: str, values: _Values) -> str:
    """``line`` without its bullet, unless the bullet is part of the source."""
    match = _BULLET.match(line)
    return line[match.end() :] if match and not values.occurs(line.strip()) else line


def _items(line: str, known: Sequence[tuple[str, str]]) -> list[str]:
    """Cut a line at semicolons that stand before a known field and its colon."""
    items, begin = [], 0
    for match in _ITEM_MARK.finditer(line):
        if _field_of(line[match.end() :], known) is not None:
            items.append(line[begin : match.start()])
            begin = match.end()
    return [*items, line[begin:]]


def _field_of(line: str, known: Sequence[tuple[str, str]]) -> tuple[str, str] | None:
    """The longest field that opens a line, followed by a colon, and the rest of the line."""
    bullet = _BULLET.match(line)
    for skip in [0, bullet.end()] if bullet else [0]:
        head = line[skip : skip + _HEAD_CHARS]
        text = FoldedText(head)
        for openers in ("", _OPENERS):
            begin = len(text.folded) - len(text.folded.lstrip(openers + " "))
            for form, label in known:
                if text.folded.startswith(form, begin):
                    rest = text.folded[begin + len(form) :]
                    tail = rest.lstrip(_CLOSERS if openers else " ")
                    if tail.startswith(":"):
                        colon = text.origin(len(text.folded) - len(tail))
                        return label, line[skip + colon + 1 :]
    return None


def _without_controls(answer: str, source: str) -> str:
    """Drop byte order marks and control tokens, other than those that the source holds as ordinary characters."""
    for mark in ("\ufeff", *CONTROL_TOKENS):
        if mark not in source:
            answer = answer.replace(mark, "\n" if mark in CONTROL_TOKENS else "")
    return answer


class _Values:
    """Cuts the value of a line into pieces of the source."""

    def __init__(self, source: str, profile: FormatProfile) -> None:
        self._source = source
        self._folded = fold(source)
        own = profile.span_separator.strip(" \t")
        self._separators = [*([own] if own and own not in _VALUE_SEPARATORS else []), *_VALUE_SEPARATORS]
        self._absent = {fold(word) for word in (*_ABSENT_WORDS, profile.absent or "none")}

    def occurs(self, piece: str) -> bool:
        """Whether the source holds ``piece``, apart from case and width."""
        return bool(piece) and (piece in self._source or fold(piece) in self._folded)

    def split(self, value: str) -> list[str]:
        """The pieces of a value: at TABs, then where the whole is not in the source, at blanks and punctuation."""
        pieces = []
        for part in map(str.strip, value.split("\t")):
            blanks = [part] if self.occurs(part) else _BLANKS.split(part)
            for piece in map(str.strip, blanks):
                pieces += self._resolve(piece, 0) or [piece]
        return [piece for piece in pieces if piece and not self._is_absent(piece)]

    def _resolve(self, value: str, first: int) -> list[str] | None:
        """Pieces that all occur in the source, found with the separators from ``first`` on, or None."""
        if self.occurs(value):
            return [value]
        for index in range(first, len(self._separators)):
            if self._separators[index] not in value:
                continue
            parts = [part.strip() for part in value.split(self._separators[index])]
            resolved = [[part] if self._is_absent(part) else self._resolve(part, index + 1) for part in parts if part]
            if resolved and all(resolved):
                return [piece for found in resolved if found for piece in found]
        return None

    def _is_absent(self, piece: str) -> bool:
        """Whether a piece is the word for "nothing" and not a word of the source that stands by itself."""
        if fold(piece) not in self._absent:
            return False
        return not re.search(rf"(?<!\w){re.escape(piece)}(?!\w)", self._source)
