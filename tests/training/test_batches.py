"""Batches: a token budget, right padding, and which positions predict the answer."""

from __future__ import annotations

import random

from hypothesis import given
from hypothesis import strategies as st

from training.batches import batches, collate
from training.examples import Sample

SAMPLES = st.lists(
    st.integers(2, 12).flatmap(
        lambda size: st.integers(1, size - 1).map(lambda cut: Sample(list(range(size)), cut, [1.0] * (size - cut)))
    ),
    min_size=1,
    max_size=30,
)


@given(SAMPLES, st.integers(0, 5))
def test_every_sample_comes_once_within_the_budget(samples: list[Sample], seed: int) -> None:
    found = list(batches(iter(samples), tokens=24, pad_id=99, rng=random.Random(seed), look_ahead=7))
    assert sum(batch.ids.shape[0] for batch in found) == len(samples)
    assert sum(int(batch.mask.sum()) for batch in found) == sum(len(sample.ids) for sample in samples)
    assert all(batch.ids.numel() <= 24 for batch in found)


def test_padding_and_answer_positions() -> None:
    batch = collate([Sample([5, 6, 7, 8], 2, [0.5, 1.0]), Sample([5, 6], 1, [1.0])], pad_id=3)
    assert batch.ids.tolist() == [[5, 6, 7, 8], [5, 6, 3, 3]]
    assert batch.mask.tolist() == [[1, 1, 1, 1], [1, 1, 0, 0]]
    assert batch.weights.tolist() == [[0.0, 0.5, 1.0, 0.0], [1.0, 0.0, 0.0, 0.0]]
