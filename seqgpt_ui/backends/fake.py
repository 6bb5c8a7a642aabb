"""A backend without weights: real tokens, real guides, made-up probabilities. For tests and for trying the service.

Probabilities come from a hash of what was read so far, so answers are deterministic and look alive. It needs a
checkpoint's tokenizer, nothing else.
"""

from __future__ import annotations

import hashlib
import math
import time
from collections.abc import Sequence

from seqgpt_ui.backends.base import BackendInfo, Control, Generated, GenerationConfig, TokenCallback
from seqgpt_ui.decoding.guide import Guide
from seqgpt_ui.decoding.vocabulary import Vocabulary
from seqgpt_ui.errors import raise_if_stopped

FREE_ANSWER = "这是一个没有权重的后端。 This backend has no weights.\n"


class FakeBackend:
    """Scores by hash. ``script`` maps a piece of a prompt to the free answer for it; ``step_s`` slows each step."""

    def __init__(self, vocabulary: Vocabulary, *, script: dict[str, str] | None = None, step_s: float = 0.0) -> None:
        self._vocabulary = vocabulary
        self._script = dict(script or {})
        self._step_s = step_s
        self.info = BackendInfo("fake", "none", "none", "none", 0, 0)

    def memory_bytes(self) -> int | None:
        """It uses none."""
        return None

    def score(self, prompt_ids: Sequence[int], continuations: Sequence[Sequence[int]], control: Control) -> list[float]:
        """One pseudo-random log-probability a token."""
        self._step(control)
        return [
            sum(self._logprob([*prompt_ids, *tokens[:at]], tokens[at]) for at in range(len(tokens)))
            for tokens in continuations
        ]

    def generate(
        self,
        prompt_ids: Sequence[int],
        guide: Guide | None,
        config: GenerationConfig,
        control: Control,
        on_token: TokenCallback | None = None,
    ) -> Generated:
        """Greedy over the hashed probabilities of what the guide allows; without a guide the scripted answer."""
        if guide is None:
            return self._scripted(prompt_ids, config, control, on_token)
        tokens: list[int] = []
        plain: list[float] = []
        guided: list[float] = []
        state = guide.start
        while len(tokens) < config.max_new_tokens:
            self._step(control)
            values = {token: self._logprob([*prompt_ids, *tokens], token) for token in guide.allowed(state)}
            token = max(values, key=values.__getitem__)
            plain.append(values[token])
            guided.append(values[token] - math.log(sum(map(math.exp, values.values()))))
            if token == self._vocabulary.eos_id:
                return Generated(tuple(tokens), "stop", tuple(plain), tuple(guided))
            tokens.append(token)
            state = guide.advance(state, token)
        return Generated(tuple(tokens), "length", tuple(plain), tuple(guided))

    def _scripted(
        self, prompt_ids: Sequence[int], config: GenerationConfig, control: Control, on_token: TokenCallback | None
    ) -> Generated:
        prompt = self._vocabulary.decode(prompt_ids)
        answer = next((text for piece, text in self._script.items() if piece in prompt), FREE_ANSWER)
        tokens = self._vocabulary.encode(answer)
        for token in tokens[: config.max_new_tokens]:
            self._step(control)
            if on_token is not None:
                on_token(token)
        return Generated(
            tuple(tokens[: config.max_new_tokens]), "stop" if len(tokens) <= config.max_new_tokens else "length"
        )

    def _step(self, control: Control) -> None:
        raise_if_stopped(control.stopped())
        if self._step_s:
            time.sleep(self._step_s)

    def _logprob(self, before: Sequence[int], token: int) -> float:
        digest = hashlib.blake2b(repr((list(before[-8:]), token)).encode(), digest_size=4).digest()
        return -0.1 - 6.0 * int.from_bytes(digest, "big") / 2**32
