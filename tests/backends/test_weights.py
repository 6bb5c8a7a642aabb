"""Checkpoints in the layout of the hub load in every precision, and what cannot be loaded says why."""

from __future__ import annotations

import json
import shutil
from pathlib import Path

import pytest
import torch

from seqgpt_ui.backends.base import GenerationConfig
from seqgpt_ui.backends.reference import ReferenceBackend
from seqgpt_ui.backends.weights import choose_device, choose_dtype, has_bf16, load_reference
from seqgpt_ui.decoding.vocabulary import Vocabulary
from seqgpt_ui.errors import CheckpointError
from tests.checkpoints import write_checkpoint
from tests.controls import Running

PRECISIONS = [("float32", "none"), ("bfloat16", "none"), ("float32", "int8"), ("float32", "nf4"), ("bfloat16", "nf4")]


@pytest.mark.parametrize(("dtype", "quantization"), PRECISIONS)
def test_hub_layout_loads_and_answers(
    checkpoint: Path, vocabulary: Vocabulary, backend: ReferenceBackend, dtype: str, quantization: str
) -> None:
    loaded = load_reference(checkpoint, vocabulary, device="cpu", dtype=dtype, quantization=quantization, threads=0)
    assert (loaded.info.dtype, loaded.info.quantization, loaded.info.device) == (dtype, quantization, "cpu")
    prompt = vocabulary.encode("输入: 张三\n输出: ")
    (score,) = loaded.score(prompt, [[10, 11]], Running())
    (exact,) = backend.score(prompt, [[10, 11]], Running())
    assert score == pytest.approx(exact, rel=0.35)
    assert loaded.generate(prompt, None, GenerationConfig(max_new_tokens=3), Running()).token_ids


def test_safetensors_give_the_same_model(tmp_path: Path, vocabulary: Vocabulary, backend: ReferenceBackend) -> None:
    folder = write_checkpoint(tmp_path / "safe", layout="safetensors")
    loaded = load_reference(folder, vocabulary, device="cpu", dtype="float32", quantization="none", threads=0)
    assert loaded.score([10, 11], [[12]], Running()) == backend.score([10, 11], [[12]], Running())


def test_auto_precision_follows_the_hardware(tmp_path: Path) -> None:
    flags = tmp_path / "cpuinfo"
    flags.write_text("processor: 0\nflags\t\t: fpu avx2 avx512f avx512_bf16\n")
    cpu, cuda = torch.device("cpu"), torch.device("cuda:0")
    assert choose_dtype("auto", cpu, flags) is torch.bfloat16
    flags.write_text("flags\t\t: fpu avx2 avx512f\n")
    assert choose_dtype("auto", cpu, flags) is torch.float32
    assert choose_dtype("auto", cuda, flags) is torch.float16
    assert choose_dtype("bfloat16", cpu, flags) is torch.bfloat16
    assert not has_bf16(tmp_path / "missing")


def test_auto_device_is_cuda_where_there_is_one() -> None:
    assert choose_device("auto").type == ("cuda" if torch.cuda.is_available() else "cpu")
    assert choose_device("cpu").type == "cpu"
    with pytest.raises(CheckpointError, match="SEQGPT_DEVICE is cuda:63"):
        choose_device("cuda:63")


@pytest.mark.parametrize("damage", ["no_config", "other_model", "no_weights", "broken_weights"])
def test_what_cannot_be_loaded_says_why(tmp_path: Path, checkpoint: Path, vocabulary: Vocabulary, damage: str) -> None:
    folder = tmp_path / "damaged"
    shutil.copytree(checkpoint, folder)
    if damage == "no_config":
        (folder / "config.json").unlink()
    elif damage == "other_model":
        (folder / "config.json").write_text(json.dumps({"model_type": "gpt2"}))
    elif damage == "no_weights":
        (folder / "pytorch_model.bin").unlink()
    else:
        (folder / "pytorch_model.bin").write_bytes(b"not weights")
    with pytest.raises(CheckpointError, match="damaged"):
        load_reference(folder, vocabulary, device="cpu", dtype="float32", quantization="none", threads=0)


def test_a_gen_token_beyond_the_embedding_is_refused(tmp_path: Path, checkpoint: Path, vocabulary: Vocabulary) -> None:
    wrong = Vocabulary(vocabulary.plain_json, eos_id=2, pad_id=3, gen_id=600)
    with pytest.raises(CheckpointError, match="GEN"):
        load_reference(checkpoint, wrong, device="cpu", dtype="float32", quantization="none", threads=0)
