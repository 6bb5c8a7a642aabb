"""Reads label and field lists in every form that people type, and keeps the user's spelling as the key."""

from __future__ import annotations

import json
import re
from collections.abc import Sequence
from dataclasses import dataclass

from seqgpt_ui.errors import InvalidLabels
from seqgpt_ui.prompt.notice import Notice
from seqgpt_ui.prompt.render import shown_label

MAX_LABEL_CHARS = 200
_LINE_BREAKS = "\n\r\v\f\x1c\x1d\x1e\x85\u2028\u2029"
_SEPARATORS = re.compile(f"[,，、;；|{_LINE_BREAKS}]")
_FORBIDDEN = re.compile(f"[\t{_LINE_BREAKS}]")


@dataclass(frozen=True, slots=True)
class LabelSet:
    """Labels in order, without doubles, and remarks on what was left out."""

    labels: tuple[str, ...]
    notices: tuple[Notice, ...] = ()


def read_labels(source: str | Sequence[str], *, param: str, max_labels: int) -> LabelSet:
    """Split, strip and check labels. A string is split at ``, ， 、 ; ； |`` and line breaks, or read as a JSON list;
    the items of a list stay whole.

    Raises ``InvalidLabels`` naming ``param``: nothing left, too many, too long, a line break or TAB inside.
    """
    items = _split(source, param) if isinstance(source, str) else list(source)
    if not items:
        raise InvalidLabels(f"{param} is empty; give at least one", param=param)
    kept: dict[str, str] = {}
    removed: list[str] = []
    for label in (_checked(item, param) for item in items):
        shown = shown_label(label)
        if shown in kept:
            removed.append(label)
        else:
            kept[shown] = label
    if len(kept) > max_labels:
        raise InvalidLabels(f"{param} has {len(kept)} entries; the limit is {max_labels}", param=param)
    return LabelSet(tuple(kept.values()), _notices(removed, param))


def check_label(label: str, param: str) -> str:
    """One label, stripped. Raises ``InvalidLabels`` naming ``param``."""
    return _checked(label, param)


def _split(source: str, param: str) -> list[str]:
    if source.lstrip("\ufeff \t\r\n").startswith("["):
        return _read_json(source.strip("\ufeff \t\r\n"), param)
    return [piece for piece in _SEPARATORS.split(source.strip("\ufeff")) if piece.strip()]


def _read_json(source: str, param: str) -> list[str]:
    try:
        items = json.loads(source)
    except (ValueError, RecursionError) as error:
        raise InvalidLabels(f"{param} begins with '[' but is no JSON list: {error}", param=param) from error
    if not isinstance(items, list) or not all(isinstance(item, str) for item in items):
        raise InvalidLabels(f"{param} must be a JSON list of strings", param=param)
    return items


def _checked(item: object, param: str) -> str:
    if not isinstance(item, str):
        raise InvalidLabels(f"{param} must hold strings, not {type(item).__name__}", param=param)
    label = item.strip()
    if not label:
        raise InvalidLabels(f"{param} holds an empty entry", param=param)
    if len(label) > MAX_LABEL_CHARS:
        raise InvalidLabels(
            f"{param} holds an entry of {len(label)} characters; the limit is {MAX_LABEL_CHARS}", param=param
        )
    if _FORBIDDEN.search(label):
        raise InvalidLabels(f"{param} holds an entry with a line break or TAB inside: {label!r}", param=param)
    if any("\ud800" <= character <= "\udfff" for character in label):
        raise InvalidLabels(f"{param} holds a lone surrogate, which is no character", param=param)
    return label


def _notices(removed: Sequence[str], param: str) -> tuple[Notice, ...]:
    if not removed:
        return ()
    names = ", ".join(dict.fromkeys(removed))
    message = f"{param}: repeated entries were left out: {names}"
    return (Notice("duplicate_labels", message, {"param": param, "labels": names, "count": len(removed)}),)
