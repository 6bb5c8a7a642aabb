"""Renders prompts: which characters the model sees, and which of them are markup.

The default prompt is byte-identical to the official one,
``输入: {text}\\n{分类|抽取}: {l1，l2，…}\\n输出: [GEN]`` (facts sheet of SeqGPT-560M, README "Inference").
Whatever a template says, a prompt ends in ``输出:`` and, where the vocabulary has it, `` [GEN]``.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import dataclass

from seqgpt_ui.prompt.profile import GEN_TOKEN, FormatProfile
from seqgpt_ui.prompt.templates import TaskTemplate

TASK_WORDS = {"classify": "分类", "extract": "抽取"}
OUTPUT_MARK = "输出:"
LABEL_JOINER = "，"


@dataclass(frozen=True, slots=True)
class Segment:
    """A run of the prompt. Only markup may hold control tokens; content stays ordinary characters."""

    text: str
    is_content: bool


@dataclass(frozen=True, slots=True)
class Prompt:
    """A rendered prompt and the template it came from."""

    segments: tuple[Segment, ...]
    template_id: str

    def __str__(self) -> str:
        return "".join(segment.text for segment in self.segments)


def shown_label(label: str) -> str:
    """A label as the prompt shows it: a half-width comma would end it, so it appears full-width."""
    return label.strip().replace(",", "，")


def join_labels(labels: Sequence[str]) -> str:
    """Labels as the prompt lists them, joined by full-width commas."""
    return LABEL_JOINER.join(map(shown_label, labels))


def render(task: str, text: str, labels: Sequence[str], template: TaskTemplate, profile: FormatProfile) -> Prompt:
    """Render a classification or extraction prompt. Like the official code it strips the text.

    Raises ``InvalidTemplate`` when the body names a value other than text, labels and task_word.
    """
    values = {"text": text.strip(), "labels": join_labels(labels), "task_word": TASK_WORDS[task]}
    return _finish(template.pieces(values), template.id, profile)


def render_free(prompt: str, template: TaskTemplate, profile: FormatProfile) -> Prompt:
    """Render a free prompt; an ending that the user typed already (``输出:``, ``[GEN]``) is not doubled."""
    return _finish(template.pieces({"prompt": trim_ending(prompt)}), template.id, profile)


def trim_ending(prompt: str) -> str:
    """Drop what follows the final ``输出:`` mark (blanks, ``[GEN]``) and write the mark with an ASCII colon."""
    text = prompt.rstrip()
    while text.endswith(GEN_TOKEN):
        text = text.removesuffix(GEN_TOKEN).rstrip()
    if text.endswith("输出："):
        text = text.removesuffix("输出：") + OUTPUT_MARK
    return text


def _finish(pieces: Iterable[tuple[str, bool]], template_id: str, profile: FormatProfile) -> Prompt:
    """Enforce the ending and merge neighbours of one kind into segments."""
    merged: list[Segment] = []
    for text, is_content in pieces:
        if merged and merged[-1].is_content == is_content:
            merged[-1] = Segment(merged[-1].text + text, is_content)
        else:
            merged.append(Segment(text, is_content))
    while merged and not merged[-1].text.rstrip():
        merged.pop()
    if merged:
        merged[-1] = Segment(merged[-1].text.rstrip(), merged[-1].is_content)
    ending = "" if "".join(segment.text for segment in merged).endswith(OUTPUT_MARK) else f"\n{OUTPUT_MARK}"
    if profile.has_gen:
        ending += f" {GEN_TOKEN}"
    if merged and not merged[-1].is_content:
        merged[-1] = Segment(merged[-1].text + ending, False)
    elif ending:
        merged.append(Segment(ending, False))
    return Prompt(tuple(merged), template_id)
