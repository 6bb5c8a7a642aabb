"""The backend without weights answers through the real guides, always the same."""

from __future__ import annotations

import pytest

from seqgpt_ui.backends.base import GenerationConfig
from seqgpt_ui.backends.fake import FREE_ANSWER, FakeBackend
from seqgpt_ui.decoding.choice import ChoiceGuide, encode_choices
from seqgpt_ui.decoding.vocabulary import Vocabulary
from seqgpt_ui.errors import Cancelled
from tests.controls import Running, StopAfter


@pytest.fixture
def fake(vocabulary: Vocabulary) -> FakeBackend:
    return FakeBackend(vocabulary, script={"你好": "世界\n"})


def test_scores_are_deterministic_and_negative(fake: FakeBackend) -> None:
    scores = fake.score([1, 2], [[3], [4, 5]], Running())
    assert scores == fake.score([1, 2], [[3], [4, 5]], Running())
    assert all(score < 0 for score in scores)


def test_guided_answers_are_legal_and_scored(fake: FakeBackend, vocabulary: Vocabulary) -> None:
    choices = encode_choices(vocabulary, "输出: ", ["正面", "负面", "中性"], "，")
    guide = ChoiceGuide(vocabulary, choices)
    generated = fake.generate(choices.prompt_ids, guide, GenerationConfig(max_new_tokens=50), Running())
    assert generated.finish_reason == "stop"
    assert len(generated.guided_logprobs) == len(generated.token_ids) + 1
    assert all(value <= 1e-9 for value in generated.guided_logprobs)
    short = fake.generate(choices.prompt_ids, guide, GenerationConfig(max_new_tokens=1), Running())
    assert short.finish_reason == "length"


def test_scripted_and_default_text(fake: FakeBackend, vocabulary: Vocabulary) -> None:
    heard: list[int] = []
    config = GenerationConfig(max_new_tokens=100)
    scripted = fake.generate(vocabulary.encode("你好"), None, config, Running(), heard.append)
    assert vocabulary.decode(scripted.token_ids) == vocabulary.decode(heard) == "世界\n"
    default = fake.generate(vocabulary.encode("x"), None, config, Running())
    assert vocabulary.decode(default.token_ids) == FREE_ANSWER
    assert fake.generate(vocabulary.encode("x"), None, GenerationConfig(2), Running()).finish_reason == "length"


def test_it_stops_when_told(fake: FakeBackend) -> None:
    with pytest.raises(Cancelled):
        fake.score([1], [[2]], StopAfter(0))
    assert fake.memory_bytes() is None
    assert fake.info.backend == "fake"
