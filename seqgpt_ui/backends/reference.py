"""The reference backend: transformers' own forward pass and ``generate``. It is the oracle of every faster engine."""

from __future__ import annotations

import copy
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from typing import Any

import torch
from transformers import BloomForCausalLM, LogitsProcessorList, StoppingCriteriaList
from transformers import GenerationConfig as HFGenerationConfig

from seqgpt_ui.backends.base import BackendInfo, Control, Generated, GenerationConfig, TokenCallback
from seqgpt_ui.backends.branches import Branches, plan_branches
from seqgpt_ui.backends.processor import ControlCriteria, GuideProcessor, TokenStreamer
from seqgpt_ui.decoding.guide import Guide
from seqgpt_ui.errors import EngineFailed, raise_if_stopped
from seqgpt_ui.protocol import FinishReason

MAX_ROWS = 32
# prefix -> next token -> log-probability
ScoreTable = dict[tuple[int, ...], dict[int, float]]


class ReferenceBackend:
    """Runs one loaded BLOOM model; not thread-safe, owned by one thread."""

    def __init__(self, model: BloomForCausalLM, info: BackendInfo, *, eos_id: int, pad_id: int) -> None:
        self._model = model.eval()
        self._device = next(model.parameters()).device
        self.info = info
        self._eos_id = eos_id
        self._pad_id = pad_id

    def memory_bytes(self) -> int | None:
        """Allocated CUDA memory; None on a CPU, where it is the process's own."""
        return torch.cuda.memory_allocated(self._device) if self._device.type == "cuda" else None

    def score(self, prompt_ids: Sequence[int], continuations: Sequence[Sequence[int]], control: Control) -> list[float]:
        """Exact log-probability of each continuation: one prefill, then ``MAX_ROWS`` branches at a time behind it."""
        branches = plan_branches(continuations)
        table: dict[tuple[int, ...], dict[int, float]] = {}
        raise_if_stopped(control.stopped())
        with self._device_errors():
            prefill = self._model.transformer(torch.tensor([list(prompt_ids)], device=self._device), use_cache=True)
            self._read_row(prefill.last_hidden_state[0, -1:], (), branches, table)
            rows = [row for row in branches.rows if row]
            for first in range(0, len(rows), MAX_ROWS):
                raise_if_stopped(control.stopped())
                self._score_rows(prefill.cache, rows[first : first + MAX_ROWS], branches, table)
        return [sum(table[tuple(c[:at])][c[at]] for at in range(len(c))) for c in continuations]

    def _score_rows(self, cache: Any, rows: Sequence[tuple[int, ...]], branches: Branches, table: ScoreTable) -> None:
        """Run branches behind a copy of the prefilled cache, padded on the right."""
        branch_cache = copy.deepcopy(cache)
        branch_cache.batch_repeat_interleave(len(rows))
        length = cache.get_seq_length()
        ids = torch.full((len(rows), max(map(len, rows))), self._pad_id, device=self._device)
        mask = torch.zeros((len(rows), length + ids.shape[1]), dtype=torch.long, device=self._device)
        for index, row in enumerate(rows):
            ids[index, : len(row)] = torch.tensor(row, device=self._device)
            mask[index, : length + len(row)] = 1
        hidden = self._model.transformer(ids, attention_mask=mask, cache=branch_cache).last_hidden_state
        for index, row in enumerate(rows):
            self._read_row(hidden[index, : len(row)], row, branches, table)

    def _read_row(self, hidden: torch.Tensor, row: tuple[int, ...], branches: Branches, table: ScoreTable) -> None:
        """Fill ``table[prefix][token]`` for the prefixes that ``row`` passes through; ``hidden`` ends at its end."""
        for back in range(len(hidden)):
            prefix = row[: len(row) - back]
            if prefix in table or prefix not in branches.next_tokens:
                continue
            logits = self._model.lm_head(hidden[len(hidden) - 1 - back]).float()
            tokens = branches.next_tokens[prefix]
            chosen = logits[torch.tensor(tokens, device=self._device)] - torch.logsumexp(logits, dim=-1)
            table[prefix] = dict(zip(tokens, chosen.tolist(), strict=True))

    def generate(
        self,
        prompt_ids: Sequence[int],
        guide: Guide | None,
        config: GenerationConfig,
        control: Control,
        on_token: TokenCallback | None = None,
    ) -> Generated:
        """transformers' ``generate``: greedy, sampled or beam search, the guide as logits processor."""
        raise_if_stopped(control.stopped())
        prompt = torch.tensor([list(prompt_ids)], device=self._device)
        with self._device_errors():
            output = self._run(prompt, guide, config, control, on_token)
        raise_if_stopped(control.stopped())
        tokens = output[0, prompt.shape[1] :].tolist()
        ended = self._eos_id in tokens
        tokens = tokens[: tokens.index(self._eos_id)] if ended else [t for t in tokens if t != self._pad_id]
        finish: FinishReason = "stop" if ended else "length"
        if guide is None:
            return Generated(tuple(tokens), finish)
        with self._device_errors():
            logprobs, guided = self._read_scores(prompt_ids, tokens, guide, ended)
        return Generated(tuple(tokens), finish, logprobs, guided)

    def _run(
        self,
        prompt: torch.Tensor,
        guide: Guide | None,
        config: GenerationConfig,
        control: Control,
        on_token: TokenCallback | None,
    ) -> torch.Tensor:
        # Beams change their minds, so only a single sequence can be heard as it grows.
        streamer = TokenStreamer(on_token) if on_token is not None and config.num_beams == 1 else None
        arguments: dict[str, Any] = {
            "attention_mask": torch.ones_like(prompt),
            "generation_config": self._settings(config),
            "logits_processor": LogitsProcessorList([GuideProcessor(guide, prompt.shape[1])] if guide else []),
            "stopping_criteria": StoppingCriteriaList([ControlCriteria(control)]),
            "streamer": streamer,
        }
        with torch.random.fork_rng(devices=[self._device] if self._device.type == "cuda" else []):
            if config.seed is not None:
                torch.manual_seed(config.seed)
            result: torch.Tensor = self._model.generate(prompt, **arguments)
        return result

    def _settings(self, config: GenerationConfig) -> HFGenerationConfig:
        sampling = {"temperature": config.temperature, "top_p": config.top_p, "top_k": 0} if config.do_sample else {}
        return HFGenerationConfig(
            max_new_tokens=config.max_new_tokens,
            num_beams=config.num_beams,
            repetition_penalty=config.repetition_penalty,
            do_sample=config.do_sample,
            eos_token_id=self._eos_id,
            pad_token_id=self._pad_id,
            **sampling,
        )

    def _read_scores(
        self, prompt_ids: Sequence[int], tokens: Sequence[int], guide: Guide, ended: bool
    ) -> tuple[tuple[float, ...], tuple[float, ...]]:
        """One more pass over the finished answer: log-probabilities, plain and renormalised over the allowed tokens."""
        answer = [*tokens, self._eos_id] if ended else list(tokens)
        ids = torch.tensor([[*prompt_ids, *answer]], device=self._device)
        hidden = self._model.transformer(ids, use_cache=False).last_hidden_state[0, len(prompt_ids) - 1 : -1]
        plain: list[float] = []
        guided: list[float] = []
        state = guide.start
        for row, token in zip(hidden, answer, strict=True):
            logits = self._model.lm_head(row).float()
            allowed = logits[torch.tensor(guide.allowed(state), device=self._device)]
            plain.append(float(logits[token] - torch.logsumexp(logits, dim=-1)))
            guided.append(float(logits[token] - torch.logsumexp(allowed, dim=-1)))
            state = guide.advance(state, token)
        return tuple(plain), tuple(guided)

    @contextmanager
    def _device_errors(self) -> Iterator[None]:
        """Inference mode, and torch's failures as ours."""
        try:
            with torch.inference_mode():
                yield
        except (RuntimeError, MemoryError) as error:
            raise EngineFailed(f"the model failed on {self._device}: {error}") from error
