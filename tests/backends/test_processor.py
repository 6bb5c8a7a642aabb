"""The bridge between transformers' ``generate`` and a guide."""

from __future__ import annotations

import pytest
import torch

from seqgpt_ui.backends.processor import ControlCriteria, GuideProcessor, TokenStreamer
from tests.controls import Running, StopAfter


class Countdown:
    """A guide over tokens 1-4: each must be smaller than the one before; 0 ends."""

    start = 5

    def allowed(self, state: int) -> tuple[int, ...]:
        return tuple(range(state))

    def advance(self, state: int, token: int) -> int:
        if token >= state:
            raise ValueError("not allowed")
        return token

    def forced(self, state: int) -> tuple[int, ...]:
        return ()

    def draft(self, state: int) -> tuple[int, ...]:
        return ()

    def final(self, state: int) -> bool:
        return True


def process(rows: list[list[int]]) -> torch.Tensor:
    scores = torch.arange(6.0).repeat(len(rows), 1)
    return GuideProcessor(Countdown(), 2)(torch.tensor([[9, 9, *row] for row in rows]), scores)  # type: ignore[arg-type]


def test_only_allowed_values_are_left_and_left_as_they_are() -> None:
    masked = process([[3], [1]])
    assert masked[0].tolist() == [0.0, 1.0, 2.0, *[float("-inf")] * 3]
    assert masked[1].tolist() == [0.0, *[float("-inf")] * 5]


def test_rows_behind_an_end_or_an_illegal_token_are_dead() -> None:
    masked = process([[3, 0], [3, 4]])
    assert torch.isinf(masked).all()


def test_states_are_found_from_any_prefix() -> None:
    processor = GuideProcessor(Countdown(), 0)
    assert processor.state_of((4, 3, 1)) == 1
    assert processor.state_of((4, 4)) is None
    assert processor.state_of((4, 4, 1)) is None


@pytest.mark.parametrize(("control", "stops"), [(Running(), False), (StopAfter(0), True)])
def test_all_beams_stop_together(control: Running | StopAfter, stops: bool) -> None:
    flags = ControlCriteria(control)(torch.zeros(3, 4, dtype=torch.long), torch.zeros(3, 5))  # type: ignore[arg-type]
    assert flags.tolist() == [stops] * 3


def test_the_streamer_skips_the_prompt() -> None:
    heard: list[int] = []
    streamer = TokenStreamer(heard.append)
    streamer.put(torch.tensor([[1, 2, 3]]))
    streamer.put(torch.tensor([4]))
    streamer.put(torch.tensor([5]))
    streamer.end()
    assert heard == [4, 5]
