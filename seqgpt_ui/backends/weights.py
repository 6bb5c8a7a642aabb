"""Loads BLOOM weights through transformers: safetensors or ``pytorch_model.bin``, in any supported precision."""

from __future__ import annotations

import logging
import pickle
from pathlib import Path
from typing import Any

import torch
from transformers import AutoConfig, BitsAndBytesConfig, BloomForCausalLM
from transformers.utils import logging as transformers_logging

from seqgpt_ui.backends.base import BackendInfo
from seqgpt_ui.backends.reference import ReferenceBackend
from seqgpt_ui.decoding.vocabulary import Vocabulary
from seqgpt_ui.errors import CheckpointError

CPU_FLAGS = Path("/proc/cpuinfo")
BF16_FLAGS = frozenset({"avx512_bf16", "amx_bf16"})
DTYPES = {"float32": torch.float32, "bfloat16": torch.bfloat16, "float16": torch.float16}


def choose_device(wanted: str) -> torch.device:
    """``auto`` takes the first CUDA device. Raises ``CheckpointError`` for a device that is not there."""
    if wanted == "auto":
        return torch.device("cuda:0" if torch.cuda.is_available() else "cpu")
    device = torch.device(wanted)
    if device.type == "cuda" and (device.index or 0) >= torch.cuda.device_count():
        raise CheckpointError(f"SEQGPT_DEVICE is {wanted}, but {torch.cuda.device_count()} CUDA devices are visible")
    return torch.device("cuda:0") if wanted == "cuda" else device


def choose_dtype(wanted: str, device: torch.device, cpu_flags: Path = CPU_FLAGS) -> torch.dtype:
    """float16 on CUDA; on a CPU bfloat16 only where it has instructions for it (emulated it is 200 times slower)."""
    if wanted != "auto":
        return DTYPES[wanted]
    if device.type == "cuda":
        return torch.float16
    return torch.bfloat16 if has_bf16(cpu_flags) else torch.float32


def has_bf16(cpu_flags: Path) -> bool:
    """Whether the CPU multiplies bfloat16 matrices in hardware; False where it cannot be told."""
    try:
        lines = cpu_flags.read_text(encoding="utf-8", errors="replace").splitlines()
    except OSError:
        return False
    flags = next((line for line in lines if line.startswith("flags")), "")
    return bool(BF16_FLAGS & set(flags.split()))


def quantization_of(kind: str, dtype: torch.dtype) -> BitsAndBytesConfig | None:
    """bitsandbytes settings: int8, or NF4 with double quantisation. Embeddings and head stay in ``dtype``."""
    if kind == "int8":
        return BitsAndBytesConfig(load_in_8bit=True)
    if kind == "nf4":
        return BitsAndBytesConfig(
            load_in_4bit=True,
            bnb_4bit_quant_type="nf4",
            bnb_4bit_use_double_quant=True,
            bnb_4bit_compute_dtype=dtype,
        )
    return None


def load_reference(
    folder: Path, vocabulary: Vocabulary, *, device: str, dtype: str, quantization: str, threads: int
) -> ReferenceBackend:
    """Load a BLOOM checkpoint. Raises ``CheckpointError`` naming the folder and the cause."""
    if threads:
        torch.set_num_threads(threads)
    transformers_logging.disable_progress_bar()
    if quantization == "int8":  # one warning per layer and call about a cast that is meant
        logging.getLogger("bitsandbytes.autograd._functions").setLevel(logging.ERROR)
    place = choose_device(device)
    precision = choose_dtype(dtype, place)
    model = _load(folder, place, precision, quantization)
    vocab_size = int(model.config.vocab_size)
    if vocabulary.gen_id is not None and vocabulary.gen_id >= vocab_size:
        raise CheckpointError(f"{folder}: [GEN] has id {vocabulary.gen_id}, but the model knows {vocab_size} ids")
    info = BackendInfo(
        backend="reference",
        device=str(place),
        dtype=str(precision).removeprefix("torch."),
        quantization=quantization,
        num_parameters=int(model.num_parameters()),
        vocab_size=vocab_size,
    )
    return ReferenceBackend(model, info, eos_id=vocabulary.eos_id, pad_id=vocabulary.pad_id)


def _load(folder: Path, device: torch.device, dtype: torch.dtype, quantization: str) -> BloomForCausalLM:
    try:
        config = AutoConfig.from_pretrained(folder, local_files_only=True)
        if config.model_type != "bloom":
            raise CheckpointError(f"{folder} holds a {config.model_type} model; SeqGPT is a BLOOM model")
        arguments: dict[str, Any] = {"dtype": dtype, "local_files_only": True, "device_map": {"": str(device)}}
        if quantization != "none":
            arguments["quantization_config"] = quantization_of(quantization, dtype)
        model = BloomForCausalLM.from_pretrained(folder, **arguments)
    except (OSError, ValueError, RuntimeError, ImportError, MemoryError, pickle.UnpicklingError) as error:
        cause = str(error).strip().splitlines()[0] if str(error).strip() else type(error).__name__
        raise CheckpointError(f"{folder} cannot be loaded: {cause}") from error
    return model
