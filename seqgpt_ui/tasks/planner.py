"""Fits labels and text into the model's context: how the labels are parted and where the text is cut."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from math import ceil
from typing import Protocol

from seqgpt_ui.errors import LabelsTooLong
from seqgpt_ui.prompt.profile import FormatProfile
from seqgpt_ui.prompt.render import Prompt, render
from seqgpt_ui.prompt.templates import TaskTemplate
from seqgpt_ui.tasks.windows import Window, cut_windows

MAX_PART = 1_000
OVERLAP_SHARE = 0.15
MAX_OVERLAP = 64
# Tokens of a piece differ a little from its share of the whole text's tokens: words are cut at the edges.
_SLACK = 8
_MIN_ROOM = 16
_MIN_ROOM_SHARE = 4


class Counter(Protocol):
    """Token counts of the model's own tokenizer (see ``tokens.TokenCounter``)."""

    def count_prompt(self, prompt: str) -> int:
        """Tokens of a whole rendered prompt."""
        ...

    def starts(self, text: str) -> list[int]:
        """The code point at which each token of a text begins."""
        ...


@dataclass(frozen=True, slots=True)
class Layout:
    """Parts of the labels and windows of the text; every part is asked beside every window."""

    parts: tuple[tuple[str, ...], ...]
    windows: tuple[Window, ...]


def balanced(items: Sequence[str], num_parts: int) -> tuple[tuple[str, ...], ...]:
    """Neighbouring parts whose sizes differ by one at most, longer ones first (as ``numpy.array_split``)."""
    size, longer = divmod(len(items), num_parts)
    parts, begin = [], 0
    for index in range(num_parts):
        end = begin + size + (index < longer)
        parts.append(tuple(items[begin:end]))
        begin = end
    return tuple(parts)


class Planner:
    """Renders and measures the prompts of one task for one checkpoint."""

    def __init__(
        self, task: str, template: TaskTemplate, profile: FormatProfile, counter: Counter, max_prompt_tokens: int
    ) -> None:
        self.template_id = template.id
        self.profile = profile
        self._task = task
        self._template = template
        self._counter = counter
        self._limit = max_prompt_tokens

    def render(self, text: str, labels: Sequence[str]) -> Prompt:
        """The prompt of one piece of text with these labels."""
        return render(self._task, text, labels, self._template, self.profile)

    def layout(self, text: str, labels: Sequence[str], *, part_size: int, min_part: int = 1, overlap: bool) -> Layout:
        """Part the labels (at most ``part_size`` each) and cut the text so that every prompt fits.

        The number of parts is the smallest with which a quarter of the context, or the whole text, is left for the
        text; parts are never smaller than ``min_part`` on average. Raises ``LabelsTooLong`` where that cannot be.
        """
        num_parts = ceil(len(labels) / part_size)
        parts = balanced(labels, num_parts)
        if all(self._size(text, part) <= self._limit for part in parts):
            return Layout(parts, (Window(0, len(text), 1),))
        starts = self._counter.starts(text)
        needed = max(_MIN_ROOM, min(len(starts) + _SLACK, self._limit // _MIN_ROOM_SHARE))
        most = max(num_parts, ceil(len(labels) / min_part))
        while (room := min(rooms := [self._room(part) for part in parts])) < needed:
            if num_parts >= most:
                raise LabelsTooLong(
                    f"the labels leave {max(0, room)} of {self._limit} tokens for the text, {needed} are needed; "
                    "use fewer or shorter labels",
                    param="fields" if self._task == "extract" else "labels",
                )
            used = sum(self._limit - left for left in rooms)
            num_parts = min(most, max(num_parts + 1, used // max(1, self._limit - needed)))
            parts = balanced(labels, num_parts)
        return Layout(parts, self._windows(text, starts, parts, room, overlap))

    def _size(self, text: str, labels: Sequence[str]) -> int:
        return self._counter.count_prompt(str(self.render(text, labels)))

    def _room(self, labels: Sequence[str]) -> int:
        """Tokens that are left for the text beside these labels."""
        return self._limit - self._size("", labels) - _SLACK

    def _windows(
        self, text: str, starts: Sequence[int], parts: Sequence[Sequence[str]], room: int, overlap: bool
    ) -> tuple[Window, ...]:
        largest = min(parts, key=self._room)
        while True:
            shared = min(MAX_OVERLAP, int(room * OVERLAP_SHARE)) if overlap else 0
            windows = [
                window for window in cut_windows(text, starts, room, shared) if text[window.start : window.end].strip()
            ]
            over = max(self._size(text[window.start : window.end], largest) - self._limit for window in windows)
            if over <= 0 or room <= 1:
                return tuple(windows)
            room = max(1, room - over - _SLACK)
