"""Fetches SeqGPT-560M into the models folder: from Hugging Face, else from ModelScope. Resumes what was begun.

Loads nothing; the files are complete and of the announced size, or the call fails.
"""

from __future__ import annotations

import sys
from collections.abc import Callable, Iterable
from pathlib import Path
from typing import TextIO

import httpx

from seqgpt_ui.errors import CheckpointError
from seqgpt_ui.worker.checkpoint import HUGGINGFACE_ID, MODELSCOPE_IDS, SEQGPT_NAME, missing_files

REQUIRED = ("config.json", "tokenizer.json", "pytorch_model.bin")
OPTIONAL = ("tokenizer_config.json", "special_tokens_map.json", "generation_config.json")
MODELSCOPE_URL = "https://modelscope.cn"
CHUNK_BYTES = 1 << 20
# Fetches one file into the folder; raises OSError or httpx.HTTPError, FileNotFoundError where the hub lacks the file.
Fetch = Callable[[str, Path], None]


def download_seqgpt(
    models_dir: Path, *, sources: Iterable[tuple[str, Fetch]] | None = None, log: TextIO | None = None
) -> Path:
    """Fetch SeqGPT-560M into ``models_dir``; the folder it lies in then. Files that are there are kept.

    Raises ``CheckpointError`` when no source has it, with what each of them said.
    """
    log = log or sys.stderr
    folder = models_dir / SEQGPT_NAME
    folder.mkdir(parents=True, exist_ok=True)
    failures = []
    for name, fetch in sources or default_sources(log):
        log.write(f"{SEQGPT_NAME} from {name} to {folder}\n")
        try:
            _fetch_all(fetch, folder)
        except (OSError, httpx.HTTPError) as error:
            failures.append(f"{name}: {type(error).__name__}: {error}".strip().splitlines()[0])
            log.write(f"  failed: {failures[-1]}\n")
            continue
        log.write(f"complete: {folder}\n")
        return folder
    raise CheckpointError(
        f"{SEQGPT_NAME} could not be downloaded ({'; '.join(failures)}). Check the network, set HF_ENDPOINT to a "
        f"mirror, or copy {', '.join(REQUIRED)} into {folder} by hand"
    )


def default_sources(log: TextIO) -> list[tuple[str, Fetch]]:
    """Hugging Face (or the mirror in ``HF_ENDPOINT``), then ModelScope under its two names."""
    sources = [("Hugging Face", huggingface_fetch())]
    for hub_id in MODELSCOPE_IDS:
        address = f"{MODELSCOPE_URL}/models/{hub_id}/resolve/master"
        sources.append((f"ModelScope ({hub_id})", http_fetch(address, log)))
    return sources


def huggingface_fetch(endpoint: str | None = None) -> Fetch:
    """Fetch through the hub's own client, which resumes and shows progress."""

    def fetch(name: str, folder: Path) -> None:
        from huggingface_hub import hf_hub_download
        from huggingface_hub.errors import EntryNotFoundError

        try:
            hf_hub_download(HUGGINGFACE_ID, name, local_dir=folder, endpoint=endpoint)
        except EntryNotFoundError as error:
            raise FileNotFoundError(f"{name} could not be found") from error

    return fetch


def http_fetch(address: str, log: TextIO, transport: httpx.BaseTransport | None = None) -> Fetch:
    """Fetch ``address/name`` by plain HTTP; a ``.part`` file of an earlier try is continued."""

    def fetch(name: str, folder: Path) -> None:
        part = folder / f"{name}.part"
        with httpx.Client(follow_redirects=True, timeout=httpx.Timeout(30.0), transport=transport) as client:
            begun = part.stat().st_size if part.exists() else 0
            headers = {"Accept-Encoding": "identity"} | ({"Range": f"bytes={begun}-"} if begun else {})
            with client.stream("GET", f"{address}/{name}", headers=headers) as response:
                _write(response, part, begun, log)
        part.replace(folder / name)

    return fetch


def _fetch_all(fetch: Fetch, folder: Path) -> None:
    for name in (*REQUIRED, *OPTIONAL):
        if (folder / name).exists():
            continue
        try:
            fetch(name, folder)
        except FileNotFoundError:
            if name in REQUIRED:
                raise
    if missing := missing_files(folder):
        raise FileNotFoundError(f"{', '.join(missing)} did not arrive")


def _write(response: httpx.Response, part: Path, begun: int, log: TextIO) -> None:
    """Append to or start ``part`` and compare its size with the announced one."""
    if response.status_code == 416:
        part.unlink()
        raise httpx.HTTPError(f"{part.name} did not fit what the server has; try again")
    if response.status_code == 404:
        raise FileNotFoundError(f"{part.stem} is not there")
    response.raise_for_status()
    is_resumed = response.status_code == 206
    size = begun if is_resumed else 0
    announced = response.headers.get("content-length")
    total = size + int(announced) if announced else None
    with part.open("ab" if is_resumed else "wb") as file:
        for chunk in response.iter_bytes(CHUNK_BYTES):
            file.write(chunk)
            size += len(chunk)
            log.write(f"\r  {part.stem}: {_progress(size, total)}")
    log.write("\n")
    if total is not None and size != total:
        raise httpx.HTTPError(f"{part.stem} has {size} of {total} bytes; run the command again to continue")


def _progress(size: int, total: int | None) -> str:
    return f"{size / 1e6:.1f} MB" + (f" of {total / 1e6:.1f} MB ({100 * size // max(total, 1)} %)" if total else "")
