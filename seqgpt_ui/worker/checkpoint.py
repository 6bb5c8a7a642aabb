"""Finds the checkpoint that answers: what ``SEQGPT_CHECKPOINT`` names, or the best that is on this disk.

Looks at folders and file names only; nothing is loaded and nothing fetched here.
"""

from __future__ import annotations

import json
import re
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path

from seqgpt_ui.errors import CheckpointError
from seqgpt_ui.settings import PROJECT_ROOT, Settings

SEQGPT_NAME = "SeqGPT-560M"
# Model ids on the two hubs, from the README of SeqGPT and its page on ModelScope.
HUGGINGFACE_ID = "DAMO-NLP/SeqGPT-560M"
MODELSCOPE_IDS = ("iic/nlp_seqgpt-560m", "damo/nlp_seqgpt-560m")
DEMO_NAME = "seqgpt-mini"
CONFIG_FILES = ("config.json", "tokenizer.json")
WEIGHT_FILES = ("model.safetensors", "pytorch_model.bin")
HOW_TO_GET = f"`python -m seqgpt_ui download` fetches {SEQGPT_NAME}"
_HUB_ID = re.compile(r"[\w.-]+/[\w.-]+")


@dataclass(frozen=True, slots=True)
class Checkpoint:
    """A complete checkpoint on this disk, and why it was taken."""

    path: Path
    name: str
    is_demo: bool
    reason: str


def resolve_checkpoint(settings: Settings, *, hub_cache: Path | None = None) -> Checkpoint:
    """Find what ``settings.checkpoint`` names. ``hub_cache`` None means Hugging Face's own place.

    Raises ``CheckpointError`` saying what is missing and what to do.
    """
    needs_weights = settings.backend != "fake"
    if settings.checkpoint == "auto":
        return _choose(settings, hub_cache, needs_weights)
    folder, name = _named(settings, hub_cache)
    missing = missing_files(folder, needs_weights=needs_weights)
    if missing:
        raise CheckpointError(f"SEQGPT_CHECKPOINT: {folder} is incomplete, it lacks {', '.join(missing)}")
    return Checkpoint(folder, name, _is_demo(settings, folder), "named by SEQGPT_CHECKPOINT")


def missing_files(folder: Path, *, needs_weights: bool = True) -> list[str]:
    """The files that a checkpoint needs and ``folder`` lacks; a backend without weights needs the tokenizer alone."""
    needed = CONFIG_FILES if needs_weights else CONFIG_FILES[1:]
    missing = [name for name in needed if not (folder / name).is_file()]
    if needs_weights and not any((folder / name).is_file() for name in WEIGHT_FILES):
        missing += _missing_parts(folder)
    return missing


def _missing_parts(folder: Path) -> list[str]:
    """Weights may come in several files, listed by an index (transformers' sharded layout)."""
    for name in WEIGHT_FILES:
        index = folder / f"{name}.index.json"
        if index.is_file():
            try:
                parts = set(json.loads(index.read_text(encoding="utf-8"))["weight_map"].values())
            except (ValueError, KeyError, AttributeError):
                return [f"a readable {index.name}"]
            return sorted(part for part in parts if not (folder / part).is_file())
    return [" or ".join(WEIGHT_FILES)]


def _choose(settings: Settings, hub_cache: Path | None, needs_weights: bool) -> Checkpoint:
    for folder in _seqgpt_folders(settings, hub_cache):
        if not missing_files(folder, needs_weights=needs_weights):
            return Checkpoint(folder, SEQGPT_NAME, False, f"{SEQGPT_NAME} was found on this disk")
    demo = _demo_folder(settings)
    missing = missing_files(demo, needs_weights=needs_weights)
    if missing:
        raise CheckpointError(
            f"no checkpoint: no {SEQGPT_NAME} on this disk, and the demo model in {demo} lacks {', '.join(missing)}; "
            f"{HOW_TO_GET}, or set SEQGPT_CHECKPOINT to a folder"
        )
    reason = f"no {SEQGPT_NAME} on this disk, so the demo model answers; {HOW_TO_GET}"
    return Checkpoint(demo, DEMO_NAME, True, reason)


def _named(settings: Settings, hub_cache: Path | None) -> tuple[Path, str]:
    """Folder and name behind a path or a hub id."""
    wanted = settings.checkpoint
    folder = PROJECT_ROOT / Path(wanted).expanduser()
    if folder.is_dir():
        return folder, folder.name
    if _HUB_ID.fullmatch(wanted):
        for candidate in _hub_folders(settings, wanted, hub_cache):
            if candidate.is_dir():
                return candidate, wanted
    raise CheckpointError(
        f"SEQGPT_CHECKPOINT={wanted!r} is neither a folder nor a model that was downloaded to this disk; "
        f"{HOW_TO_GET}, `auto` takes what is there"
    )


def _seqgpt_folders(settings: Settings, hub_cache: Path | None) -> Iterator[Path]:
    yield settings.models_dir / SEQGPT_NAME
    for hub_id in (HUGGINGFACE_ID, *MODELSCOPE_IDS):
        yield from _hub_folders(settings, hub_id, hub_cache)


def _hub_folders(settings: Settings, hub_id: str, hub_cache: Path | None) -> Iterator[Path]:
    """Where a model of this id may lie: our own folder, then the caches of the two hubs' clients."""
    yield settings.models_dir / hub_id
    yield settings.models_dir / hub_id.split("/")[1]
    yield from _huggingface_snapshots(hub_id, hub_cache or _huggingface_cache())
    # ModelScope's client writes a dot of the id as three underscores; its folders moved twice.
    own_id = hub_id.replace(".", "___")
    for part in ("hub/models", "models", "hub", ""):
        yield settings.modelscope_cache / part / own_id


def _huggingface_cache() -> Path:
    # Imported late: the library brings a whole HTTP client.
    from huggingface_hub.constants import HF_HUB_CACHE

    return Path(HF_HUB_CACHE)


def _huggingface_snapshots(hub_id: str, cache: Path) -> Iterator[Path]:
    """Snapshots of a repository in the hub's cache, the one that ``main`` pointed to first."""
    repository = cache / f"models--{hub_id.replace('/', '--')}"
    reference = repository / "refs" / "main"
    if reference.is_file():
        yield repository / "snapshots" / reference.read_text(encoding="utf-8").strip()
    yield from sorted(repository.glob("snapshots/*"))


def _demo_folder(settings: Settings) -> Path:
    own = settings.models_dir / DEMO_NAME
    return own if own.is_dir() else PROJECT_ROOT / "models" / DEMO_NAME


def _is_demo(settings: Settings, folder: Path) -> bool:
    return folder.resolve() == _demo_folder(settings).resolve()
