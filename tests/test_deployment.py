"""supervisord.conf, Dockerfile and Makefile agree with the settings and with each other."""

from __future__ import annotations

import configparser
import re
import shutil
import subprocess
from dataclasses import fields
from pathlib import Path

import pytest

from seqgpt_ui.settings import PROJECT_ROOT, Settings
from seqgpt_ui.settings_rows import env_name
from seqgpt_ui.worker.engine.bridge import STEP_S

SETTINGS = {env_name(row) for row in fields(Settings)}
DOCKERFILE = (PROJECT_ROOT / "Dockerfile").read_text(encoding="utf-8")
MAKEFILE = (PROJECT_ROOT / "Makefile").read_text(encoding="utf-8")
CONF = (PROJECT_ROOT / "supervisord.conf").read_text(encoding="utf-8")


def conf() -> configparser.RawConfigParser:
    parser = configparser.RawConfigParser(inline_comment_prefixes=(" ;",))
    parser.read_string(CONF)
    return parser


def instructions(name: str) -> list[str]:
    """The Dockerfile's lines that begin so, continued lines joined."""
    joined = DOCKERFILE.replace("\\\n", " ")
    return [line.split(maxsplit=1)[1] for line in joined.splitlines() if line.startswith(f"{name} ")]


def test_every_setting_that_is_named_anywhere_exists() -> None:
    for text in (DOCKERFILE, MAKEFILE, CONF):
        assert set(re.findall(r"\bSEQGPT_[A-Z_]+\b", text)) <= SETTINGS


@pytest.mark.parametrize("program", ["worker", "web"])
def test_programs_come_back_and_leave_no_children(program: str) -> None:
    section = conf()[f"program:{program}"]
    for key in ("autostart", "autorestart", "stopasgroup", "killasgroup", "redirect_stderr"):
        assert section[key] == "true", key
    assert (section["stdout_logfile"], section["stdout_logfile_maxbytes"]) == ("/dev/fd/1", "0")
    assert int(section["startsecs"]) > 0
    assert int(section["startretries"]) > 3


def test_the_worker_starts_first_and_has_time_to_drain() -> None:
    parser = conf()
    assert int(parser["program:worker"]["priority"]) < int(parser["program:web"]["priority"])
    assert int(parser["program:worker"]["stopwaitsecs"]) > Settings().drain_s + STEP_S + 5


def test_the_page_starts_nothing_under_supervisord() -> None:
    assert 'SEQGPT_CHILDREN="0"' in conf()["program:web"]["environment"]


def test_the_allocator_is_set_for_all() -> None:
    environment = conf()["supervisord"]["environment"]
    assert "max_split_size_mb" in environment
    assert "garbage_collection_threshold" in environment
    assert 'MALLOC_ARENA_MAX="2"' in environment
    for ready_made in ("taskset -c", "CUDA_VISIBLE_DEVICES", "OMP_NUM_THREADS"):
        assert re.search(rf"^;.*{ready_made}", CONF, re.MULTILINE)


def test_the_image_runs_as_nobody_special() -> None:
    (user,) = instructions("USER")
    assert user == "seqgpt"
    assert DOCKERFILE.index("USER seqgpt") > DOCKERFILE.rindex("\nCOPY")
    assert "/root" not in DOCKERFILE


def test_the_image_installs_torch_first_by_its_pin() -> None:
    install = next(line for line in instructions("RUN") if "requirements.txt" in line)
    assert install.index("^torch==") < install.index("-r requirements.txt")


def test_the_image_says_where_it_listens_and_what_to_keep() -> None:
    assert instructions("EXPOSE") == [str(Settings().port)]
    assert any("SEQGPT_HOST=0.0.0.0" in line for line in instructions("ENV"))
    assert instructions("VOLUME") == ['["/app/data", "/models"]']
    (check,) = instructions("HEALTHCHECK")
    assert f"127.0.0.1:{Settings().port}/healthz" in check
    assert instructions("CMD") == ['["supervisord", "-c", "supervisord.conf"]']


def ignored_by_docker() -> list[str]:
    return (PROJECT_ROOT / ".dockerignore").read_text(encoding="utf-8").split()


def test_the_image_gets_what_it_needs_and_no_more() -> None:
    ignored = ignored_by_docker()
    assert "!models/seqgpt-mini" in ignored
    for needed in ("app.py", "seqgpt_ui", "templates", "supervisord.conf", "requirements.txt"):
        assert needed not in ignored
        assert (PROJECT_ROOT / needed).exists()
    assert {"data", "tests", ".git", ".venv"} <= set(ignored)


def test_the_folder_of_supervisors_socket_is_part_of_the_project() -> None:
    assert (PROJECT_ROOT / "data" / "run" / ".gitkeep").exists()


@pytest.mark.parametrize("target", ["install", "run", "supervise", "lint", "test", "clean"])
def test_make_knows_its_targets(target: str) -> None:
    make = shutil.which("make")
    if make is None:
        pytest.skip("make is not installed")
    subprocess.run((make, "-n", target), cwd=PROJECT_ROOT, check=True, capture_output=True)


def test_make_test_is_what_ci_runs() -> None:
    script = PROJECT_ROOT / ".ci" / "run"
    assert script.read_text(encoding="utf-8").splitlines()[-1] == "make test"
    assert "set -euo pipefail" in script.read_text(encoding="utf-8")
    assert script.stat().st_mode & 0o111
    assert re.search(r"^test:.*\n\t.*-m pytest", MAKEFILE, re.MULTILINE)


def test_without_root_make_names_the_missing_packages(tmp_path: Path) -> None:
    """A machine without Chromium whose user is not root, played by two scripts in front of the real tools."""
    for name, body in (("id", "echo 1000"), ("chromium", "")):
        script = tmp_path / name
        script.write_text(f"#!/bin/sh\n{body}\n")
        script.chmod(0o755)
    (tmp_path / "chromium").unlink()
    for tool in ("make", "sh", "grep", "command"):
        if found := shutil.which(tool):
            (tmp_path / tool).symlink_to(found)
    result = subprocess.run(
        (str(tmp_path / "make"), "system-packages"),
        cwd=PROJECT_ROOT,
        env={"PATH": str(tmp_path), "PYTHON": "python3"},
        capture_output=True,
        text=True,
        check=False,
    )
    assert result.returncode != 0
    assert "apt-get install chromium" in result.stderr
