"""One table: parsing, refusing, defaults, and what children inherit."""

from __future__ import annotations

from dataclasses import fields, replace
from pathlib import Path
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from seqgpt_ui.errors import SettingsError
from seqgpt_ui.settings import (
    MAX_SOCKET_PATH_BYTES,
    PROJECT_ROOT,
    Settings,
    child_environment,
    load_settings,
    settings_document,
)
from seqgpt_ui.settings_rows import env_name


def read(**environ: str) -> Settings:
    return Settings.from_environment(environ)


def test_an_empty_environment_gives_the_defaults() -> None:
    assert read() == Settings()
    assert (read().host, read().port, read().children) == ("127.0.0.1", 7860, True)


def test_other_programs_variables_are_left_alone() -> None:
    assert read(PATH="/bin", PORT="1", SEQGPTX="2") == Settings()


@pytest.mark.parametrize(
    ("name", "text", "field", "value"),
    [
        ("SEQGPT_PORT", "80", "port", 80),
        ("SEQGPT_PORT", " 80 ", "port", 80),
        ("SEQGPT_CHILDREN", "0", "children", False),
        ("SEQGPT_CHILDREN", "Yes", "children", True),
        ("SEQGPT_DRAIN_S", "1.5", "drain_s", 1.5),
        ("SEQGPT_CHECKPOINT", "/models/x", "checkpoint", "/models/x"),
        ("SEQGPT_MODELS_DIR", "/models", "models_dir", Path("/models")),
        ("SEQGPT_MODELS_DIR", "weights", "models_dir", PROJECT_ROOT / "weights"),
        ("SEQGPT_DATA_DIR", "~/seqgpt", "data_dir", Path.home() / "seqgpt"),
        ("SEQGPT_DEVICE", "cuda:1", "device", "cuda:1"),
        ("SEQGPT_QUANTIZATION", "nf4", "quantization", "nf4"),
        ("SEQGPT_WORKER_URLS", "http://a:1, https://b/ ,", "worker_urls", ("http://a:1", "https://b")),
        ("SEQGPT_SOCKET", "/run/s", "socket", Path("/run/s")),
        ("SUPERVISOR_ENABLED", "1", "supervised", True),
        ("MODELSCOPE_CACHE", "/cache", "modelscope_cache", Path("/cache")),
    ],
)
def test_values_are_read(name: str, text: str, field: str, value: Any) -> None:
    assert getattr(read(**{name: text}), field) == value


@pytest.mark.parametrize("name", [env_name(row) for row in fields(Settings)])
def test_an_empty_value_counts_as_not_set(name: str) -> None:
    assert read(**{name: ""}) == Settings()


@pytest.mark.parametrize(
    ("name", "text", "expectation"),
    [
        ("SEQGPT_PORT", "http", "a whole number from 1 to 65535"),
        ("SEQGPT_PORT", "0", "a whole number"),
        ("SEQGPT_PORT", "70000", "a whole number"),
        ("SEQGPT_PORT", "1.5", "a whole number"),
        ("SEQGPT_DRAIN_S", "nan", "a number from 0 to 600"),
        ("SEQGPT_DEADLINE_S", "-1", "a number"),
        ("SEQGPT_CHILDREN", "maybe", "`1` or `0`"),
        ("SEQGPT_BACKEND", "tensorflow", "`reference`"),
        ("SEQGPT_DEVICE", "gpu", "cuda"),
        ("SEQGPT_DEVICE", "cuda:x", "cuda"),
        ("SEQGPT_LOG_LEVEL", "INFO", "`info`"),
        ("SEQGPT_WORKER_URLS", "localhost:80", "http:// or https://"),
        ("SEQGPT_WORKER_URLS", "http://a,ftp://b", "http:// or https://"),
        ("SEQGPT_WORKER_URLS", "http://", "http:// or https://"),
    ],
)
def test_an_unreadable_value_stops_with_key_value_and_expectation(name: str, text: str, expectation: str) -> None:
    with pytest.raises(SettingsError) as caught:
        read(**{name: text})
    message = str(caught.value)
    assert name in message
    assert repr(text) in message
    assert expectation in message


@pytest.mark.parametrize(("name", "hint"), [("SEQGPT_PROT", "SEQGPT_PORT"), ("SEQGPT_ZZZZZZ", "docs/settings.md")])
def test_an_unknown_name_stops_with_a_hint(name: str, hint: str) -> None:
    with pytest.raises(SettingsError, match=hint):
        read(**{name: "1"})


def test_host_and_port_of_the_worker_go_together() -> None:
    assert read(SEQGPT_WORKER_HOST="127.0.0.1", SEQGPT_WORKER_PORT="81").worker_port == 81
    for name, value in (("SEQGPT_WORKER_HOST", "127.0.0.1"), ("SEQGPT_WORKER_PORT", "81")):
        with pytest.raises(SettingsError, match="go together"):
            read(**{name: value})


def test_the_socket_lies_in_the_data_folder_unless_it_is_named() -> None:
    assert Settings(data_dir=Path("/d")).socket_path == Path("/d/run/worker.sock")
    assert Settings(data_dir=Path("/d"), socket=Path("/s")).socket_path == Path("/s")
    assert replace(Settings(), data_dir=Path("/d")).socket_path == Path("/d/run/worker.sock")


def test_a_named_socket_that_is_too_long_is_refused() -> None:
    with pytest.raises(SettingsError, match="SEQGPT_SOCKET"):
        Settings(socket=Path("/" + "s" * MAX_SOCKET_PATH_BYTES))


@given(depth=st.integers(1, 300))
def test_a_deep_data_folder_still_has_a_socket(depth: int) -> None:
    settings = Settings(data_dir=Path("/" + "深" * depth))
    assert len(str(settings.socket_path).encode()) <= MAX_SOCKET_PATH_BYTES
    assert settings.socket_path == Settings(data_dir=settings.data_dir).socket_path


def test_deep_data_folders_do_not_share_a_socket() -> None:
    one, other = (Settings(data_dir=Path("/" + name * 200)).socket_path for name in "ab")
    assert one != other


def test_settings_cannot_be_changed() -> None:
    with pytest.raises(AttributeError):
        Settings().port = 1  # type: ignore[misc]


def test_the_process_environment_is_read(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    monkeypatch.setenv("SEQGPT_PORT", "81")
    assert load_settings() == Settings(port=81, data_dir=tmp_path / "data")


@pytest.mark.parametrize(
    "settings",
    [
        Settings(),
        Settings(port=81, children=False, drain_s=0.5, worker_urls=("http://a", "http://b"), log_level="error"),
        Settings(data_dir=Path("elsewhere"), socket=Path("/s"), checkpoint="x/y", modelscope_cache=Path("/m")),
    ],
)
def test_a_child_means_the_same_by_its_environment(settings: Settings, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("SEQGPT_PORT", "99")
    monkeypatch.setenv("OTHER", "kept")
    environ = child_environment(settings)
    assert environ["OTHER"] == "kept"
    assert Settings.from_environment(environ) == settings


def test_every_row_has_help_in_both_languages_and_a_reader() -> None:
    for row in fields(Settings):
        assert row.metadata["process"] in ("worker", "web", "all"), row.name
        assert row.metadata["en"], row.name
        assert any("\u4e00" <= letter <= "\u9fff" for letter in row.metadata["zh"]), row.name


def test_every_default_is_what_the_row_accepts() -> None:
    for row in fields(Settings):
        value = getattr(Settings(), row.name)
        if isinstance(value, int | float | str) and value not in ("", 0) and not isinstance(value, bool):
            assert getattr(read(**{env_name(row): str(value)}), row.name) == value


def test_the_document_names_every_setting() -> None:
    document = settings_document()
    assert all(f"`{env_name(row)}`" in document for row in fields(Settings))
    rows = [line for line in document.splitlines() if line.startswith("|")]
    assert len(rows) == len(fields(Settings)) + 2
    assert {row.replace(r"\|", "").count("|") for row in rows} == {7}
