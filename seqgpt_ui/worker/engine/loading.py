"""Loads a checkpoint into an engine core: picks device and precision, and says in one line what was picked and why."""

from __future__ import annotations

import json
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Any

from seqgpt_ui.backends.base import Backend
from seqgpt_ui.decoding.vocabulary import Vocabulary
from seqgpt_ui.errors import CheckpointError
from seqgpt_ui.protocol import FormatMessage, ModelInfo
from seqgpt_ui.worker.engine.core import EngineCore

if TYPE_CHECKING:
    from seqgpt_ui.settings import Settings

FORMAT_FILE = "seqgpt_format.json"
# The authors state 1,024 input tokens; quality may fall beyond (facts sheet of SeqGPT-560M, 4.3).
DEFAULT_MAX_PROMPT_TOKENS = 1024


@dataclass(frozen=True, slots=True)
class CheckpointFolder:
    """A checkpoint on disk and what to call it."""

    path: Path
    name: str
    is_demo: bool


def load_core(settings: Settings, checkpoint: CheckpointFolder) -> EngineCore:
    """Load tokenizer, answer format and weights. Raises ``CheckpointError`` with the file and the cause."""
    vocabulary = load_vocabulary(checkpoint.path)
    answer_format, max_prompt_tokens = load_format(checkpoint.path, has_gen=vocabulary.gen_id is not None)
    backend = create_backend(settings, checkpoint.path, vocabulary)
    info = backend.info
    model = ModelInfo(
        name=checkpoint.name,
        is_demo=checkpoint.is_demo,
        path=str(checkpoint.path),
        num_parameters=info.num_parameters,
        vocab_size=info.vocab_size,
        backend=info.backend,
        device=info.device,
        dtype=info.dtype,
        quantization=info.quantization,
        max_prompt_tokens=max_prompt_tokens,
    )
    return EngineCore(backend, vocabulary, answer_format, model)


def load_vocabulary(folder: Path) -> Vocabulary:
    """Read ``tokenizer.json``. Raises ``CheckpointError``."""
    path = folder / "tokenizer.json"
    try:
        return Vocabulary.from_json(path.read_text(encoding="utf-8"))
    except FileNotFoundError as error:
        raise CheckpointError(f"{path} is missing; a checkpoint needs its fast tokenizer") from error
    except Exception as error:  # the tokenizers library raises plain exceptions
        raise CheckpointError(f"{path} cannot be read: {error}") from error


def load_format(folder: Path, *, has_gen: bool) -> tuple[FormatMessage, int]:
    """The checkpoint's answer format and prompt limit; SeqGPT's own where it has no ``seqgpt_format.json``."""
    path = folder / FORMAT_FILE
    try:
        content: dict[str, Any] = json.loads(path.read_text(encoding="utf-8")) if path.exists() else {}
        answers = FormatMessage(
            has_gen=has_gen,
            label_separator=content.get("label_separator", "，"),
            span_separator=content.get("span_separator", "\t"),
            absent=content.get("absent", "None"),
        )
        return answers, int(content.get("max_prompt_tokens", DEFAULT_MAX_PROMPT_TOKENS))
    except (ValueError, TypeError, AttributeError) as error:  # pydantic's errors are ValueErrors
        raise CheckpointError(f"{path} cannot be read: {error}") from error


def create_backend(settings: Settings, folder: Path, vocabulary: Vocabulary) -> Backend:
    """The backend that the settings ask for. Its library is imported here, not before."""
    if settings.backend == "fake":
        from seqgpt_ui.backends.fake import FakeBackend

        return FakeBackend(vocabulary)
    from seqgpt_ui.backends.weights import load_reference

    return load_reference(
        folder,
        vocabulary,
        device=settings.device,
        dtype=settings.dtype,
        quantization=settings.quantization,
        threads=settings.threads,
    )
