"""Which folder answers, and what is said when none does."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest

from seqgpt_ui.errors import CheckpointError
from seqgpt_ui.settings import Settings
from seqgpt_ui.worker.checkpoint import Checkpoint, missing_files, resolve_checkpoint

WEIGHTS = "pytorch_model.bin"


def write(folder: Path, *names: str) -> Path:
    """A checkpoint of empty files."""
    folder.mkdir(parents=True, exist_ok=True)
    for name in names or ("config.json", "tokenizer.json", WEIGHTS):
        (folder / name).write_text("")
    return folder


@pytest.fixture
def models(tmp_path: Path) -> Path:
    """A models folder with the demo model in it."""
    write(tmp_path / "models" / "seqgpt-mini", "config.json", "tokenizer.json", "model.safetensors")
    return tmp_path / "models"


def resolve(models: Path, checkpoint: str = "auto", **fields: Any) -> Checkpoint:
    root = models.parent
    settings = Settings(checkpoint=checkpoint, models_dir=models, modelscope_cache=root / "modelscope", **fields)
    return resolve_checkpoint(settings, hub_cache=root / "hub")


def test_auto_takes_the_demo_model_and_says_how_to_get_the_other(models: Path) -> None:
    found = resolve(models)
    assert found.path == models / "seqgpt-mini"
    assert (found.name, found.is_demo) == ("seqgpt-mini", True)
    assert "python -m seqgpt_ui download" in found.reason


@pytest.mark.parametrize(
    "place",
    [
        "models/SeqGPT-560M",
        "models/DAMO-NLP/SeqGPT-560M",
        "models/nlp_seqgpt-560m",
        "hub/models--DAMO-NLP--SeqGPT-560M/snapshots/0123abc",
        "modelscope/hub/models/iic/nlp_seqgpt-560m",
        "modelscope/hub/damo/nlp_seqgpt-560m",
        "modelscope/models/iic/nlp_seqgpt-560m",
        "modelscope/iic/nlp_seqgpt-560m",
    ],
)
def test_auto_prefers_seqgpt_wherever_it_lies(models: Path, place: str) -> None:
    folder = write(models.parent / place)
    found = resolve(models)
    assert (found.path, found.name, found.is_demo) == (folder, "SeqGPT-560M", False)
    assert "found" in found.reason


@pytest.mark.parametrize("missing", ["config.json", "tokenizer.json", WEIGHTS])
def test_auto_passes_over_an_incomplete_download(models: Path, missing: str) -> None:
    folder = write(models / "SeqGPT-560M")
    (folder / missing).unlink()
    assert resolve(models).is_demo


def test_the_snapshot_that_main_names_comes_first(models: Path) -> None:
    repository = models.parent / "hub" / "models--DAMO-NLP--SeqGPT-560M"
    write(repository / "snapshots" / "aaa")
    newest = write(repository / "snapshots" / "bbb")
    (repository / "refs").mkdir()
    (repository / "refs" / "main").write_text("bbb\n")
    assert resolve(models).path == newest


def test_without_any_checkpoint_the_error_says_what_to_do(tmp_path: Path, models: Path) -> None:
    (models / "seqgpt-mini" / "model.safetensors").unlink()
    with pytest.raises(CheckpointError) as caught:
        resolve(models)
    message = str(caught.value)
    assert "model.safetensors" in message
    assert "download" in message
    assert "SEQGPT_CHECKPOINT" in message


def test_a_folder_can_be_named(models: Path, tmp_path: Path) -> None:
    folder = write(tmp_path / "own-model")
    found = resolve(models, str(folder))
    assert (found.path, found.name, found.is_demo) == (folder, "own-model", False)


def test_the_demo_model_named_by_its_folder_stays_the_demo_model(models: Path) -> None:
    assert resolve(models, str(models / "seqgpt-mini")).is_demo


def test_a_named_folder_must_be_complete(models: Path, tmp_path: Path) -> None:
    folder = write(tmp_path / "own-model", "config.json")
    with pytest.raises(CheckpointError, match=r"tokenizer\.json, model\.safetensors or pytorch_model\.bin"):
        resolve(models, str(folder))


def test_a_hub_id_is_found_in_the_caches(models: Path) -> None:
    folder = write(models.parent / "hub" / "models--some--model.v2" / "snapshots" / "1")
    found = resolve(models, "some/model.v2")
    assert (found.path, found.name, found.is_demo) == (folder, "some/model.v2", False)


def test_modelscope_writes_dots_in_its_own_way(models: Path) -> None:
    folder = write(models.parent / "modelscope" / "hub" / "models" / "some" / "model___v2")
    assert resolve(models, "some/model.v2").path == folder


@pytest.mark.parametrize("checkpoint", ["some/model", "/nowhere/at/all", "nonsense", "../x/y/z"])
def test_what_is_not_on_this_disk_is_not_fetched(models: Path, checkpoint: str) -> None:
    with pytest.raises(CheckpointError, match="download"):
        resolve(models, checkpoint)


def test_a_backend_without_weights_needs_the_tokenizer_alone(models: Path, tmp_path: Path) -> None:
    folder = write(tmp_path / "tokens", "tokenizer.json")
    assert resolve(models, str(folder), backend="fake").path == folder
    with pytest.raises(CheckpointError):
        resolve(models, str(folder))


def test_weights_in_parts_must_all_be_there(tmp_path: Path) -> None:
    folder = write(tmp_path, "config.json", "tokenizer.json", "one.safetensors")
    index = folder / "model.safetensors.index.json"
    index.write_text(json.dumps({"weight_map": {"a": "one.safetensors", "b": "two.safetensors"}}))
    assert missing_files(folder) == ["two.safetensors"]
    write(folder, "two.safetensors")
    assert missing_files(folder) == []


@pytest.mark.parametrize("content", ["", "{}", '{"weight_map": []}'])
def test_an_unreadable_index_is_named(tmp_path: Path, content: str) -> None:
    folder = write(tmp_path, "config.json", "tokenizer.json")
    (folder / "pytorch_model.bin.index.json").write_text(content)
    assert missing_files(folder) == ["a readable pytorch_model.bin.index.json"]
