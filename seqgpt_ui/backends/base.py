"""The narrow waist between the engine and whatever runs the weights.

A backend knows token ids only: it scores continuations and decodes under a guide. It is called from the one thread
that owns it.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import Literal, Protocol

from seqgpt_ui.decoding.guide import Guide
from seqgpt_ui.protocol import FinishReason


@dataclass(frozen=True, slots=True)
class BackendInfo:
    """How the weights run."""

    backend: str
    device: str
    dtype: str
    quantization: str
    num_parameters: int
    vocab_size: int


@dataclass(frozen=True, slots=True)
class GenerationConfig:
    """Decoding settings of one sequence. ``num_beams`` 1 is greedy unless ``do_sample``."""

    max_new_tokens: int
    num_beams: int = 1
    repetition_penalty: float = 1.0
    do_sample: bool = False
    temperature: float = 1.0
    top_p: float = 1.0
    seed: int | None = None


@dataclass(frozen=True, slots=True)
class Generated:
    """What was decoded, without the end token.

    ``logprobs`` (whole vocabulary) and ``guided_logprobs`` (renormalised over what the guide allowed) have one entry
    per token plus one for the end token when ``finish_reason`` is stop; both are empty without a guide.
    """

    token_ids: tuple[int, ...]
    finish_reason: FinishReason
    logprobs: tuple[float, ...] = ()
    guided_logprobs: tuple[float, ...] = ()


class Control(Protocol):
    """How a running sequence hears that nobody waits any more, and tells what it produced."""

    def stopped(self) -> Literal["cancelled", "deadline"] | None:
        """Why to stop now, or None. Asked before every step."""
        ...


TokenCallback = Callable[[int], None]


class Backend(Protocol):
    """One loaded checkpoint. Methods raise ``EngineFailed`` when the device fails."""

    @property
    def info(self) -> BackendInfo:
        """How the weights run."""
        ...

    def score(self, prompt_ids: Sequence[int], continuations: Sequence[Sequence[int]], control: Control) -> list[float]:
        """Log-probability of each continuation after the prompt, under the whole vocabulary."""
        ...

    def generate(
        self,
        prompt_ids: Sequence[int],
        guide: Guide | None,
        config: GenerationConfig,
        control: Control,
        on_token: TokenCallback | None = None,
    ) -> Generated:
        """Decode one answer, under ``guide`` if given; ``on_token`` hears every token as it comes (greedy/sampled)."""
        ...

    def memory_bytes(self) -> int | None:
        """Bytes of device memory in use, None where that is the process's own memory."""
        ...
