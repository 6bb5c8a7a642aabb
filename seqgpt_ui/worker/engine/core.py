"""Answers one wire item with one backend: encodes, compiles the guide, picks the plan, reads the result.

Synchronous and deterministic; owned by one thread. Knows prompts, tokens and constraints, not tasks or pages.
"""

from __future__ import annotations

import math
import time
from collections.abc import Callable, Sequence
from functools import partial

from seqgpt_ui.backends.base import Backend, Control, Generated, GenerationConfig
from seqgpt_ui.decoding.choice import ChoiceGuide, ChoiceSet, encode_choices
from seqgpt_ui.decoding.copy import CopyAutomaton, SpanPath
from seqgpt_ui.decoding.copy_guide import CopyGuide
from seqgpt_ui.decoding.prompts import encode_prompt, split_gen
from seqgpt_ui.decoding.source import Source
from seqgpt_ui.decoding.vocabulary import TextStream, Vocabulary
from seqgpt_ui.errors import InvalidRequest, TextTooLong
from seqgpt_ui.protocol import (
    ChoiceConstraint,
    ChoiceScore,
    Completion,
    CopyConstraint,
    DecodingParams,
    FormatMessage,
    GenerateItem,
    ModelInfo,
    SpanMessage,
    TokenizerResponse,
)

# The official code decodes with four beams, without sampling (facts sheet of SeqGPT-560M, README "Inference").
OFFICIAL_BEAMS = 4
TextCallback = Callable[[str], None]


class EngineCore:
    """One model, one item at a time."""

    def __init__(
        self, backend: Backend, vocabulary: Vocabulary, answer_format: FormatMessage, model: ModelInfo
    ) -> None:
        self._backend = backend
        self._vocabulary = vocabulary
        self._format = answer_format
        self.model = model

    def tokenizer(self) -> TokenizerResponse:
        """What clients need to count tokens and to build prompts."""
        return TokenizerResponse(
            tokenizer_json=self._vocabulary.plain_json,
            format=self._format,
            gen_id=self._vocabulary.gen_id,
            max_prompt_tokens=self.model.max_prompt_tokens,
        )

    def memory_bytes(self) -> int | None:
        """Device memory in use, if that is not the process's own."""
        return self._backend.memory_bytes()

    def run(self, item: GenerateItem, control: Control, on_text: TextCallback | None = None) -> Completion:
        """Answer one item. Raises ``InvalidRequest``, ``Cancelled``, ``DeadlineExceeded`` or ``EngineFailed``."""
        began = time.monotonic()
        constraint = item.constraint if item.params.mode != "official" else None
        if isinstance(constraint, ChoiceConstraint):
            answer = self._choose if constraint.multi else self._score
            completion = answer(item, constraint, control)
        elif isinstance(constraint, CopyConstraint):
            completion = self._copy(item, constraint, control)
        else:
            completion = self._free(item, control, on_text)
        return completion.model_copy(update={"elapsed_ms": (time.monotonic() - began) * 1000})

    def _encode(self, item: GenerateItem) -> list[int]:
        prompt_ids = encode_prompt(item.segments, self._vocabulary)
        self._check(prompt_ids)
        return prompt_ids

    def _check(self, prompt_ids: Sequence[int]) -> None:
        limit = self.model.max_prompt_tokens
        if len(prompt_ids) > limit:
            raise TextTooLong(f"the prompt has {len(prompt_ids)} tokens; this model takes {limit}", param="segments")
        if not prompt_ids:
            raise InvalidRequest("the prompt is empty; send at least one character", param="segments")

    def _choice_set(self, item: GenerateItem, constraint: ChoiceConstraint) -> ChoiceSet:
        prompt = split_gen(item.segments, self._vocabulary)
        choices = encode_choices(self._vocabulary, prompt, constraint.choices, constraint.separator)
        self._check(choices.prompt_ids)
        return choices

    def _score(self, item: GenerateItem, constraint: ChoiceConstraint, control: Control) -> Completion:
        """Exact scores: every choice followed by every ending, under the whole vocabulary."""
        choices = self._choice_set(item, constraint)
        flat = [sequence for choice in choices.first for sequence in choice.distinct]
        values = iter(self._backend.score(choices.prompt_ids, flat, control))
        scores = [_log_sum_exp([next(values) for _ in choice.distinct]) for choice in choices.first]
        best = max(range(len(scores)), key=scores.__getitem__)
        return Completion(
            text=constraint.choices[best],
            finish_reason="stop",
            num_prompt_tokens=len(choices.prompt_ids),
            num_completion_tokens=0,
            choices=[ChoiceScore(choice=c, logprob=s) for c, s in zip(constraint.choices, scores, strict=True)],
        )

    def _choose(self, item: GenerateItem, constraint: ChoiceConstraint, control: Control) -> Completion:
        """Several labels: guided decoding, an emitted label's score is the product of its tokens' probabilities."""
        choices = self._choice_set(item, constraint)
        guide = ChoiceGuide(
            self._vocabulary, choices, min_choices=constraint.min_choices, max_choices=constraint.max_choices
        )
        generated = self._backend.generate(choices.prompt_ids, guide, self._config(item.params), control)
        state = guide.start
        for token in self._answer(generated):
            state = guide.advance(state, token)
        emitted = [
            ChoiceScore(choice=constraint.choices[e.choice], logprob=sum(generated.logprobs[e.first : e.last]))
            for e in guide.emitted(state)
        ]
        return self._completion(generated, len(choices.prompt_ids)).model_copy(update={"choices": emitted})

    def _copy(self, item: GenerateItem, constraint: CopyConstraint, control: Control) -> Completion:
        """Fields: guided decoding; values and offsets are those of the automaton's winning path."""
        source = Source(constraint.source)
        automaton = CopyAutomaton(
            constraint.fields, source, separator=constraint.span_separator, absent=constraint.absent
        )
        prompt_ids, read = self._open_copy(item, automaton)
        guide = CopyGuide(self._vocabulary, automaton, read=read)
        generated = self._backend.generate(prompt_ids, guide, self._config(item.params), control)
        state = guide.start
        for token in self._answer(generated):
            state = guide.advance(state, token)
        message = partial(_span, fields=constraint.fields, source=source, logprobs=generated.guided_logprobs)
        spans = [message(path) for path in guide.spans(state)]
        return self._completion(generated, len(prompt_ids)).model_copy(update={"spans": spans})

    def _open_copy(self, item: GenerateItem, automaton: CopyAutomaton) -> tuple[list[int], bytes]:
        """Prompt ids and the bytes of the answer in them: without ``[GEN]`` the first head may fuse with the prompt."""
        if self._vocabulary.gen_id is not None or automaton.first_run is None:
            return self._encode(item), b""
        prompt_ids = self._vocabulary.encode(split_gen(item.segments, self._vocabulary) + automaton.first_run.decode())
        self._check(prompt_ids)
        return prompt_ids, automaton.first_run

    def _free(self, item: GenerateItem, control: Control, on_text: TextCallback | None) -> Completion:
        """Unconstrained text; mode official decodes constrained tasks the way the official code does."""
        prompt_ids = self._encode(item)
        stream = TextStream(self._vocabulary)
        on_token = None if on_text is None else lambda token: on_text(stream.push(token))
        generated = self._backend.generate(prompt_ids, None, self._config(item.params), control, on_token)
        if on_text is not None:
            on_text(stream.finish())
        return self._completion(generated, len(prompt_ids))

    def _config(self, params: DecodingParams) -> GenerationConfig:
        return GenerationConfig(
            max_new_tokens=params.max_new_tokens,
            num_beams=1 if params.mode == "fast" else OFFICIAL_BEAMS,
            repetition_penalty=params.repetition_penalty,
            do_sample=params.do_sample,
            temperature=params.temperature,
            top_p=params.top_p,
            seed=params.seed,
        )

    def _answer(self, generated: Generated) -> tuple[int, ...]:
        ended = generated.finish_reason == "stop"
        return (*generated.token_ids, self._vocabulary.eos_id) if ended else generated.token_ids

    def _completion(self, generated: Generated, num_prompt_tokens: int) -> Completion:
        return Completion(
            text=self._vocabulary.decode(generated.token_ids),
            finish_reason=generated.finish_reason,
            num_prompt_tokens=num_prompt_tokens,
            num_completion_tokens=len(generated.token_ids),
        )


def _span(path: SpanPath, *, fields: Sequence[str], source: Source, logprobs: Sequence[float]) -> SpanMessage:
    """Score: geometric mean of the guide-renormalised probabilities of the span's tokens and of its end."""
    tokens = logprobs[path.first : path.last + 1]
    return SpanMessage(
        field=fields[path.field],
        text=source.text(path.start, path.end),
        start=source.character(path.start),
        end=source.character(path.end),
        score=math.exp(sum(tokens) / len(tokens)) if tokens else None,
    )


def _log_sum_exp(values: Sequence[float]) -> float:
    highest = max(values)
    return highest + math.log(sum(math.exp(value - highest) for value in values))
