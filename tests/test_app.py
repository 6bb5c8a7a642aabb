"""The web process as it is started: what it takes, what it says, how it ends."""

from __future__ import annotations

import socket
import sys
from pathlib import Path

import httpx
import pytest

import app as web
from seqgpt_ui.client import WorkerClient
from seqgpt_ui.errors import InvalidTemplate, SettingsError
from seqgpt_ui.processes import is_answering
from seqgpt_ui.settings import Settings
from tests.integration.processes import process
from tests.waiting import wait_until
from tests.web_server import free_port, running_app, stop


def test_taken_address_is_explained() -> None:
    with socket.create_server(("127.0.0.1", 0)) as other:
        port = other.getsockname()[1]
        with pytest.raises(SettingsError, match=f"cannot listen on 127.0.0.1:{port} .*SEQGPT_PORT"):
            web.take_address("127.0.0.1", port)


def test_foreign_address_is_explained() -> None:
    with pytest.raises(SettingsError, match=r"cannot listen on 203\.0\.113\.7"):
        web.take_address("203.0.113.7", free_port())


def test_unresolvable_address_is_explained() -> None:
    with pytest.raises(SettingsError, match=r"cannot listen on no\.such\.host\.invalid"):
        web.take_address("no.such.host.invalid", free_port())


def test_taken_address_listens_at_once() -> None:
    port = free_port()
    with web.take_address("127.0.0.1", port), socket.create_connection(("127.0.0.1", port), timeout=5):
        pass


def test_wrong_setting_stops_the_start(monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]) -> None:
    monkeypatch.setenv("SEQGPT_PORT", "many")
    assert web.main() == 1
    assert "SEQGPT_PORT" in capsys.readouterr().err


def test_wrong_template_stops_the_start(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    (tmp_path / "broken.v1.jinja").write_text("no front matter", encoding="utf-8")
    settings = Settings(templates_dir=tmp_path)
    with pytest.raises(InvalidTemplate, match=r"broken\.v1\.jinja"):
        web.create_web_app(settings, WorkerClient.from_settings(settings))


@pytest.mark.timeout(300)
def test_one_command_starts_everything_and_ends_it(tmp_path: Path) -> None:
    port = free_port()
    settings = Settings(port=port, backend="fake", data_dir=tmp_path / "d")
    with process((sys.executable, "app.py"), tmp_path / "log", settings) as child:
        url = f"http://127.0.0.1:{port}"
        wait_until(lambda: _answers(url + "/readyz"), timeout_s=120, what="readyz")
        answer = httpx.post(f"{url}/api/classify", json={"text": "a", "labels": "x，y"}, timeout=30).json()
        assert answer["results"][0]["labels"][0]["label"] in {"x", "y"}
        assert is_answering(settings)
        assert stop(child) == 0
    log = (tmp_path / "log").read_text(encoding="utf-8")
    assert f"http://127.0.0.1:{port}" in log
    assert "Traceback" not in log
    assert not _answers(url + "/healthz")
    assert not is_answering(settings)


@pytest.mark.timeout(300)
def test_second_start_on_the_same_port_says_why_it_cannot(tmp_path: Path) -> None:
    with running_app("/healthz", children=False) as url:
        settings = Settings(port=int(url.rpartition(":")[2]), backend="fake", data_dir=tmp_path / "d")
        with process((sys.executable, "app.py"), tmp_path / "log", settings) as child:
            assert child.wait(60) == 1
        assert "SEQGPT_PORT" in (tmp_path / "log").read_text(encoding="utf-8")


def _answers(url: str) -> bool:
    try:
        return httpx.get(url, timeout=10).status_code == 200
    except httpx.TransportError:
        return False
