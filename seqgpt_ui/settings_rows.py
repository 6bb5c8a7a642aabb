"""How one row of the settings table is declared, read, written and documented. Knows no setting by name."""

from __future__ import annotations

import re
from collections.abc import Iterable, Mapping
from dataclasses import Field, field
from difflib import get_close_matches
from pathlib import Path
from typing import Any, TypeVar
from urllib.parse import urlsplit

from seqgpt_ui.errors import SettingsError

T = TypeVar("T")
PREFIX = "SEQGPT_"
_TRUTH = {"1": True, "true": True, "yes": True, "on": True, "0": False, "false": False, "no": False, "off": False}


def setting(
    default: T,
    process: str,
    en: str,
    zh: str,
    *,
    choices: tuple[str, ...] = (),
    pattern: str | None = None,
    bounds: tuple[float, float] = (0, float("inf")),
    env: str | None = None,
) -> T:
    """Declare one row as a dataclass field. ``process`` names who reads it: worker, web or all."""
    limits = {"choices": choices, "pattern": pattern, "bounds": bounds, "env": env}
    return field(default=default, metadata={"process": process, "en": en, "zh": zh, **limits})


def env_name(row: Field[Any]) -> str:
    """The variable that sets this row."""
    return row.metadata["env"] or PREFIX + row.name.upper()


def check_names(environ: Mapping[str, str], table: Mapping[str, Field[Any]]) -> None:
    """Raise ``SettingsError`` for the first ``SEQGPT_*`` name that is not in ``table``."""
    for name in environ:
        if name.startswith(PREFIX) and name not in table:
            near = get_close_matches(name, table, n=1)
            hint = f"did you mean {near[0]}?" if near else "docs/settings.md lists all"
            raise SettingsError(f"{name} is no setting; {hint}", param=name)


def document(table: Iterable[Field[Any]]) -> str:
    """The text of ``docs/settings.md``."""
    lines = [
        "# Settings / 设置",
        "",
        "Set in the environment of the process. Relative paths count from the project's folder; an unknown name or an",
        "unreadable value stops the start. Printed by `python -m seqgpt_ui settings`.",
        "",
        "| name | default | expects | read by | meaning | 含义 |",
        "|---|---|---|---|---|---|",
    ]
    for row in table:
        cells = (f"`{env_name(row)}`", _code(write(row.default)), _expectation(row).replace("|", r"\|"))
        lines.append("| " + " | ".join((*cells, *(row.metadata[key] for key in ("process", "en", "zh")))) + " |")
    return "\n".join(lines) + "\n"


def _code(value: str) -> str:
    return f"`{value}`" if value else ""


def write(value: Any) -> str:
    """``value`` as the environment carries it."""
    if isinstance(value, tuple):
        return ",".join(value)
    if isinstance(value, bool):
        return str(int(value))
    if isinstance(value, float):
        return f"{value:g}"
    return "" if value is None else str(value)


def _expectation(row: Field[Any]) -> str:
    """What a value must look like, for the error and for the documentation."""
    low, high = row.metadata["bounds"]
    if row.metadata["choices"]:
        return " ".join(f"`{choice}`" for choice in row.metadata["choices"])
    if row.metadata["pattern"]:
        return f"`{row.metadata['pattern']}`"
    kinds = {
        "bool": "`1` or `0`",
        "int": f"a whole number from {low:.0f} to {high:.0f}",
        "float": f"a number from {low:g} to {high:g}",
        "tuple[str, ...]": "http:// or https:// addresses",
        "Path": "a path",
        "Path | None": "a path",
    }
    return kinds.get(str(row.type), "text")


def parse(name: str, text: str, row: Field[Any]) -> Any:
    """The value behind ``text``. Raises ``SettingsError`` with name, value and expectation."""
    try:
        value = _convert(text.strip(), str(row.type))
    except ValueError:
        value = None
    if value is None or not _is_allowed(value, row):
        raise SettingsError(f"{name}={text!r} cannot be used: expected {_expectation(row)}", param=name)
    return value


def _convert(text: str, kind: str) -> Any:
    if kind == "bool":
        return _TRUTH.get(text.lower())
    if kind == "int":
        return int(text)
    if kind == "float":
        return float(text)
    if kind.startswith("tuple"):
        return tuple(url.strip().rstrip("/") for url in text.split(",") if url.strip())
    return Path(text) if kind.startswith("Path") else text


def _is_allowed(value: Any, row: Field[Any]) -> bool:
    low, high = row.metadata["bounds"]
    if isinstance(value, int | float) and not isinstance(value, bool):
        return bool(low <= value <= high)
    if isinstance(value, tuple):
        return all(urlsplit(url).scheme in ("http", "https") and urlsplit(url).hostname for url in value)
    if row.metadata["choices"]:
        return value in row.metadata["choices"]
    return not row.metadata["pattern"] or re.fullmatch(row.metadata["pattern"], value) is not None
