"""Fetching: order of sources, resuming, sizes, and what is said without a network."""

from __future__ import annotations

import functools
import hashlib
import io
import threading
from collections.abc import Iterator
from contextlib import contextmanager
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from pathlib import Path

import httpx
import pytest

from seqgpt_ui.errors import CheckpointError
from seqgpt_ui.worker.download import (
    OPTIONAL,
    REQUIRED,
    Fetch,
    default_sources,
    download_seqgpt,
    http_fetch,
    huggingface_fetch,
)

FILES = {name: name.encode() * 1000 for name in (*REQUIRED, *OPTIONAL)}
ADDRESS = "http://hub/models/x/resolve/master"


def fetching(fetched: list[str], lacking: tuple[str, ...] = ()) -> Fetch:
    """A source in memory."""

    def fetch(name: str, folder: Path) -> None:
        fetched.append(name)
        if name in lacking:
            raise FileNotFoundError(name)
        (folder / name).write_bytes(FILES[name])

    return fetch


def failing(name: str, folder: Path) -> None:
    raise httpx.ConnectError("no route to host")


def test_everything_is_fetched_into_its_folder(tmp_path: Path) -> None:
    fetched: list[str] = []
    log = io.StringIO()
    folder = download_seqgpt(tmp_path, sources=[("memory", fetching(fetched))], log=log)
    assert folder == tmp_path / "SeqGPT-560M"
    assert {path.name: path.read_bytes() for path in folder.iterdir()} == FILES
    assert fetched == list(FILES)
    assert "memory" in log.getvalue()
    assert f"complete: {folder}" in log.getvalue()


def test_files_that_are_there_are_kept(tmp_path: Path) -> None:
    folder = tmp_path / "SeqGPT-560M"
    folder.mkdir()
    (folder / "config.json").write_text("mine")
    fetched: list[str] = []
    download_seqgpt(tmp_path, sources=[("memory", fetching(fetched))], log=io.StringIO())
    assert "config.json" not in fetched
    assert (folder / "config.json").read_text() == "mine"


def test_optional_files_may_be_missing(tmp_path: Path) -> None:
    download_seqgpt(tmp_path, sources=[("memory", fetching([], lacking=OPTIONAL))], log=io.StringIO())


def test_the_next_source_is_tried(tmp_path: Path) -> None:
    log = io.StringIO()
    sources = [("first", failing), ("second", fetching([], ("pytorch_model.bin",))), ("third", fetching([]))]
    download_seqgpt(tmp_path, sources=sources, log=log)
    assert "failed: first: ConnectError: no route to host" in log.getvalue()
    assert "failed: second" in log.getvalue()


def test_without_a_network_the_error_names_the_ways_out(tmp_path: Path) -> None:
    with pytest.raises(CheckpointError) as caught:
        download_seqgpt(tmp_path, sources=[("one", failing), ("two", failing)], log=io.StringIO())
    message = str(caught.value)
    assert "one: ConnectError" in message
    assert "two: ConnectError" in message
    assert "HF_ENDPOINT" in message
    assert "pytorch_model.bin" in message
    assert str(tmp_path) in message


def test_the_sources_are_hugging_face_then_modelscope() -> None:
    assert [name for name, _ in default_sources(io.StringIO())] == [
        "Hugging Face",
        "ModelScope (iic/nlp_seqgpt-560m)",
        "ModelScope (damo/nlp_seqgpt-560m)",
    ]


def serving_files(request: httpx.Request) -> httpx.Response:
    """A file server that knows ranges."""
    content = FILES.get(request.url.path.rsplit("/", 1)[1])
    if content is None:
        return httpx.Response(404)
    if "range" not in request.headers:
        return httpx.Response(200, content=content)
    begin = int(request.headers["range"].removeprefix("bytes=").removesuffix("-"))
    return httpx.Response(206, content=content[begin:]) if begin < len(content) else httpx.Response(416)


def plain(handler: object = serving_files, log: io.StringIO | None = None) -> Fetch:
    return http_fetch(ADDRESS, log or io.StringIO(), httpx.MockTransport(handler))  # type: ignore[arg-type]


def test_plain_http_fetches_with_progress(tmp_path: Path) -> None:
    log = io.StringIO()
    plain(log=log)("config.json", tmp_path)
    assert (tmp_path / "config.json").read_bytes() == FILES["config.json"]
    assert "config.json: 0.0 MB of 0.0 MB (100 %)" in log.getvalue()
    assert not list(tmp_path.glob("*.part"))


def test_a_broken_download_is_continued(tmp_path: Path) -> None:
    (tmp_path / "config.json.part").write_bytes(FILES["config.json"][:4000])
    asked: list[str | None] = []

    def handler(request: httpx.Request) -> httpx.Response:
        asked.append(request.headers.get("range"))
        return serving_files(request)

    plain(handler)("config.json", tmp_path)
    assert asked == ["bytes=4000-"]
    assert (tmp_path / "config.json").read_bytes() == FILES["config.json"]


def test_a_server_without_ranges_starts_over(tmp_path: Path) -> None:
    (tmp_path / "config.json.part").write_bytes(b"something else")
    plain(lambda request: httpx.Response(200, content=FILES["config.json"]))("config.json", tmp_path)
    assert (tmp_path / "config.json").read_bytes() == FILES["config.json"]


def test_a_part_that_does_not_fit_is_dropped(tmp_path: Path) -> None:
    part = tmp_path / "config.json.part"
    part.write_bytes(b"x" * 100_000)
    with pytest.raises(httpx.HTTPError, match="try again"):
        plain()("config.json", tmp_path)
    assert not part.exists()


def test_a_file_that_is_too_short_stays_a_part(tmp_path: Path) -> None:
    def handler(_: httpx.Request) -> httpx.Response:
        return httpx.Response(200, headers={"content-length": "100"}, stream=httpx.ByteStream(b"only this"))

    with pytest.raises(httpx.HTTPError, match="9 of 100 bytes"):
        plain(handler)("config.json", tmp_path)
    assert (tmp_path / "config.json.part").read_bytes() == b"only this"
    assert not (tmp_path / "config.json").exists()


def test_a_missing_file_and_a_refusal_are_told_apart(tmp_path: Path) -> None:
    with pytest.raises(FileNotFoundError):
        plain()("unknown.json", tmp_path)
    with pytest.raises(httpx.HTTPStatusError):
        plain(lambda request: httpx.Response(403, request=request))("config.json", tmp_path)


class HubHandler(BaseHTTPRequestHandler):
    """As much of the hub as its client asks for."""

    def do_HEAD(self) -> None:
        self._answer(with_body=False)

    def do_GET(self) -> None:
        self._answer(with_body=True)

    def _answer(self, *, with_body: bool) -> None:
        content = FILES.get(self.path.rsplit("/", 1)[1])
        if content is None:
            self.send_response(404)
            self.send_header("X-Error-Code", "EntryNotFound")
            self.send_header("Content-Length", "0")
            self.end_headers()
            return
        self.send_response(200)
        self.send_header("Content-Length", str(len(content)))
        self.send_header("ETag", f'"{hashlib.sha256(content).hexdigest()}"')
        self.send_header("X-Repo-Commit", "0" * 40)
        self.end_headers()
        if with_body:
            self.wfile.write(content)

    def log_message(self, format: str, *args: object) -> None:  # noqa: A002 - the base class names it so
        """Say nothing."""


@contextmanager
def local_hub() -> Iterator[str]:
    with ThreadingHTTPServer(("127.0.0.1", 0), HubHandler) as server:
        thread = threading.Thread(target=server.serve_forever, kwargs={"poll_interval": 0.01})
        thread.start()
        try:
            yield f"http://127.0.0.1:{server.server_port}"
        finally:
            server.shutdown()
            thread.join(10)


def test_the_hubs_own_client_is_used_as_it_is(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("huggingface_hub.constants.HF_HUB_OFFLINE", False)
    with local_hub() as endpoint:
        fetch = functools.partial(huggingface_fetch(endpoint))
        fetch("config.json", tmp_path)
        assert (tmp_path / "config.json").read_bytes() == FILES["config.json"]
        with pytest.raises(FileNotFoundError):
            fetch("unknown.json", tmp_path)


def test_a_hub_that_is_not_there_fails_over(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("huggingface_hub.constants.HF_HUB_OFFLINE", True)
    sources = [("hub", huggingface_fetch("http://127.0.0.1:9")), ("memory", fetching([]))]
    log = io.StringIO()
    download_seqgpt(tmp_path, sources=sources, log=log)
    assert "failed: hub" in log.getvalue()
