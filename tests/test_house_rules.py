"""The rules of the house that a machine can check."""

from __future__ import annotations

import ast
import re
from collections.abc import Iterator
from pathlib import Path

import pytest

from seqgpt_ui.settings import PROJECT_ROOT

MAX_FILE_LINES, MAX_FUNCTION_LINES = 300, 60
VAGUE_NAMES = {"utils", "util", "helpers", "helper", "common", "misc", "manager"}
UNFINISHED = re.compile(r"\b(TODO|FIXME|XXX|HACK)\b")
EMOJI = re.compile("[\U0001f300-\U0001faff\u2600-\u27bf]")
Function = ast.FunctionDef | ast.AsyncFunctionDef

PRODUCT = [PROJECT_ROOT / "app.py", *sorted((PROJECT_ROOT / "seqgpt_ui").rglob("*.py"))]
TRAINING = sorted((PROJECT_ROOT / "training").rglob("*.py"))
TESTS = sorted((PROJECT_ROOT / "tests").rglob("*.py"))


def short(path: Path) -> str:
    return str(path.relative_to(PROJECT_ROOT))


def lines(path: Path) -> list[str]:
    return path.read_text(encoding="utf-8").splitlines()


def tree(path: Path) -> ast.Module:
    return ast.parse(path.read_text(encoding="utf-8"))


def functions(path: Path) -> Iterator[Function]:
    return (node for node in ast.walk(tree(path)) if isinstance(node, Function))


def public_functions(node: ast.Module | ast.ClassDef) -> Iterator[Function]:
    """Functions and methods whose names are for others; those of private classes are not."""
    for child in node.body:
        if isinstance(child, ast.ClassDef) and not child.name.startswith("_"):
            yield from public_functions(child)
        elif isinstance(child, Function) and not child.name.startswith("_"):
            yield child


@pytest.mark.parametrize("path", [*PRODUCT, *TRAINING], ids=short)
def test_files_and_functions_stay_small(path: Path) -> None:
    assert len(lines(path)) <= MAX_FILE_LINES
    sizes = {f.name: (f.end_lineno or 0) - f.lineno + 1 for f in functions(path)}
    assert {name: size for name, size in sizes.items() if size > MAX_FUNCTION_LINES} == {}


@pytest.mark.parametrize("path", [*PRODUCT, *TRAINING, *TESTS], ids=short)
def test_names_say_what_is_inside(path: Path) -> None:
    assert VAGUE_NAMES.isdisjoint(part.lower() for part in (*path.parent.parts[-3:], path.stem))


@pytest.mark.parametrize("path", [*PRODUCT, *TRAINING], ids=short)
def test_modules_and_public_functions_say_what_they_are_for(path: Path) -> None:
    module = tree(path)
    if not module.body:
        return
    assert ast.get_docstring(module)
    assert [f"{f.name}:{f.lineno}" for f in public_functions(module) if not ast.get_docstring(f)] == []


@pytest.mark.parametrize("path", [*PRODUCT, *TRAINING], ids=short)
def test_everything_is_annotated(path: Path) -> None:
    """The type checker is strict about it too; this names the function at once."""
    bare = [f"{f.name}:{f.lineno}" for f in functions(path) if f.returns is None]
    assert bare == []


@pytest.mark.parametrize("path", [*PRODUCT, *TRAINING], ids=short)
def test_nothing_is_left_for_later(path: Path) -> None:
    assert UNFINISHED.findall(path.read_text(encoding="utf-8")) == []


@pytest.mark.parametrize("path", PRODUCT, ids=short)
def test_sources_are_plain_text(path: Path) -> None:
    assert EMOJI.findall(path.read_text(encoding="utf-8")) == []


@pytest.mark.parametrize("path", TESTS, ids=short)
def test_tests_neither_sleep_nor_measure(path: Path) -> None:
    """Waiting is bounded and for something; how long it took is for benchmarks."""
    calls = [ast.unparse(node.func) for node in ast.walk(tree(path)) if isinstance(node, ast.Call)]
    assert "time.sleep" not in calls


def test_there_is_at_least_as_much_test_as_product() -> None:
    assert sum(len(lines(path)) for path in TESTS) >= sum(len(lines(path)) for path in PRODUCT)


def test_requirements_are_pinned() -> None:
    for name in ("requirements.txt", "requirements-dev.txt"):
        wanted = [line for line in lines(PROJECT_ROOT / name) if line and not line.startswith(("#", "-r"))]
        assert [line for line in wanted if not re.fullmatch(r"[A-Za-z0-9_.-]+==[0-9][0-9A-Za-z.]*", line)] == []


@pytest.mark.parametrize("pin", ["torch==2.13.0", "pydantic==2.12.5", "mcp==1.30.0"])
def test_pins_that_others_depend_on(pin: str) -> None:
    assert pin in lines(PROJECT_ROOT / "requirements.txt")
