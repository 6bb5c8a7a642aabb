"""Who may import whom: the page never loads a model, the worker never knows a page, one module reads settings."""

from __future__ import annotations

import ast
import subprocess
import sys
from collections.abc import Iterator
from pathlib import Path

import pytest

from seqgpt_ui.settings import PROJECT_ROOT

PACKAGE = PROJECT_ROOT / "seqgpt_ui"
WORKER_SIDE = ("worker", "backends", "decoding")
HEAVY = ("torch", "transformers", "onnxruntime", "bitsandbytes", "accelerate")
# The command line may fetch a checkpoint; it is neither page nor worker.
NEITHER_SIDE = ("cli.py",)
PAGES = (
    "gradio",
    *(f"seqgpt_ui.{name}" for name in ("ui", "api", "tasks", "prompt", "pipeline", "dispatch", "client")),
)


def modules(*folders: str) -> Iterator[Path]:
    for folder in folders:
        yield from sorted((PACKAGE / folder).rglob("*.py"))


def web_modules() -> Iterator[Path]:
    yield PROJECT_ROOT / "app.py"
    for path in sorted(PACKAGE.rglob("*.py")):
        inside = path.relative_to(PACKAGE)
        if inside.parts[0] not in WORKER_SIDE and str(inside) not in NEITHER_SIDE:
            yield path


def imported(path: Path) -> set[str]:
    """Full names of everything that a file imports, inside functions too; not what is for type checkers alone."""
    names: set[str] = set()
    for node in _running_nodes(ast.parse(path.read_text(encoding="utf-8"))):
        if isinstance(node, ast.Import):
            names.update(alias.name for alias in node.names)
        elif isinstance(node, ast.ImportFrom):
            assert node.level == 0, f"{path}: imports are absolute"
            names.add(node.module or "")
            names.update(f"{node.module}.{alias.name}" for alias in node.names)
    return names


def _running_nodes(node: ast.AST) -> Iterator[ast.AST]:
    for child in ast.iter_child_nodes(node):
        if isinstance(child, ast.If) and "TYPE_CHECKING" in ast.unparse(child.test):
            continue
        yield child
        yield from _running_nodes(child)


def forbidden(path: Path, roots: tuple[str, ...]) -> list[str]:
    return sorted(n for n in imported(path) if any(n == root or n.startswith(f"{root}.") for root in roots))


def short(path: Path) -> str:
    return str(path.relative_to(PROJECT_ROOT))


@pytest.mark.parametrize("path", list(web_modules()), ids=short)
def test_the_web_side_loads_no_model(path: Path) -> None:
    assert forbidden(path, (*HEAVY, *(f"seqgpt_ui.{name}" for name in WORKER_SIDE))) == []


@pytest.mark.parametrize("path", list(modules(*WORKER_SIDE)), ids=short)
def test_the_worker_side_knows_no_page(path: Path) -> None:
    assert forbidden(path, PAGES) == []


@pytest.mark.parametrize("path", list(modules("worker/engine", "backends", "decoding")), ids=short)
def test_the_engine_knows_no_http(path: Path) -> None:
    assert forbidden(path, ("fastapi", "starlette", "uvicorn", "httpx")) == []


@pytest.mark.parametrize("path", list(modules("decoding")), ids=short)
def test_guides_need_no_weights(path: Path) -> None:
    assert forbidden(path, HEAVY) == []


@pytest.mark.parametrize("path", list(modules("tasks", "prompt")), ids=short)
def test_tasks_and_prompts_do_no_input_or_output(path: Path) -> None:
    assert forbidden(path, ("httpx", "socket", "subprocess", "asyncio", "fastapi", "gradio")) == []


@pytest.mark.parametrize("path", [PROJECT_ROOT / "app.py", *sorted(PACKAGE.rglob("*.py"))], ids=short)
def test_only_settings_read_the_environment(path: Path) -> None:
    if path.name == "settings.py":
        return
    tree = ast.parse(path.read_text(encoding="utf-8"))
    written = {
        id(node.value) for node in ast.walk(tree) if isinstance(node, ast.Subscript) and isinstance(node.ctx, ast.Store)
    }
    reads = [
        node.lineno
        for node in ast.walk(tree)
        if isinstance(node, ast.Attribute) and node.attr in ("environ", "getenv") and id(node) not in written
    ]
    assert reads == []


def loaded_by(*names: str) -> set[str]:
    """Top-level packages that are loaded once ``names`` are imported."""
    code = f"import sys, {', '.join(names)}; print(*sorted({{name.partition('.')[0] for name in sys.modules}}))"
    result = subprocess.run(
        (sys.executable, "-W", "ignore", "-c", code), cwd=PROJECT_ROOT, capture_output=True, text=True, check=True
    )
    return set(result.stdout.split())


def test_importing_the_web_process_loads_no_model_library() -> None:
    assert loaded_by("app", "seqgpt_ui.ui.blocks").isdisjoint(HEAVY)


def test_importing_the_worker_loads_neither_pages_nor_weights() -> None:
    assert loaded_by("seqgpt_ui.worker.__main__").isdisjoint(("gradio", *HEAVY))


def test_the_client_is_light() -> None:
    assert loaded_by("seqgpt_ui.client").isdisjoint(("gradio", "fastapi", "uvicorn", "tokenizers", *HEAVY))


def test_downloading_needs_no_model_library() -> None:
    assert loaded_by("seqgpt_ui.worker.download").isdisjoint(HEAVY)
