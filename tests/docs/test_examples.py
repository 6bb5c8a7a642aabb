"""The examples in README and docs/api.md run as they stand, against the running product."""

from __future__ import annotations

import json
import re
import subprocess
import sys
from collections.abc import Iterator
from pathlib import Path

import pytest

from seqgpt_ui.settings import PROJECT_ROOT, Settings, child_environment
from tests.web_server import running_app

pytestmark = pytest.mark.timeout(300)
DOCUMENTS = ("README.md", "README.zh.md", "docs/api.md")
ADDRESS = "http://127.0.0.1:7860"


def blocks(language: str) -> list[tuple[str, str]]:
    """Fenced code of one language, with the document it stands in."""
    found = []
    for name in DOCUMENTS:
        text = (PROJECT_ROOT / name).read_text(encoding="utf-8")
        found += [(name, code) for code in re.findall(rf"```{language}\n(.*?)```", text, re.DOTALL)]
    return found


CURLS = [code for code in blocks("bash") if "curl" in code[1]]
COMMANDS = [code for code in blocks("bash") if "python -m seqgpt_ui classify" in code[1]]
PROGRAMS = blocks("python")


@pytest.fixture(scope="module")
def server() -> Iterator[str]:
    with running_app() as url:
        yield url


def run(command: list[str], code: str, server: str, folder: Path) -> str:
    """Standard output of a program, which must succeed."""
    environ = child_environment(Settings(backend="fake", data_dir=folder / "d"))
    environ["PATH"] = f"{Path(sys.executable).parent}:{environ['PATH']}"
    done = subprocess.run(
        [*command, code.replace(ADDRESS, server)],
        capture_output=True,
        text=True,
        cwd=folder,
        env=environ | {"PYTHONPATH": str(PROJECT_ROOT), "PYTHONIOENCODING": "utf-8"},
        timeout=200,
    )
    assert done.returncode == 0, done.stderr
    return done.stdout


def test_there_are_examples_of_every_kind() -> None:
    assert len(CURLS) >= 7
    assert len(COMMANDS) == 2
    assert len(PROGRAMS) >= 3


@pytest.mark.parametrize(("document", "code"), CURLS)
def test_curl(document: str, code: str, server: str, tmp_path: Path) -> None:
    output = run(["bash", "-euo", "pipefail", "-c"], code, server, tmp_path)
    assert "error" not in output
    assert re.search(r'"(results|status|result)":|event: complete', output), output


@pytest.mark.parametrize(("document", "code"), PROGRAMS)
def test_python(document: str, code: str, server: str, tmp_path: Path) -> None:
    assert run([sys.executable, "-c"], code, server, tmp_path).strip()


@pytest.mark.parametrize(("document", "code"), COMMANDS)
def test_command_line(document: str, code: str, server: str, tmp_path: Path) -> None:
    (tmp_path / "texts.txt").write_text("王芳在杭州\n李雷在北京\n", encoding="utf-8")
    first, second, third = run(["bash", "-euo", "pipefail", "-c"], code, server, tmp_path).splitlines()
    assert re.match("财经|体育|科技", first)
    for line in (second, third):
        assert set(json.loads(line)["fields"]) == {"人名", "地点"}


@pytest.mark.parametrize("code", [code for _, code in blocks("json")])
def test_shown_answers_are_json(code: str) -> None:
    assert json.loads(code)


def test_documents_link_to_what_exists() -> None:
    for name in (*DOCUMENTS, "docs/architecture.md"):
        path = PROJECT_ROOT / name
        for target in re.findall(r"\]\((?!https?:)([^)#]+)\)", path.read_text(encoding="utf-8")):
            assert (path.parent / target).exists(), f"{name}: {target}"


def test_both_readmes_show_the_same_commands() -> None:
    english, chinese = (
        re.findall(r"```bash\n(.*?)```", (PROJECT_ROOT / name).read_text(encoding="utf-8"), re.DOTALL)
        for name in ("README.md", "README.zh.md")
    )
    without_comments = [[re.sub(r" +#.*", "", code) for code in document] for document in (english, chinese)]
    assert without_comments[0] == without_comments[1]
