"""Golden files: compared by default, written anew with ``UPDATE_GOLDENS=1`` and then reviewed as a diff."""

from __future__ import annotations

import json
import os
from pathlib import Path
from typing import Any


def check_golden(path: Path, value: Any) -> None:
    """Compare ``value`` as JSON with the file, or write the file when asked to."""
    if os.environ.get("UPDATE_GOLDENS") == "1":
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_text(json.dumps(value, ensure_ascii=False, indent=1, sort_keys=True) + "\n", encoding="utf-8")
    assert path.is_file(), f"{path} is missing; write it with UPDATE_GOLDENS=1"
    assert json.loads(path.read_text(encoding="utf-8")) == value, f"{path.name} differs; UPDATE_GOLDENS=1 rewrites it"
