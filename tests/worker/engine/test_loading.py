"""What a checkpoint folder says about itself, and what is said when it is broken."""

from __future__ import annotations

import json
from pathlib import Path

import pytest

from seqgpt_ui.errors import CheckpointError
from seqgpt_ui.settings import Settings
from seqgpt_ui.worker.engine.loading import CheckpointFolder, load_core, load_format, load_vocabulary
from tests.checkpoints import tokenizer_json, write_checkpoint


def test_fake_backend_needs_a_tokenizer_only(tmp_path: Path) -> None:
    (tmp_path / "tokenizer.json").write_text(tokenizer_json(), encoding="utf-8")
    settings = Settings.from_environment({"SEQGPT_BACKEND": "fake"})
    core = load_core(settings, CheckpointFolder(tmp_path, "tiny", is_demo=True))
    assert (core.model.name, core.model.is_demo, core.model.backend) == ("tiny", True, "fake")
    assert core.tokenizer().format.has_gen


def test_reference_backend_reports_how_it_runs(tmp_path: Path) -> None:
    folder = write_checkpoint(tmp_path / "checkpoint", with_gen=False)
    settings = Settings.from_environment({"SEQGPT_DTYPE": "float32", "SEQGPT_THREADS": "1"})
    core = load_core(settings, CheckpointFolder(folder, "tiny", is_demo=False))
    assert (core.model.backend, core.model.dtype, core.model.device) == ("reference", "float32", "cpu")
    assert core.model.num_parameters > 0
    assert not core.tokenizer().format.has_gen


def test_format_defaults_are_those_of_seqgpt(tmp_path: Path) -> None:
    answers, limit = load_format(tmp_path, has_gen=True)
    assert (answers.label_separator, answers.span_separator, answers.absent, limit) == ("，", "\t", "None", 1024)


def test_format_file_overrides_the_defaults(tmp_path: Path) -> None:
    content = {"label_separator": "；", "span_separator": ", ", "absent": None, "max_prompt_tokens": 300}
    (tmp_path / "seqgpt_format.json").write_text(json.dumps(content), encoding="utf-8")
    answers, limit = load_format(tmp_path, has_gen=False)
    assert (answers.label_separator, answers.span_separator, answers.absent, limit) == ("；", ", ", None, 300)
    assert not answers.has_gen


@pytest.mark.parametrize("content", ["{", "[]", '{"max_prompt_tokens": "many"}', '{"label_separator": 5}'])
def test_a_broken_format_file_is_named(tmp_path: Path, content: str) -> None:
    (tmp_path / "seqgpt_format.json").write_text(content, encoding="utf-8")
    with pytest.raises(CheckpointError, match=r"seqgpt_format\.json"):
        load_format(tmp_path, has_gen=True)


def test_a_missing_or_broken_tokenizer_is_named(tmp_path: Path) -> None:
    with pytest.raises(CheckpointError, match="missing"):
        load_vocabulary(tmp_path)
    (tmp_path / "tokenizer.json").write_text("{}", encoding="utf-8")
    with pytest.raises(CheckpointError, match="cannot be read"):
        load_vocabulary(tmp_path)
