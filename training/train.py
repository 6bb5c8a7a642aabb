"""Trains a BLOOM checkpoint on the official prompt format within a time budget; stops and resumes at any time.

``python -m training.train --out models/seqgpt-mini --rows FOLDER --lexicons FOLDER --factors FILE``
"""

from __future__ import annotations

import argparse
import json
import math
import random
import time
from collections.abc import Iterator
from dataclasses import asdict, dataclass
from itertools import islice
from pathlib import Path

import torch
from tokenizers import Tokenizer
from torch.nn import functional
from transformers import BloomConfig, BloomForCausalLM

from seqgpt_ui.prompt.profile import FormatProfile
from seqgpt_ui.prompt.templates import TemplateLibrary
from seqgpt_ui.worker.engine.loading import FORMAT_FILE
from training.batches import Batch, batches
from training.examples import Sample, SampleBuilder, redraw
from training.mixture import Source, draw, file_sources, generator_source, with_share
from training.tokenizer import save_tokenizer, train_tokenizer


@dataclass(frozen=True, slots=True)
class TrainingConfig:
    """Everything that decides the result, written beside the checkpoint."""

    vocab_size: int = 8192
    hidden_size: int = 256
    n_layer: int = 6
    n_head: int = 8
    seed: int = 1
    minutes: float = 55.0
    tokens_per_batch: int = 2560
    learning_rate: float = 1.5e-3
    text_loss: float = 0.15
    text_share: float = 0.12
    max_tokens: int = 320
    generated_rows: int = 60_000
    generated_share: float = 0.25


def create_model(config: TrainingConfig) -> BloomForCausalLM:
    """A freshly initialised model without dropout: no row is seen often enough to need it."""
    torch.manual_seed(config.seed)
    model = BloomForCausalLM(
        BloomConfig(
            vocab_size=config.vocab_size,
            hidden_size=config.hidden_size,
            n_layer=config.n_layer,
            n_head=config.n_head,
            hidden_dropout=0.0,
            attention_dropout=0.0,
            bos_token_id=1,
            eos_token_id=2,
            pad_token_id=3,
        )
    )
    for block in model.transformer.h:  # the same function in one fused kernel: a sixth of the step's time
        block.mlp.gelu_impl = torch.nn.GELU(approximate="tanh")  # type: ignore[union-attr]
    return model


def loss_of(model: BloomForCausalLM, batch: Batch, config: TrainingConfig, generator: torch.Generator) -> torch.Tensor:
    """Weighted mean loss of answer tokens plus ``text_loss`` times that of a random share of the prompt's tokens.

    The vocabulary matrix is a third of the arithmetic of so small a model, so only the chosen positions meet it.
    """
    hidden = model.transformer(batch.ids, attention_mask=batch.mask).last_hidden_state[:, :-1]
    targets = batch.ids[:, 1:]
    weights = batch.weights[:, :-1]
    answer = weights > 0
    is_text = (batch.mask[:, 1:] == 1) & ~answer
    sampled = is_text & (torch.rand(is_text.shape, generator=generator) < config.text_share)
    losses = functional.cross_entropy(model.lm_head(hidden[answer]), targets[answer], reduction="none")
    answer_loss = (losses * weights[answer]).sum() / weights[answer].sum()
    if not bool(sampled.any()) or config.text_loss == 0:
        return answer_loss
    return answer_loss + config.text_loss * functional.cross_entropy(model.lm_head(hidden[sampled]), targets[sampled])


def rate_at(progress: float, config: TrainingConfig) -> float:
    """Learning rate at a share of the time budget: short linear warm-up, then a cosine to a fiftieth."""
    if progress < 0.02:
        return config.learning_rate * max(progress, 0.001) / 0.02
    return config.learning_rate * (0.02 + 0.98 * 0.5 * (1 + math.cos(math.pi * min(1.0, progress))))


def processor_time_s() -> float:
    """Seconds of processor time that this process used, per thread of the model."""
    return time.process_time() / torch.get_num_threads()


class Trainer:
    """Owns model, optimizer and clock of one run in ``folder``."""

    def __init__(self, config: TrainingConfig, folder: Path) -> None:
        self.config = config
        self.folder = folder
        self.model = create_model(config)
        decayed = [p for p in self.model.parameters() if p.dim() > 1]
        plain = [p for p in self.model.parameters() if p.dim() <= 1]
        groups = [{"params": decayed, "weight_decay": 0.05}, {"params": plain, "weight_decay": 0.0}]
        self.optimizer = torch.optim.AdamW(groups, lr=config.learning_rate, betas=(0.9, 0.98), fused=True)
        self.elapsed_s = 0.0
        self.step = 0
        self._state = folder / "training_state.pt"

    def resume(self) -> None:
        """Take up an interrupted run, if there is one."""
        if self._state.exists():
            state = torch.load(self._state, weights_only=True)
            self.model.load_state_dict(state["model"])
            self.optimizer.load_state_dict(state["optimizer"])
            self.elapsed_s, self.step = state["elapsed_s"], state["step"]

    def save_state(self) -> None:
        """Write all that a resume needs; the file is replaced in one move."""
        state = {
            "model": self.model.state_dict(),
            "optimizer": self.optimizer.state_dict(),
            "elapsed_s": self.elapsed_s,
            "step": self.step,
        }
        partial = self._state.with_suffix(".partial")
        torch.save(state, partial)
        partial.replace(self._state)

    def run(self, stream: Iterator[Batch]) -> None:
        """Train until the budget is spent; saves every five minutes and logs every fifty steps.

        The clock counts processor time over all threads: what else the machine does changes the wait, not the model.
        """
        budget_s = self.config.minutes * 60
        noise = torch.Generator().manual_seed(self.config.seed + self.step)
        last, saved, mean = processor_time_s(), self.elapsed_s, 0.0
        while self.elapsed_s < budget_s:
            rate = rate_at(self.elapsed_s / budget_s, self.config)
            for group in self.optimizer.param_groups:
                group["lr"] = rate
            loss = loss_of(self.model, next(stream), self.config, noise)
            loss.backward()
            torch.nn.utils.clip_grad_norm_(self.model.parameters(), 1.0)
            self.optimizer.step()
            self.optimizer.zero_grad()
            now = processor_time_s()
            self.elapsed_s += now - last
            last = now
            self.step += 1
            mean = 0.98 * mean + 0.02 * loss.item() if mean else loss.item()
            if self.step % 50 == 0:
                self._log(mean, rate)
            if self.elapsed_s - saved > 300:
                self.save_state()
                saved = self.elapsed_s
        self.save_state()

    def _log(self, loss: float, rate: float) -> None:
        line = {"step": self.step, "elapsed_s": round(self.elapsed_s, 1), "loss": round(loss, 4), "lr": round(rate, 6)}
        print(json.dumps(line), flush=True)
        with (self.folder / "curve.jsonl").open("a") as curve:
            curve.write(json.dumps(line) + "\n")


def sample_stream(sources: list[Source], builder: SampleBuilder, limit: int, rng: random.Random) -> Iterator[Sample]:
    """Endless samples no longer than ``limit`` tokens."""
    for source, row in draw(sources, rng):
        shown = redraw(row, source.pool, rng) if source.name != "generator" else row
        sample = builder.build(shown)
        if len(sample.ids) <= limit:
            yield sample


def load_or_train_tokenizer(folder: Path, sources: list[Source], vocab_size: int) -> Tokenizer:
    """The run's tokenizer: the one in its folder, or a new one trained on every distinct text and label."""
    path = folder / "tokenizer.json"
    if path.exists():
        return Tokenizer.from_file(str(path))
    corpus: dict[str, None] = {}
    for source in sources:
        for row in islice(source.rows, 12_000):
            corpus[row.text] = None
            corpus[f"\n分类: {'，'.join(row.labels)}\n输出: "] = None
    tokenizer = train_tokenizer(corpus, vocab_size)
    save_tokenizer(tokenizer, folder)
    return tokenizer


def parse_arguments() -> argparse.Namespace:
    """The command line."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--out", type=Path, required=True)
    parser.add_argument("--rows", type=Path, help="folder of .jsonl(.gz) files in the evaluation schema")
    parser.add_argument("--lexicons", type=Path, help="folder of word lists for the generator")
    parser.add_argument("--factors", type=Path, help="JSON object: name of a row file -> factor of its weight")
    for name, default in asdict(TrainingConfig()).items():
        parser.add_argument(f"--{name.replace('_', '-')}", type=type(default), default=default)
    return parser.parse_args()


def main() -> None:
    """Build data, train, and write the checkpoint."""
    arguments = parse_arguments()
    config = TrainingConfig(**{name: getattr(arguments, name) for name in asdict(TrainingConfig())})
    folder: Path = arguments.out
    folder.mkdir(parents=True, exist_ok=True)
    factors: dict[str, float] = json.loads(arguments.factors.read_text()) if arguments.factors else {}
    real = file_sources(arguments.rows, factors) if arguments.rows else []
    synthetic = generator_source(config.generated_rows, config.seed, arguments.lexicons, 1.0)
    sources = with_share(real, synthetic, config.generated_share)
    tokenizer = load_or_train_tokenizer(folder, sources, config.vocab_size)
    profile = FormatProfile()
    builder = SampleBuilder(tokenizer, TemplateLibrary.from_folder().get("official"), profile)
    trainer = Trainer(config, folder)
    trainer.resume()
    rng = random.Random(f"{config.seed}/{trainer.step}")  # a resumed run goes on with other rows
    record = {"config": asdict(config), "factors": factors, "sources": {s.name: len(s.rows) for s in sources}}
    (folder / "training_config.json").write_text(json.dumps(record, ensure_ascii=False, indent=2) + "\n")
    samples = sample_stream(sources, builder, config.max_tokens, rng)
    trainer.run(batches(samples, tokens=config.tokens_per_batch, pad_id=3, rng=rng))
    save_checkpoint(trainer.model, folder, profile, config.max_tokens)


def save_checkpoint(model: BloomForCausalLM, folder: Path, profile: FormatProfile, max_tokens: int) -> None:
    """Write fp16 safetensors, config and the answer format."""
    model.half().save_pretrained(folder)
    answers = {name: value for name, value in asdict(profile).items() if name != "has_gen"}
    answers["max_prompt_tokens"] = max_tokens
    (folder / FORMAT_FILE).write_text(json.dumps(answers, ensure_ascii=False, indent=2) + "\n")


if __name__ == "__main__":
    main()
