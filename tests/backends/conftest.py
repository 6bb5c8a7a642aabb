"""One tiny random checkpoint for all backend tests."""

from __future__ import annotations

from pathlib import Path

import pytest

from seqgpt_ui.backends.reference import ReferenceBackend
from seqgpt_ui.backends.weights import load_reference
from seqgpt_ui.decoding.vocabulary import Vocabulary
from tests.checkpoints import tokenizer_json, write_checkpoint


@pytest.fixture(scope="session")
def checkpoint(tmp_path_factory: pytest.TempPathFactory) -> Path:
    return write_checkpoint(tmp_path_factory.mktemp("checkpoint"))


@pytest.fixture(scope="session")
def vocabulary() -> Vocabulary:
    return Vocabulary.from_json(tokenizer_json())


@pytest.fixture(scope="session")
def backend(checkpoint: Path, vocabulary: Vocabulary) -> ReferenceBackend:
    return load_reference(checkpoint, vocabulary, device="cpu", dtype="float32", quantization="none", threads=0)
