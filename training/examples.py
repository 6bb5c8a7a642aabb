"""Turns rows into token sequences: the official prompt, then the answer, with the answer's start marked.

Every draw of a row shows it anew: label order, distractors and the fields asked are drawn at random, so that the
model learns to read the label list and not the data set.
"""

from __future__ import annotations

import random
from dataclasses import dataclass

from tokenizers import Tokenizer

from seqgpt_ui.prompt.answer import format_classification, format_extraction
from seqgpt_ui.prompt.profile import GEN_TOKEN, FormatProfile
from seqgpt_ui.prompt.render import render, shown_label
from seqgpt_ui.prompt.templates import TaskTemplate
from training.rows import Row

MAX_FIELDS = 6
SYNONYMS = {
    "人名": ("人物", "姓名"),
    "地名": ("地点", "位置"),
    "机构名": ("机构", "组织机构", "组织"),
    "person": ("person name", "people"),
    "location": ("place", "location name"),
    "organisation": ("organization", "company"),
    "名称": ("名字",),
    "地址": ("所在地址",),
    "电话": ("联系电话", "电话号码"),
}


# The guide writes the heads of an extraction, so learning them matters less than learning what follows them.
HEAD_WEIGHT = 0.1


@dataclass(frozen=True, slots=True)
class Sample:
    """Token ids of prompt and answer; the answer begins at ``answer_start`` and its tokens count by ``weights``."""

    ids: list[int]
    answer_start: int
    weights: list[float]


def redraw(row: Row, pool: tuple[str, ...], rng: random.Random) -> Row:
    """The same row with labels drawn anew. ``pool`` holds every label of its data set."""
    return _redraw_classify(row, pool, rng) if isinstance(row.gold, tuple) else _redraw_extract(row, rng)


def _redraw_classify(row: Row, pool: tuple[str, ...], rng: random.Random) -> Row:
    assert isinstance(row.gold, tuple)
    gold = row.gold
    others = [label for label in (pool if len(pool) > len(row.labels) else row.labels) if label not in gold]
    most = min(len(others), 12)
    count = most if len(pool) <= 13 and rng.random() < 0.6 else rng.randint(min(1, most), most)
    labels = [*gold, *rng.sample(others, count)]
    rng.shuffle(labels)
    ordered = tuple(label for label in labels if label in gold)
    return Row(row.id, row.task, row.text, tuple(labels), ordered, row.source, row.licence)


def _redraw_extract(row: Row, rng: random.Random) -> Row:
    assert isinstance(row.gold, dict)
    fields = list(row.labels)
    if rng.random() < 0.5:
        rng.shuffle(fields)
    if len(fields) > MAX_FIELDS:
        start = rng.choice(range(0, len(fields), MAX_FIELDS))
        fields = fields[start : start + MAX_FIELDS]
    if len(fields) > 1 and rng.random() < 0.3:
        fields = [field for field in fields if rng.random() < 0.7] or fields
    names = {
        field: rng.choice(SYNONYMS[field]) if field in SYNONYMS and rng.random() < 0.3 else field for field in fields
    }
    gold = {names[field]: row.gold[field] for field in fields if field in row.gold}
    return Row(row.id, row.task, row.text, tuple(names.values()), gold, row.source, row.licence)


class SampleBuilder:
    """Encodes rows with one tokenizer, template and profile."""

    def __init__(self, tokenizer: Tokenizer, template: TaskTemplate, profile: FormatProfile) -> None:
        tokenizer.encode_special_tokens = True  # what a text says is never a control token
        self._tokenizer = tokenizer
        self._template = template
        self._profile = profile
        self._gen = [_id_of(tokenizer, GEN_TOKEN)] if profile.has_gen else []
        self._end = _id_of(tokenizer, "</s>")

    def build(self, row: Row) -> Sample:
        """Prompt and answer of a row as ids; control tokens written in the text stay ordinary characters."""
        prompt = str(render(row.task, row.text, row.labels, self._template, self._profile))
        prompt_ids = self._encode(prompt.removesuffix(GEN_TOKEN)) + self._gen
        ids, weights = self._answer(row)
        return Sample([*prompt_ids, *ids, self._end], len(prompt_ids), [*weights, 1.0])

    def _answer(self, row: Row) -> tuple[list[int], list[float]]:
        if isinstance(row.gold, tuple):
            ids = self._encode(format_classification(row.gold, self._profile))
            return ids, [1.0] * len(ids)
        answer = format_extraction(row.labels, row.gold, self._profile)
        ids = self._encode(answer)
        weights: list[float] = []
        for line in answer.splitlines(keepends=True):
            head = next(f"{shown_label(field)}:" for field in row.labels if line.startswith(f"{shown_label(field)}: "))
            num_head = len(self._encode(head))
            weights += [HEAD_WEIGHT] * num_head + [1.0] * (len(self._encode(line)) - num_head)
        # A line break may fuse with its neighbours in a rare vocabulary; such an answer counts evenly.
        return ids, weights if len(weights) == len(ids) else [1.0] * len(ids)

    def _encode(self, text: str) -> list[int]:
        return list(self._tokenizer.encode(text, add_special_tokens=False).ids)


def _id_of(tokenizer: Tokenizer, token: str) -> int:
    found = tokenizer.token_to_id(token)
    if found is None:
        raise ValueError(f"the tokenizer has no {token}")
    return int(found)
