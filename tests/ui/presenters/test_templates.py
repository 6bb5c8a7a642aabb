"""Templates as choices, labels, examples and whole prompts."""

from __future__ import annotations

import json

import pytest

from seqgpt_ui.prompt.templates import TaskTemplate, TemplateLibrary, parse_template
from seqgpt_ui.ui.presenters.templates import (
    example_labels,
    example_prompt,
    example_samples,
    example_text,
    labels_text,
    template_choices,
    templates_of,
)

LIBRARY = TemplateLibrary.from_folder()
SOURCE = """---
title: {zh: 测试, en: Test}
task: classify
labels: [甲, 乙]
examples:
  - first text
  - {text: second text, labels: ["丙", "丁, 戊"]}
---
输入: {{ text }}
{{ task_word }}: {{ labels }}
输出:
"""


@pytest.fixture
def template() -> TaskTemplate:
    return parse_template("test", 1, SOURCE)


def test_choices_have_titles_in_the_language(template: TaskTemplate) -> None:
    assert template_choices([template], "zh") == [("测试", "test.v1")]
    assert template_choices([template], "en") == [("Test", "test.v1")]


def test_templates_are_chosen_by_task() -> None:
    assert {template.task for template in templates_of(LIBRARY, "classify")} == {"classify"}
    assert {template.task for template in templates_of(LIBRARY, "classify", "extract")} == {"classify", "extract"}


def test_labels_with_separators_become_a_list() -> None:
    assert labels_text(["甲", "乙"]) == "甲，乙"
    assert json.loads(labels_text(["丁, 戊", "己"])) == ["丁, 戊", "己"]


def test_examples(template: TaskTemplate) -> None:
    assert example_samples(template) == [["first text"], ["second text"]]
    assert (example_text(template, 0), example_labels(template, 0)) == ("first text", "甲，乙")
    assert example_text(template, 1) == "second text"
    assert json.loads(example_labels(template, 1)) == ["丙", "丁, 戊"]
    assert (example_text(template, 7), example_labels(template, 7)) == ("", "甲，乙")


def test_prompt_of_an_example(template: TaskTemplate) -> None:
    assert example_prompt(template) == "输入: first text\n分类: 甲，乙\n输出:"


@pytest.mark.parametrize("template", templates_of(LIBRARY, "classify", "extract"), ids=lambda item: item.id)
def test_every_template_fills_its_page(template: TaskTemplate) -> None:
    assert example_text(template)
    assert example_labels(template)
    assert example_prompt(template).endswith("\n输出:")


def test_free_template_has_a_prompt_only_with_an_example() -> None:
    assert example_prompt(LIBRARY.get("free")) == ""
