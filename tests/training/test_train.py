"""A whole tiny training run: it learns, stops in its time, resumes, and its checkpoint is one of ours."""

from __future__ import annotations

import itertools
import json
import random
from dataclasses import replace
from pathlib import Path

import pytest
import torch

from seqgpt_ui.prompt.profile import FormatProfile
from seqgpt_ui.prompt.templates import TemplateLibrary
from seqgpt_ui.settings import Settings
from seqgpt_ui.worker.engine.loading import CheckpointFolder, load_core
from training.batches import batches, collate
from training.examples import Sample, SampleBuilder
from training.mixture import Source
from training.rows import Row
from training.train import (
    Trainer,
    TrainingConfig,
    create_model,
    load_or_train_tokenizer,
    loss_of,
    rate_at,
    sample_stream,
    save_checkpoint,
)

TINY = TrainingConfig(vocab_size=400, hidden_size=32, n_layer=1, n_head=2, minutes=0.02, tokens_per_batch=256)
ROWS = [
    Row(str(i), "classify", f"{'好' if i % 2 else '差'}评第{i}条", ("正面", "负面"), ("正面" if i % 2 else "负面",))
    for i in range(40)
]
SOURCES = [Source("generator", ROWS, (), 1.0)]


def run(folder: Path, config: TrainingConfig) -> Trainer:
    tokenizer = load_or_train_tokenizer(folder, SOURCES, config.vocab_size)
    builder = SampleBuilder(tokenizer, TemplateLibrary.from_folder().get("official"), FormatProfile())
    trainer = Trainer(config, folder)
    trainer.resume()
    samples = sample_stream(SOURCES, builder, config.max_tokens, random.Random(1))
    trainer.run(batches(samples, tokens=config.tokens_per_batch, pad_id=3, rng=random.Random(1), look_ahead=32))
    return trainer


def test_a_run_writes_a_checkpoint_that_the_product_loads(tmp_path: Path) -> None:
    trainer = run(tmp_path, TINY)
    assert trainer.step > 0
    save_checkpoint(trainer.model, tmp_path, FormatProfile(), 200)
    core = load_core(
        Settings.from_environment({"SEQGPT_DTYPE": "float32"}), CheckpointFolder(tmp_path, "x", is_demo=True)
    )
    assert core.model.max_prompt_tokens == 200
    assert core.tokenizer().format.has_gen
    content = json.loads((tmp_path / "seqgpt_format.json").read_text(encoding="utf-8"))
    assert content["absent"] == "None"


def test_a_run_goes_on_where_it_stopped(tmp_path: Path) -> None:
    first = run(tmp_path, TINY)
    again = run(tmp_path, TINY)
    assert again.step == first.step, "the budget was spent already"
    longer = run(tmp_path, replace(TINY, minutes=0.04))
    assert longer.step > first.step
    assert longer.elapsed_s > first.elapsed_s


def test_loss_falls() -> None:
    model = create_model(TINY)
    optimizer = torch.optim.AdamW(model.parameters(), lr=3e-3)
    batch = collate([Sample([10, 11, 12, 20, 2], 3, [1.0, 1.0]), Sample([10, 13, 12, 21, 2], 3, [1.0, 1.0])], 3)
    losses = []
    for _ in range(30):
        loss = loss_of(model, batch, TINY, torch.Generator().manual_seed(0))
        loss.backward()
        optimizer.step()
        optimizer.zero_grad()
        losses.append(loss.item())
    assert losses[-1] < losses[0] / 2


def test_answers_alone_count_where_text_has_no_share() -> None:
    model = create_model(TINY)
    batch = collate([Sample([10, 11, 12, 20, 2], 3, [1.0, 1.0])], 3)
    noise = torch.Generator().manual_seed(0)
    alone = loss_of(model, batch, replace(TINY, text_share=0.0), noise).item()
    assert alone == pytest.approx(loss_of(model, batch, replace(TINY, text_loss=0.0), noise).item())
    with torch.inference_mode():
        logits = model(batch.ids).logits[0]
    expected = torch.nn.functional.cross_entropy(logits[2:4], batch.ids[0, 3:5]).item()
    assert alone == pytest.approx(expected, abs=1e-4)


def test_the_rate_warms_up_and_falls_to_a_fiftieth() -> None:
    rates = [rate_at(progress / 100, TINY) for progress in range(101)]
    assert max(rates) <= TINY.learning_rate
    assert rates[0] < rates[1] < rates[2]
    assert all(before >= after for before, after in itertools.pairwise(rates[2:]))
    assert rates[-1] == pytest.approx(TINY.learning_rate / 50)


def test_samples_that_are_too_long_are_left_out(tmp_path: Path) -> None:
    tokenizer = load_or_train_tokenizer(tmp_path, SOURCES, TINY.vocab_size)
    builder = SampleBuilder(tokenizer, TemplateLibrary.from_folder().get("official"), FormatProfile())
    rows = [*ROWS, Row("long", "classify", "很长" * 400, ("正面",), ("正面",))]
    stream = sample_stream([Source("generator", rows, (), 1.0)], builder, 60, random.Random(1))
    assert all(len(sample.ids) <= 60 for sample in itertools.islice(stream, 100))
