"""Domain files: reads the YAML pattern files and binds each to the grammar of its language."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any

import yaml

from training.generator.grammar import Grammar, Pattern
from training.generator.pools import LEXICON_RULES, Pools

PATTERNS_FOLDER = Path(__file__).parent / "patterns"
_SHARED_FILES = ("words.yaml", "values.yaml")


@dataclass(frozen=True, slots=True)
class Domain:
    """One domain of texts in one language, with its labels or fields (first surface name: the shipped one)."""

    name: str
    language: str
    task: str
    weight: float
    grammar: Grammar
    names: dict[str, tuple[str, ...]]
    template: tuple[str, ...]
    sentences: dict[str, tuple[Pattern, ...]]
    aligned: bool
    subset: bool
    multi_rate: float
    foreign: tuple[str, ...]
    separators: tuple[str, ...]
    joins: tuple[int, ...]


def load_domains(language: str, pools: Pools) -> list[Domain]:
    """Read every domain file of a language."""
    folder = PATTERNS_FOLDER / language
    rules: dict[str, tuple[str, ...]] = {}
    for name in _SHARED_FILES:
        rules.update(_read_rules(_read(folder / name)))
    parent = Grammar(_with_lexicons(rules, pools), pools=pools.get)
    paths = sorted(path for path in folder.glob("*.yaml") if path.name not in _SHARED_FILES)
    return [_load_domain(path, language, parent) for path in paths]


def borrow_names(domain: Domain, other: Domain) -> Domain:
    """Return the domain with the label names of the same domain in another language."""
    names = {key: surfaces for key, surfaces in other.names.items() if key in domain.names}
    sentences = domain.sentences
    if domain.task == "classify":
        sentences = {key: patterns for key, patterns in sentences.items() if key in names}
    template = tuple(key for key in other.template if key in sentences or domain.task == "extract")
    if not set(template) <= set(names):
        template = ()
    return replace(domain, names=names, sentences=sentences, template=template, foreign=other.foreign)


def split_entries(value: str | list[str]) -> tuple[str, ...]:
    """Split a list in a pattern file: lines of a block, entries parted by ';', or words; '~' is an empty entry."""
    if isinstance(value, list):
        return tuple(value)
    if "\n" in value:
        entries = value.split("\n")
    elif ";" in value:
        entries = value.split(";")
    else:
        entries = value.split()
    return tuple(entry.strip().removeprefix("~") for entry in entries if entry.strip())


def _read(path: Path) -> dict[str, Any]:
    # The C loader is as safe as the pure one and ten times as fast, but is not built everywhere.
    loader = getattr(yaml, "CSafeLoader", yaml.SafeLoader)
    content = yaml.load(path.read_text(encoding="utf-8"), Loader=loader)  # noqa: S506
    if not isinstance(content, dict):
        raise ValueError(f"not a mapping: {path}")
    return content


def _read_rules(content: Mapping[str, Any]) -> dict[str, tuple[str, ...]]:
    return {str(name): split_entries(value) for name, value in content.items()}


def _with_lexicons(rules: dict[str, tuple[str, ...]], pools: Pools) -> dict[str, tuple[str, ...]]:
    extended = dict(rules)
    for name in (*LEXICON_RULES, "division"):
        if name in rules and pools.get(f"{name}_lex"):
            extended[f"{name}_own"] = rules[name]
            extended[name] = (f"{{{name}_own}}", f"{{{name}_lex}}")
    return extended


def _load_domain(path: Path, language: str, parent: Grammar) -> Domain:
    content = _read(path)
    grammar = Grammar(_read_rules(content.get("rules", {})), tags=content.get("tags"), parent=parent)
    names = _read_rules(content["names"])
    sentences = {key: grammar.parse_all(lines) for key, lines in _read_rules(content.get("sentences", {})).items()}
    for key, patterns in _flatten_pairs(content.get("pairs", [])).items():
        sentences[key] = (*sentences.get(key, ()), *grammar.parse_all(patterns))
    return Domain(
        name=path.stem,
        language=language,
        task=str(content["task"]),
        weight=float(content.get("weight", 1.0)),
        grammar=grammar,
        names=names,
        template=split_entries(content.get("template", "")),
        sentences=sentences,
        aligned=bool(content.get("aligned", False)),
        subset=bool(content.get("subset", True)),
        multi_rate=float(content.get("multi_rate", 0.0)),
        foreign=split_entries(content.get("foreign", "")),
        separators=tuple(content.get("separators", [""])),
        joins=tuple(content.get("joins", [1])),
    )


def _flatten_pairs(pairs: list[dict[str, str]]) -> dict[str, list[str]]:
    flat: dict[str, list[str]] = {}
    for pair in pairs:
        for key, hypotheses in pair.items():
            if key == "premise":
                continue
            for premise in split_entries(pair["premise"]):
                flat.setdefault(key, []).extend(f"{premise}\t{line}" for line in split_entries(hypotheses))
    return flat
