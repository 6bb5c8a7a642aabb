"""Lets transformers' ``generate`` ask a guide, and stop when nobody waits any more."""

from __future__ import annotations

from collections.abc import Callable

import torch
from transformers import LogitsProcessor, StoppingCriteria
from transformers.generation.streamers import BaseStreamer

from seqgpt_ui.backends.base import Control
from seqgpt_ui.decoding.guide import Guide, State


class GuideProcessor(LogitsProcessor):
    """Masks what the guide does not allow; values of allowed tokens are left as they are (not renormalised)."""

    def __init__(self, guide: Guide, prompt_length: int) -> None:
        self._guide = guide
        self._prompt_length = prompt_length
        self._states: dict[tuple[int, ...], State] = {(): guide.start}

    def __call__(self, input_ids: torch.LongTensor, scores: torch.FloatTensor) -> torch.FloatTensor:
        """``input_ids`` is (beams, length), ``scores`` (beams, vocabulary)."""
        masked = torch.full_like(scores, float("-inf"))
        for row, ids in enumerate(input_ids[:, self._prompt_length :].tolist()):
            state = self.state_of(tuple(ids))
            allowed = torch.tensor(() if state is None else self._guide.allowed(state), device=scores.device).long()
            if len(allowed):  # beam search keeps asking behind an answer that has ended
                masked[row, allowed] = scores[row, allowed]
        return masked  # type: ignore[return-value]

    def state_of(self, tokens: tuple[int, ...]) -> State | None:
        """The state after ``tokens``; None behind a token that was not allowed (beams kept only to fill the batch)."""
        if tokens not in self._states:
            before = self.state_of(tokens[:-1])
            try:
                self._states[tokens] = None if before is None else self._guide.advance(before, tokens[-1])
            except ValueError:
                self._states[tokens] = None
        return self._states[tokens]


class ControlCriteria(StoppingCriteria):
    """Stops all beams as soon as the control says so; remembers why."""

    def __init__(self, control: Control) -> None:
        self._control = control

    def __call__(self, input_ids: torch.LongTensor, scores: torch.FloatTensor, **kwargs: object) -> torch.Tensor:
        """One flag per beam."""
        return torch.full((input_ids.shape[0],), self._control.stopped() is not None, device=input_ids.device)


class TokenStreamer(BaseStreamer):
    """Hands every new token to a callback; the first call carries the prompt and is skipped."""

    def __init__(self, on_token: Callable[[int], None]) -> None:
        self._on_token = on_token
        self._prompt_seen = False

    def put(self, value: torch.Tensor) -> None:
        """Called by ``generate`` with the prompt, then with each token."""
        if self._prompt_seen:
            for token in value.flatten().tolist():
                self._on_token(token)
        self._prompt_seen = True

    def end(self) -> None:
        """Nothing is buffered."""
