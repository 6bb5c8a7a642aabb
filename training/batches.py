"""Cuts a stream of samples into batches of similar length with a token budget, padded on the right."""

from __future__ import annotations

import random
from collections.abc import Iterator
from dataclasses import dataclass
from itertools import islice

import torch

from training.examples import Sample


@dataclass(frozen=True, slots=True)
class Batch:
    """(rows, length) each; a weight is that of the next token as part of the answer, 0 outside it."""

    ids: torch.Tensor
    mask: torch.Tensor
    weights: torch.Tensor


def batches(
    samples: Iterator[Sample], *, tokens: int, pad_id: int, rng: random.Random, look_ahead: int = 1024
) -> Iterator[Batch]:
    """Sort ``look_ahead`` samples by length, cut them into batches of at most ``tokens`` padded tokens, shuffle."""
    while window := sorted(islice(samples, look_ahead), key=lambda sample: len(sample.ids)):
        groups: list[list[Sample]] = [[]]
        for sample in window:
            if groups[-1] and (len(groups[-1]) + 1) * len(sample.ids) > tokens:
                groups.append([])
            groups[-1].append(sample)
        rng.shuffle(groups)
        for group in groups:
            yield collate(group, pad_id)


def collate(samples: list[Sample], pad_id: int) -> Batch:
    """Pad a group on the right."""
    length = max(len(sample.ids) for sample in samples)
    ids = torch.full((len(samples), length), pad_id)
    mask = torch.zeros((len(samples), length), dtype=torch.long)
    weights = torch.zeros((len(samples), length))
    for index, sample in enumerate(samples):
        size = len(sample.ids)
        ids[index, :size] = torch.tensor(sample.ids)
        mask[index, :size] = 1
        weights[index, sample.answer_start - 1 : size - 1] = torch.tensor(sample.weights)
    return Batch(ids, mask, weights)
