"""Looks over what people type: free prompts that leave the official skeleton, texts that hold look-alikes of markup.

Findings are warnings. Nothing is changed: markup in a text stays ordinary characters for tokenizer and template.
"""

from __future__ import annotations

import re

from seqgpt_ui.prompt.notice import Notice
from seqgpt_ui.prompt.profile import GEN_TOKEN
from seqgpt_ui.prompt.render import OUTPUT_MARK, trim_ending

CONTROL_TOKENS = (GEN_TOKEN, "<s>", "</s>", "<pad>", "<unk>")
_BRACES = ("{{", "{%")
_FAKE_LINE = re.compile(r"[\n\r][^\S\n\r]*((?:输入|输出|分类|抽取)[:：])")
_KEY_WORD = re.compile(r"^[^\S\n\r]*(?:输入|输出|分类|抽取)[^\S\n\r]*[:：]", re.MULTILINE)
_LABEL_LINE = re.compile(r"^[^\S\n\r]*(?:分类|抽取)[^\S\n\r]*[:：](.*)$", re.MULTILINE)
_SKELETON = re.compile(r"输入: \S(?:.*\S)?\n(?:分类|抽取): \S(?:[^\n]*\S)?\n输出:", re.DOTALL)


def hostile_markup(text: str, param: str = "text") -> tuple[Notice, ...]:
    """Report control tokens, template braces and fake prompt lines inside a user's text or labels."""
    marks = [mark for mark in (*CONTROL_TOKENS, *_BRACES) if mark in text]
    marks += dict.fromkeys(match[1] for match in _FAKE_LINE.finditer(text))
    if not marks:
        return ()
    return (_markup_notice(marks, param),)


def lint_prompt(prompt: str) -> tuple[Notice, ...]:
    """Findings on a free prompt: no ``输出:`` at its end, half-width commas between labels, another skeleton."""
    trimmed = trim_ending(prompt)
    findings = []
    marks = [mark for mark in CONTROL_TOKENS if mark in trimmed]
    if marks:
        findings.append(_markup_notice(marks, "prompt"))
    if not trimmed.endswith(OUTPUT_MARK):
        findings.append(Notice("missing_output_mark", f"the prompt does not end in {OUTPUT_MARK}; it was added"))
    if any("," in match[1] for match in _LABEL_LINE.finditer(trimmed)):
        findings.append(
            Notice("half_width_commas", "labels are separated by half-width commas; the model expects full-width ones")
        )
    if _KEY_WORD.search(trimmed) and not _SKELETON.fullmatch(_with_mark(trimmed)):
        findings.append(
            Notice(
                "altered_skeleton",
                "the prompt differs from the official form (输入: text, 分类: or 抽取: labels, 输出: on lines of their "
                "own, one blank after each colon); answers may be worse",
            )
        )
    return tuple(findings)


def _with_mark(trimmed: str) -> str:
    return trimmed if trimmed.endswith(OUTPUT_MARK) else f"{trimmed}\n{OUTPUT_MARK}"


def _markup_notice(marks: list[str], param: str) -> Notice:
    shown = " ".join(marks)
    message = f"{param} holds {shown}; the model reads it as ordinary characters"
    return Notice("markup_in_text", message, {"marks": shown, "param": param})
