"""Templates as choices, labels and examples."""

from __future__ import annotations

import json
import re
from collections.abc import Sequence

from seqgpt_ui.prompt.profile import FormatProfile
from seqgpt_ui.prompt.render import render, render_free
from seqgpt_ui.prompt.templates import TaskTemplate, TemplateLibrary
from seqgpt_ui.ui.i18n import Language

# What separates labels in a typed list; a label that holds one of them must be shown in a JSON list.
_SEPARATORS = re.compile(r"[,，、;；|\n]")
# A typed prompt shows no control token; it is added when the prompt is sent.
_TYPED = FormatProfile(has_gen=False)


def template_choices(templates: Sequence[TaskTemplate], language: Language) -> list[tuple[str, str]]:
    """Titles in the user's language with the id of each template."""
    return [(template.title[language], template.id) for template in templates]


def templates_of(library: TemplateLibrary, *tasks: str) -> list[TaskTemplate]:
    """The templates of some tasks that people choose from."""
    return [template for template in library.presets() if template.task in tasks]


def labels_text(labels: Sequence[str]) -> str:
    """Labels as one would type them."""
    if any(_SEPARATORS.search(label) for label in labels):
        return json.dumps(list(labels), ensure_ascii=False)
    return "，".join(labels)


def example_text(template: TaskTemplate, index: int = 0) -> str:
    """Text of one example, empty when the template has none of that number."""
    return template.examples[index].text if index < len(template.examples) else ""


def example_labels(template: TaskTemplate, index: int = 0) -> str:
    """Labels that go with one example."""
    own = template.examples[index].labels if index < len(template.examples) else None
    return labels_text(own or template.labels)


def example_samples(template: TaskTemplate) -> list[list[str]]:
    """Examples as the page lists them."""
    return [[example.text] for example in template.examples]


def example_prompt(template: TaskTemplate, index: int = 0) -> str:
    """The whole prompt of one example, to be changed at will."""
    text = example_text(template, index)
    if template.task == "prompt":
        return str(render_free(text, template, _TYPED)) if text else ""
    own = template.examples[index].labels if index < len(template.examples) else None
    return str(render(template.task, text, own or template.labels, template, _TYPED))
