"""The demo model that the project ships, loaded once."""

from __future__ import annotations

from pathlib import Path

import pytest

from seqgpt_ui.pipeline import Limits, Pipeline
from seqgpt_ui.prompt.templates import TemplateLibrary
from seqgpt_ui.settings import PROJECT_ROOT, Settings
from seqgpt_ui.worker.engine.core import EngineCore
from seqgpt_ui.worker.engine.loading import CheckpointFolder, load_core
from training.local_client import LocalClient

DEMO = PROJECT_ROOT / "models" / "seqgpt-mini"


@pytest.fixture(scope="session")
def demo() -> Path:
    assert (DEMO / "model.safetensors").exists(), f"{DEMO} is part of the project; this checkout lacks it"
    return DEMO


@pytest.fixture(scope="session")
def core(demo: Path) -> EngineCore:
    settings = Settings.from_environment({"SEQGPT_DTYPE": "float32"})
    return load_core(settings, CheckpointFolder(demo, "seqgpt-mini", is_demo=True))


@pytest.fixture(scope="session")
def pipeline(core: EngineCore) -> Pipeline:
    return Pipeline(LocalClient(core), TemplateLibrary.from_folder(), Limits())
