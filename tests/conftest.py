"""Every test starts without settings from outside and writes below its own temporary folder."""

from __future__ import annotations

import os
from pathlib import Path

import pytest


@pytest.fixture(autouse=True)
def _clean_environment(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    for name in list(os.environ):
        if name.startswith("SEQGPT_") or name == "SUPERVISOR_ENABLED":
            monkeypatch.delenv(name)
    monkeypatch.setenv("SEQGPT_DATA_DIR", str(tmp_path / "data"))
    monkeypatch.setenv("HF_HUB_OFFLINE", "1")
    monkeypatch.setenv("GRADIO_ANALYTICS_ENABLED", "False")


def pytest_addoption(parser: pytest.Parser) -> None:
    """``--rows FOLDER``: real texts in the evaluation schema for the tests that compare doors."""
    parser.addoption("--rows", default="", help="folder of .jsonl files to take texts from")
