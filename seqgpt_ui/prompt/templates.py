"""Reads ``templates/``: YAML front matter plus a Jinja body, compiled in one strict sandbox.

A body may place values and choose between them (``if``, a few filters); loops, calls, attributes and arithmetic are
refused when the file is read, so rendering is bounded by the size of its values. Released versions are frozen: a
change of wording is a new file ``name.vN.jinja``.
"""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import yaml
from jinja2 import StrictUndefined, Template, TemplateError, nodes, pass_context
from jinja2.runtime import Context
from jinja2.sandbox import ImmutableSandboxedEnvironment

from seqgpt_ui.errors import InvalidTemplate

TASKS = ("classify", "extract", "prompt", "any")
MAX_SOURCE_CHARS = 20_000
DEFAULT_FOLDER = Path(__file__).resolve().parents[2] / "templates"
# Noncharacters: they mark where a value stood and can never be part of a template.
_OPEN, _CLOSE = "\ufdd0", "\ufdd1"
_MARK = re.compile(f"{_OPEN}(\\d+){_CLOSE}")
_FILE_NAME = re.compile(r"(?P<name>[a-z][a-z0-9_]*)\.v(?P<version>[1-9][0-9]*)\.jinja")
_ALLOWED_NODES = (
    nodes.Template, nodes.Output, nodes.TemplateData, nodes.Name, nodes.Const, nodes.Filter, nodes.If, nodes.CondExpr,
    nodes.Compare, nodes.Operand, nodes.And, nodes.Or, nodes.Not, nodes.Test,
)  # fmt: skip
_ALLOWED_FILTERS = frozenset({"trim", "lower", "upper", "default", "d"})


@dataclass(frozen=True, slots=True)
class Example:
    """One text to try a template with; ``labels`` None means the template's own."""

    text: str
    labels: tuple[str, ...] | None = None


@dataclass(frozen=True, slots=True)
class TaskTemplate:
    """A named task: its prompt body, titles by language, default labels and examples."""

    name: str
    version: int
    task: str
    title: Mapping[str, str]
    labels: tuple[str, ...]
    examples: tuple[Example, ...]
    multi_label: bool
    body: Template

    @property
    def id(self) -> str:
        """Name and version as results carry them, such as ``sentiment.v1``."""
        return f"{self.name}.v{self.version}"

    def pieces(self, values: Mapping[str, str]) -> Iterator[tuple[str, bool]]:
        """Yield ``(text, is_content)`` in order: what the template says and what the values put there.

        Raises ``InvalidTemplate`` when the body names a value that is not given.
        """
        content: list[str] = []
        try:
            rendered = self.body.render({**values, "_content": content})
        except TemplateError as error:
            raise InvalidTemplate(f"template {self.id}: {error}", param="template") from error
        for index, part in enumerate(_MARK.split(rendered)):
            if index % 2:
                yield content[int(part)], True
            elif part:
                yield part, False


@pass_context
def _mark_value(context: Context, value: Any) -> str:
    """Keep a value aside and leave its number in the output, so that its characters can never look like markup."""
    content: list[str] = context["_content"]
    content.append(str(value))
    return f"{_OPEN}{len(content) - 1}{_CLOSE}"


def create_environment() -> ImmutableSandboxedEnvironment:
    """The strict sandbox that every template is compiled in."""
    environment = ImmutableSandboxedEnvironment(
        undefined=StrictUndefined, autoescape=False, finalize=_mark_value, keep_trailing_newline=True
    )
    environment.globals.clear()
    environment.filters = {name: call for name, call in environment.filters.items() if name in _ALLOWED_FILTERS}
    return environment


def check_source(source: str, environment: ImmutableSandboxedEnvironment) -> None:
    """Refuse what a prompt template has no need of. Raises ``InvalidTemplate`` naming the construct and its line."""
    if len(source) > MAX_SOURCE_CHARS:
        raise InvalidTemplate(f"the template has {len(source)} characters; the limit is {MAX_SOURCE_CHARS}")
    if _OPEN in source or _CLOSE in source:
        raise InvalidTemplate("the template holds a Unicode noncharacter (U+FDD0 or U+FDD1); remove it")
    try:
        tree = environment.parse(source)
    except TemplateError as error:
        raise InvalidTemplate(f"the template cannot be read: {error}") from error
    for node in [tree, *tree.find_all(nodes.Node)]:
        if not isinstance(node, _ALLOWED_NODES):
            raise InvalidTemplate(
                f"line {node.lineno}: {type(node).__name__} is not allowed; place values with {{{{ text }}}} and "
                "choose with {% if %}"
            )


def parse_template(name: str, version: int, source: str) -> TaskTemplate:
    """Read front matter and body of one template file. Raises ``InvalidTemplate`` with the file's name and cause."""
    where = f"{name}.v{version}.jinja"
    head, body = _split_front_matter(where, source)
    if head.get("task") not in TASKS:
        raise InvalidTemplate(f"{where}: task is {head.get('task')!r}; expected one of {', '.join(TASKS)}")
    title = head.get("title")
    if not isinstance(title, dict) or not {"zh", "en"} <= title.keys():
        raise InvalidTemplate(f"{where}: title needs zh and en")
    environment = create_environment()
    try:
        check_source(body, environment)
        compiled = environment.from_string(body)
    except InvalidTemplate as error:
        raise InvalidTemplate(f"{where}: {error.message}", param="template") from error
    except TemplateError as error:  # filters and tests that do not exist are found by the compiler only
        raise InvalidTemplate(f"{where}: {error}", param="template") from error
    return TaskTemplate(
        name=name,
        version=version,
        task=head["task"],
        title=title,
        labels=tuple(map(str, head.get("labels", ()))),
        examples=tuple(map(_example, head.get("examples", ()))),
        multi_label=bool(head.get("multi_label", False)),
        body=compiled,
    )


def _split_front_matter(where: str, source: str) -> tuple[dict[str, Any], str]:
    parts = source.split("---\n", 2)
    if len(parts) != 3 or parts[0]:
        raise InvalidTemplate(f"{where}: expected front matter between two lines '---'")
    try:
        head = yaml.safe_load(parts[1])
    except yaml.YAMLError as error:
        raise InvalidTemplate(f"{where}: front matter is not YAML: {error}") from error
    if not isinstance(head, dict):
        raise InvalidTemplate(f"{where}: front matter is not a mapping")
    return head, parts[2]


def _example(value: Any) -> Example:
    if isinstance(value, dict):
        labels = value.get("labels")
        return Example(str(value["text"]), tuple(map(str, labels)) if labels else None)
    return Example(str(value))


class TemplateLibrary:
    """All templates of a folder, newest version of each name first choice."""

    def __init__(self, templates: Mapping[str, TaskTemplate]) -> None:
        self._by_id = dict(templates)
        self._newest: dict[str, TaskTemplate] = {}
        for template in sorted(self._by_id.values(), key=lambda item: item.version):
            self._newest[template.name] = template

    @classmethod
    def from_folder(cls, folder: Path = DEFAULT_FOLDER) -> TemplateLibrary:
        """Read ``folder`` and ``folder/library``. Raises ``InvalidTemplate`` for the first file that cannot be used."""
        templates: dict[str, TaskTemplate] = {}
        official = folder / "official.v1.jinja"
        for path in sorted([*folder.glob("*.jinja"), *(folder / "library").glob("*.jinja")]):
            match = _FILE_NAME.fullmatch(path.name)
            if not match:
                raise InvalidTemplate(f"{path.name}: expected a name such as sentiment.v1.jinja")
            source = path.read_text(encoding="utf-8")
            if source.rstrip().endswith("---"):  # a preset without a body of its own speaks the official prompt
                source = source.rstrip() + "\n" + _split_front_matter(official.name, official.read_text("utf-8"))[1]
            template = parse_template(match["name"], int(match["version"]), source)
            templates[template.id] = template
        return cls(templates)

    def get(self, name: str) -> TaskTemplate:
        """The template of that name (newest version) or id. Raises ``InvalidTemplate`` listing what exists."""
        found = self._by_id.get(name) or self._newest.get(name)
        if found is None:
            raise InvalidTemplate(f"unknown template {name!r}; known: {', '.join(self._newest)}", param="template")
        return found

    def presets(self) -> list[TaskTemplate]:
        """The newest version of every template that people choose from, by name; skeletons are left out."""
        return [self._newest[name] for name in sorted(self._newest) if self._newest[name].task != "any"]
