"""The client against the real server, and against servers that misbehave."""

from __future__ import annotations

import asyncio
import socket
import threading
from collections.abc import Callable, Coroutine, Iterator
from pathlib import Path
from typing import Any, TypeVar

import httpx
import pytest

from seqgpt_ui import errors
from seqgpt_ui.client import Address, WorkerClient, error_of, item_error
from seqgpt_ui.errors import (
    DeadlineExceeded,
    InvalidRequest,
    QueueFull,
    SeqGPTError,
    WorkerError,
    WorkerUnavailable,
)
from seqgpt_ui.protocol import ErrorBody, ErrorEnvelope, GenerateResponse, ItemError, ItemResult
from seqgpt_ui.settings import Settings
from seqgpt_ui.worker.engine.contract import Loaded
from tests.worker.serving import Serving, serving
from tests.worker.stubs import StubCore, completion, eventually, request, run

T = TypeVar("T")
Handler = Callable[[httpx.Request], httpx.Response]


@pytest.fixture(scope="module")
def shared() -> Iterator[Serving]:
    with serving() as running:
        yield running


def ask(client: WorkerClient, call: Callable[[WorkerClient], Coroutine[Any, Any, T]]) -> T:
    """What ``call`` answers on an event loop of its own."""

    async def main() -> T:
        try:
            return await call(client)
        finally:
            await client.aclose()

    return run(main())


def client_of(*running: Serving) -> WorkerClient:
    return WorkerClient([Address("http://worker", one.path) for one in running])


def mocked(handler: Handler, *urls: str) -> WorkerClient:
    """A client whose workers are ``handler``."""
    addresses = [Address(url) for url in urls or ("http://a",)]
    return WorkerClient(addresses, transport=lambda: httpx.MockTransport(handler))


def raising(error: Exception) -> Handler:
    def handler(_: httpx.Request) -> httpx.Response:
        raise error

    return handler


def envelope(status: int, code: str, **headers: str) -> httpx.Response:
    body = ErrorEnvelope(error=ErrorBody(code=code, message="why", param="items"))
    return httpx.Response(status, json=body.model_dump(), headers=headers)


def test_generate_answers_every_item(shared: Serving) -> None:
    answer = ask(client_of(shared), lambda c: c.generate(request("a", "bad")))
    assert answer.items[0].completion is not None
    assert answer.items[0].completion.text == "a"
    assert answer.items[1].error is not None
    error = item_error(answer.items[1].error)
    assert isinstance(error, errors.TextTooLong)
    assert error.param == "segments"


def test_stream_yields_text_then_the_result(shared: Serving) -> None:
    async def main() -> list[Any]:
        client = client_of(shared)
        events = [event async for event in client.stream(request("one two"))]
        await client.aclose()
        return events

    events = run(main())
    assert [event.delta for event in events] == ["one", "two", ""]
    assert events[-1].result.completion.text == "one two"


def test_leaving_a_stream_frees_the_place() -> None:
    async def main() -> None:
        with serving(max_concurrency=1, max_queue=0) as running:
            client = client_of(running)
            stream = client.stream(request("hold it"))
            first = asyncio.ensure_future(anext(stream))
            await eventually(running.core.holding.is_set)
            first.cancel()
            await eventually(lambda: running.engine.queue.num_requests == 0)
            await client.aclose()

    run(main())


def test_the_tokenizer_is_fetched_once_and_stays_the_same_object(shared: Serving) -> None:
    async def main() -> None:
        client = client_of(shared)
        first = await client.tokenizer()
        assert first.gen_id == 7
        assert await client.tokenizer() is first
        await client.aclose()

    run(main())
    assert shared.core.tokenizer_calls <= 1


def test_the_tokenizer_is_fetched_again_when_the_model_changed() -> None:
    class Other(StubCore):
        def tokenizer(self) -> Any:
            return super().tokenizer().model_copy(update={"gen_id": 99})

    async def main() -> None:
        with serving() as old, serving(Other()) as new:
            client = client_of(old, new)
            assert [(await client.tokenizer()).gen_id for _ in range(4)] == [7, 99, 7, 99]
            await client.aclose()

    run(main())


def test_info_tells_the_state(shared: Serving) -> None:
    info = ask(client_of(shared), lambda c: c.info())
    assert info.state == "ready"
    assert info.model is not None


def test_one_client_serves_several_event_loops(shared: Serving) -> None:
    client = client_of(shared)
    for _ in range(3):
        answer = ask(client, lambda c: c.generate(request("a")))
        assert answer.items[0].completion is not None


def test_the_request_id_travels(shared: Serving) -> None:
    seen: list[httpx.Request] = []

    def handler(sent: httpx.Request) -> httpx.Response:
        seen.append(sent)
        answer = GenerateResponse(items=[ItemResult(completion=completion("a"))])
        return httpx.Response(200, content=answer.model_dump_json())

    ask(mocked(handler), lambda c: c.generate(request("a"), request_id="row-5"))
    assert seen[0].headers["x-request-id"] == "row-5"
    assert seen[0].headers["content-type"] == "application/json"
    assert seen[0].extensions["timeout"]["read"] > 60


def test_a_full_queue_carries_when_to_come_back() -> None:
    async def main() -> None:
        with serving(max_concurrency=1, max_queue=0) as running:
            client = client_of(running)
            first = asyncio.ensure_future(client.generate(request("hold it")))
            await eventually(running.core.holding.is_set)
            with pytest.raises(QueueFull) as caught:
                await client.generate(request("b"))
            assert (caught.value.retry_after_s or 0) >= 1
            with pytest.raises(QueueFull):
                await anext(client.stream(request("b")))
            running.core.release.set()
            await first
            await client.aclose()

    run(main())


def test_a_loading_worker_is_unavailable() -> None:
    gate = threading.Event()

    def load() -> Loaded:
        gate.wait(20)
        return Loaded(StubCore(), "")

    async def main() -> None:
        with serving(load=load) as running:
            client = client_of(running)
            with pytest.raises(WorkerUnavailable, match="still loading") as caught:
                await client.generate(request("a"))
            assert caught.value.retryable
            ready = asyncio.ensure_future(client.wait_ready(patience_s=5.0, poll_s=0.01))
            await asyncio.sleep(0)
            gate.set()
            assert (await ready).state == "ready"
            await client.aclose()

    try:
        run(main())
    finally:
        gate.set()


def test_waiting_ends_when_loading_failed() -> None:
    def load() -> Loaded:
        raise errors.CheckpointError("no weights; fetch them")

    async def main() -> None:
        with serving(load=load) as running:
            client = client_of(running)
            with pytest.raises(WorkerUnavailable, match="no weights; fetch them"):
                await client.wait_ready(patience_s=5.0, poll_s=0.01)
            await client.aclose()

    run(main())


def test_waiting_for_nobody_ends(tmp_path: Path) -> None:
    client = WorkerClient([Address("http://worker", tmp_path / "none")])
    with pytest.raises(WorkerUnavailable, match="no worker answers"):
        ask(client, lambda c: c.wait_ready(patience_s=0.0))


def test_without_a_worker_the_address_is_named(tmp_path: Path) -> None:
    client = WorkerClient([Address("http://worker", tmp_path / "none.sock")])
    with pytest.raises(WorkerUnavailable, match=r"none\.sock") as caught:
        ask(client, lambda c: c.generate(request("a")))
    assert caught.value.retry_after_s == 2


def test_a_worker_that_dies_in_the_middle_is_unavailable() -> None:
    async def die(_: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        writer.write(b"HTTP/1.1 200 OK\r\ncontent-length: 100\r\n\r\n{")
        await writer.drain()
        writer.close()

    async def main() -> None:
        server = await asyncio.start_server(die, "127.0.0.1", 0)
        port = server.sockets[0].getsockname()[1]
        client = WorkerClient([Address(f"http://127.0.0.1:{port}")])
        async with server:
            with pytest.raises(WorkerUnavailable, match="middle of an answer"):
                await client.generate(request("a"))
            with pytest.raises(WorkerUnavailable, match="middle of an answer"):
                async for _ in client.stream(request("a")):
                    pass
        await client.aclose()

    run(main())


def test_a_stream_without_a_result_is_broken() -> None:
    client = mocked(lambda _: httpx.Response(200, content=b'{"delta":"a"}\n'))

    async def main() -> list[str]:
        heard = []
        with pytest.raises(WorkerUnavailable):
            async for event in client.stream(request("a")):
                heard.append(event.delta)  # noqa: PERF401 - what came before the error counts
        await client.aclose()
        return heard

    assert run(main()) == ["a"]


@pytest.mark.parametrize(
    ("raised", "expected"),
    [
        (httpx.ConnectError("x"), WorkerUnavailable),
        (httpx.ConnectTimeout("x"), WorkerUnavailable),
        (httpx.ReadError("x"), WorkerUnavailable),
        (httpx.WriteError("x"), WorkerUnavailable),
        (httpx.RemoteProtocolError("x"), WorkerUnavailable),
        (httpx.ReadTimeout("x"), DeadlineExceeded),
        (httpx.PoolTimeout("x"), DeadlineExceeded),
        (httpx.DecodingError("x"), WorkerError),
        (httpx.UnsupportedProtocol("x"), WorkerError),
    ],
)
def test_no_exception_of_the_http_library_gets_out(raised: Exception, expected: type[SeqGPTError]) -> None:
    client = mocked(raising(raised))
    with pytest.raises(expected):
        ask(client, lambda c: c.generate(request("a")))
    with pytest.raises(expected):
        ask(client, lambda c: c.tokenizer())


def test_a_worker_that_hangs_is_unavailable_to_whoever_asks_for_its_state() -> None:
    with pytest.raises(WorkerUnavailable, match="does not answer"):
        ask(mocked(raising(httpx.ReadTimeout("x"))), lambda c: c.info())


@pytest.mark.parametrize(
    ("status", "code", "expected"),
    [
        (400, "invalid_request", InvalidRequest),
        (400, "text_too_long", errors.TextTooLong),
        (429, "queue_full", QueueFull),
        (503, "worker_unavailable", WorkerUnavailable),
        (504, "deadline_exceeded", DeadlineExceeded),
        (500, "engine_failed", errors.EngineFailed),
        (500, "internal_error", WorkerError),
        (413, "body_too_large", WorkerError),
        (418, "from_the_future", WorkerError),
    ],
)
def test_the_envelopes_code_decides_the_error(status: int, code: str, expected: type[SeqGPTError]) -> None:
    with pytest.raises(expected, match="why") as caught:
        ask(mocked(lambda _: envelope(status, code)), lambda c: c.generate(request("a")))
    assert type(caught.value) is expected
    assert caught.value.param in ("items", None)


@pytest.mark.parametrize(("header", "expected"), [("7", 7.0), ("soon", None), ("", None)])
def test_retry_after_is_read(header: str, expected: float | None) -> None:
    headers = {"retry-after": header} if header else {}
    assert error_of(envelope(429, "queue_full", **headers)).retry_after_s == expected


def test_every_error_of_the_tree_survives_the_wire() -> None:
    for kind in vars(errors).values():
        if isinstance(kind, type) and issubclass(kind, SeqGPTError) and kind is not SeqGPTError:
            wire = ItemError(code=kind.code, message="why", param="p", retry_after_s=3.0)
            error = item_error(wire)
            assert type(error) is kind
            assert (error.message, error.param, error.retry_after_s) == ("why", "p", 3.0)


@pytest.mark.parametrize("content", [b"", b"<html>", b"{}", b'{"items": []}', '{"items": [{"秘密": 1}]}'.encode()])
def test_an_answer_outside_the_protocol_is_a_worker_error_without_its_text(content: bytes) -> None:
    with pytest.raises(WorkerError) as caught:
        ask(mocked(lambda _: httpx.Response(200, content=content)), lambda c: c.generate(request("a")))
    assert "秘密" not in f"{caught.value} {caught.value.__cause__}"


def test_a_refusal_without_an_envelope_is_a_worker_error() -> None:
    with pytest.raises(WorkerError, match="HTTP 502"):
        ask(mocked(lambda _: httpx.Response(502, content=b"<html>")), lambda c: c.generate(request("a")))


def answering(hosts: list[str], down: set[str], status: int | None = None) -> Handler:
    """Answers unless the host is down; remembers who was asked."""

    def handler(sent: httpx.Request) -> httpx.Response:
        hosts.append(sent.url.host)
        if sent.url.host in down:
            if status:
                return envelope(status, "worker_unavailable" if status == 503 else "queue_full")
            raise httpx.ConnectError("refused")
        answer = GenerateResponse(items=[ItemResult(completion=completion("a"))])
        return httpx.Response(200, content=answer.model_dump_json())

    return handler


def test_several_workers_are_asked_in_turn() -> None:
    hosts: list[str] = []
    client = mocked(answering(hosts, set()), "http://a", "http://b", "http://c")
    for _ in range(4):
        ask(client, lambda c: c.generate(request("x")))
    assert hosts == ["a", "b", "c", "a"]


@pytest.mark.parametrize("status", [None, 503])
def test_a_worker_that_is_not_there_or_not_ready_is_passed_over(status: int | None) -> None:
    hosts: list[str] = []
    client = mocked(answering(hosts, {"a"}, status), "http://a", "http://b")
    for _ in range(2):
        ask(client, lambda c: c.generate(request("x")))
    assert hosts == ["a", "b", "b"]


def test_a_full_queue_is_not_passed_on() -> None:
    hosts: list[str] = []
    with pytest.raises(QueueFull):
        ask(mocked(answering(hosts, {"a"}, 429), "http://a", "http://b"), lambda c: c.generate(request("x")))
    assert hosts == ["a"]


def test_when_all_are_down_the_last_error_is_raised() -> None:
    hosts: list[str] = []
    with pytest.raises(WorkerUnavailable):
        ask(mocked(answering(hosts, {"a", "b"}), "http://a", "http://b"), lambda c: c.generate(request("x")))
    assert hosts == ["a", "b"]


def test_settings_lead_to_the_worker(tmp_path: Path) -> None:
    def addresses(**fields: Any) -> list[str]:
        return [str(address) for address in WorkerClient.from_settings(Settings(**fields))._addresses]

    assert addresses(data_dir=tmp_path) == [str(tmp_path / "run" / "worker.sock")]
    assert addresses(socket=Path("/run/w.sock")) == ["/run/w.sock"]
    assert addresses(worker_host="127.0.0.1", worker_port=81) == ["http://127.0.0.1:81"]
    assert addresses(worker_host="::1", worker_port=81) == ["http://[::1]:81"]
    assert addresses(worker_urls=("http://a:1", "http://b:2")) == ["http://a:1", "http://b:2"]


def test_a_worker_that_came_back_on_its_socket_is_found(tmp_path: Path) -> None:
    path = tmp_path / "s"

    async def main() -> None:
        client = WorkerClient([Address("http://worker", path)])

        async def answer(reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
            await reader.readuntil(b"\r\n\r\n")
            body = GenerateResponse(items=[ItemResult(completion=completion("a"))]).model_dump_json().encode()
            writer.write(b"HTTP/1.1 200 OK\r\ncontent-length: %d\r\n\r\n" % len(body) + body)
            await writer.drain()
            writer.close()
            await writer.wait_closed()

        for _ in range(2):
            path.unlink(missing_ok=True)
            async with await asyncio.start_unix_server(answer, str(path)):
                await client.generate(request("a"))
        await client.aclose()

    run(main())


def test_the_environments_proxy_is_not_used(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("HTTP_PROXY", "http://127.0.0.1:9")
    with socket.socket() as probe:
        probe.bind(("127.0.0.1", 0))
        port = probe.getsockname()[1]
    with pytest.raises(WorkerUnavailable, match=str(port)):
        ask(WorkerClient([Address(f"http://127.0.0.1:{port}")]), lambda c: c.info())
