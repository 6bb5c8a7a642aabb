"""The oracle itself: scores equal a plain forward pass, guided decoding equals a hand-written loop."""

from __future__ import annotations

import math

import pytest
import torch

from seqgpt_ui.backends.base import GenerationConfig
from seqgpt_ui.backends.reference import ReferenceBackend
from seqgpt_ui.decoding.choice import ChoiceGuide, encode_choices
from seqgpt_ui.decoding.copy import CopyAutomaton
from seqgpt_ui.decoding.copy_guide import CopyGuide
from seqgpt_ui.decoding.guide import Guide
from seqgpt_ui.decoding.source import Source
from seqgpt_ui.decoding.vocabulary import Vocabulary
from seqgpt_ui.errors import Cancelled, DeadlineExceeded, EngineFailed
from tests.controls import Running, StopAfter

TEXT = "张三和李四在北京大学工作"


def logprobs_after(backend: ReferenceBackend, ids: list[int]) -> torch.Tensor:
    """log P(next | ids) under the whole vocabulary, by a plain forward pass."""
    with torch.inference_mode():
        return torch.log_softmax(backend._model(torch.tensor([ids])).logits[0, -1].float(), -1)


@pytest.fixture
def prompt(vocabulary: Vocabulary) -> list[int]:
    assert vocabulary.gen_id is not None
    return [*vocabulary.encode(f"输入: {TEXT}\n抽取: 人名，地名\n输出: "), vocabulary.gen_id]


@pytest.fixture
def guide(vocabulary: Vocabulary) -> CopyGuide:
    automaton = CopyAutomaton(["人名", "地名"], Source(TEXT), separator="\t", absent="None")
    return CopyGuide(vocabulary, automaton)


def greedy(backend: ReferenceBackend, prompt: list[int], guide: Guide, eos: int, limit: int) -> list[int]:
    """Guided greedy decoding, one plain forward pass a token."""
    tokens: list[int] = []
    state = guide.start
    while len(tokens) < limit:
        values = logprobs_after(backend, prompt + tokens)
        allowed = torch.tensor(guide.allowed(state))
        token = int(allowed[values[allowed].argmax()])
        if token == eos:
            break
        tokens.append(token)
        state = guide.advance(state, token)
    return tokens


def test_scores_equal_a_plain_forward_pass(backend: ReferenceBackend, prompt: list[int]) -> None:
    continuations = [[10, 20, 30], [10, 20], [5], [10, 21, 7, 8], [5]]
    scores = backend.score(prompt, continuations, Running())
    for continuation, score in zip(continuations, scores, strict=True):
        expected = sum(
            float(logprobs_after(backend, prompt + continuation[:at])[token]) for at, token in enumerate(continuation)
        )
        assert score == pytest.approx(expected, abs=1e-4)


def test_many_branches_run_in_groups(backend: ReferenceBackend, prompt: list[int]) -> None:
    continuations = [[first, second, 5] for first in range(10, 20) for second in range(30, 37)]
    together = backend.score(prompt, continuations, Running())
    alone = [backend.score(prompt, [continuation], Running())[0] for continuation in continuations[::13]]
    assert together[::13] == pytest.approx(alone, abs=1e-4)


def test_guided_greedy_equals_the_loop(
    backend: ReferenceBackend, prompt: list[int], guide: CopyGuide, vocabulary: Vocabulary
) -> None:
    generated = backend.generate(prompt, guide, GenerationConfig(max_new_tokens=40), Running())
    assert list(generated.token_ids) == greedy(backend, prompt, guide, vocabulary.eos_id, 40)


@pytest.mark.parametrize("num_beams", [1, 4])
def test_reported_probabilities_are_those_of_the_answer(
    backend: ReferenceBackend, prompt: list[int], guide: CopyGuide, vocabulary: Vocabulary, num_beams: int
) -> None:
    config = GenerationConfig(max_new_tokens=60, num_beams=num_beams)
    generated = backend.generate(prompt, guide, config, Running())
    ended = generated.finish_reason == "stop"
    answer = [*generated.token_ids, *([vocabulary.eos_id] if ended else [])]
    assert len(generated.logprobs) == len(generated.guided_logprobs) == len(answer)
    state = guide.start
    for at, token in enumerate(answer):
        values = logprobs_after(backend, [*prompt, *answer[:at]])
        allowed = list(guide.allowed(state))
        assert token in allowed
        assert generated.logprobs[at] == pytest.approx(float(values[token]), abs=1e-3)
        guided = float(values[token] - torch.logsumexp(values[allowed], -1))
        assert generated.guided_logprobs[at] == pytest.approx(guided, abs=1e-3)
        state = guide.advance(state, token)


def test_four_beams_find_at_least_what_greedy_finds(backend: ReferenceBackend, vocabulary: Vocabulary) -> None:
    assert vocabulary.gen_id is not None
    choices = encode_choices(vocabulary, "输入: 好\n分类: 正面，负面\n输出: ", ["正面", "负面", "中性"], "，")
    guide = ChoiceGuide(vocabulary, choices)
    totals = []
    for num_beams in (1, 4):
        config = GenerationConfig(max_new_tokens=30, num_beams=num_beams)
        generated = backend.generate(choices.prompt_ids, guide, config, Running())
        assert generated.finish_reason == "stop"
        totals.append(sum(generated.logprobs) / (len(generated.token_ids) + 1))
    assert totals[1] >= totals[0] - 1e-4


def test_a_limit_of_tokens_is_reported(backend: ReferenceBackend, prompt: list[int], guide: CopyGuide) -> None:
    generated = backend.generate(prompt, guide, GenerationConfig(max_new_tokens=3), Running())
    assert generated.finish_reason == "length"
    assert len(generated.token_ids) == 3


def test_free_text_streams_every_token(backend: ReferenceBackend, prompt: list[int]) -> None:
    heard: list[int] = []
    generated = backend.generate(prompt, None, GenerationConfig(max_new_tokens=6), Running(), heard.append)
    assert tuple(heard[: len(generated.token_ids)]) == generated.token_ids
    assert generated.logprobs == ()


def test_sampling_repeats_with_its_seed_and_leaves_the_global_one_alone(
    backend: ReferenceBackend, prompt: list[int]
) -> None:
    config = GenerationConfig(max_new_tokens=8, do_sample=True, temperature=2.0, top_p=0.95, seed=7)
    before = torch.random.get_rng_state()
    first = backend.generate(prompt, None, config, Running())
    assert torch.equal(before, torch.random.get_rng_state())
    assert backend.generate(prompt, None, config, Running()) == first


def test_repetition_penalty_changes_greedy_text(backend: ReferenceBackend, prompt: list[int]) -> None:
    plain = backend.generate(prompt, None, GenerationConfig(max_new_tokens=20), Running())
    punished = backend.generate(prompt, None, GenerationConfig(max_new_tokens=20, repetition_penalty=3.0), Running())
    assert plain.token_ids != punished.token_ids


def test_a_caller_who_leaves_stops_the_work(backend: ReferenceBackend, prompt: list[int]) -> None:
    control = StopAfter(3)
    with pytest.raises(Cancelled):
        backend.generate(prompt, None, GenerationConfig(max_new_tokens=200), control)
    assert control.asked < 10
    with pytest.raises(DeadlineExceeded):
        backend.score(prompt, [[5]], StopAfter(0, "deadline"))


def test_failures_of_the_device_are_ours(backend: ReferenceBackend) -> None:
    with pytest.raises((EngineFailed, IndexError)):
        backend.score([10**6], [[1]], Running())


def test_memory_of_a_cpu_is_the_process(backend: ReferenceBackend) -> None:
    assert backend.memory_bytes() is None
    assert math.isfinite(backend.info.num_parameters)
