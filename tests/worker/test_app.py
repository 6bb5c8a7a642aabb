"""The worker's HTTP face over a real server: answers, one error envelope, ids, limits, leaving callers."""

from __future__ import annotations

import asyncio
import json
import logging
import threading
from collections.abc import Iterator
from typing import Any

import httpx
import pytest

from seqgpt_ui.errors import CheckpointError
from seqgpt_ui.protocol import (
    ErrorEnvelope,
    GenerateRequest,
    GenerateResponse,
    InfoResponse,
    StreamEvent,
    TokenizerResponse,
)
from seqgpt_ui.worker.engine.contract import Loaded
from tests.worker.serving import Serving, serving
from tests.worker.stubs import StubCore, eventually, request, run

SECRET = "某人的秘密文本"


@pytest.fixture(scope="module")
def shared() -> Iterator[Serving]:
    with serving() as running:
        yield running


def http(running: Serving) -> httpx.Client:
    transport = httpx.HTTPTransport(uds=str(running.path))
    return httpx.Client(transport=transport, base_url="http://worker", timeout=20.0)


def async_http(running: Serving) -> httpx.AsyncClient:
    transport = httpx.AsyncHTTPTransport(uds=str(running.path))
    return httpx.AsyncClient(transport=transport, base_url="http://worker", timeout=20.0)


def generate(running: Serving, body: GenerateRequest, **headers: str) -> httpx.Response:
    with http(running) as client:
        return client.post("/v1/generate", content=body.model_dump_json(), headers=headers | JSON)


def error(response: httpx.Response) -> Any:
    """The envelope, checked for its one shape."""
    envelope = ErrorEnvelope.model_validate_json(response.content)
    assert envelope.error.request_id == response.headers["x-request-id"]
    return envelope.error


JSON = {"content-type": "application/json"}


def test_items_are_answered_in_order(shared: Serving) -> None:
    response = generate(shared, request("a", "b"))
    assert response.status_code == 200
    answer = GenerateResponse.model_validate_json(response.content)
    assert [item.completion.text for item in answer.items if item.completion] == ["a", "b"]


def test_a_bad_item_carries_its_own_error(shared: Serving) -> None:
    answer = GenerateResponse.model_validate_json(generate(shared, request("a", "bad")).content)
    good, bad = answer.items
    assert good.completion is not None
    assert good.error is None
    assert bad.completion is None
    assert bad.error is not None
    assert (bad.error.code, bad.error.http_status, bad.error.param) == ("text_too_long", 400, "segments")
    assert bad.error.retryable is False


@pytest.mark.parametrize(
    ("body", "param"),
    [
        ({}, "items"),
        ({"items": []}, "items"),
        ({"items": [{"segments": [{"text": SECRET}]}]}, "items.0.segments.0.is_content"),
        ({"items": [{"segments": []}]}, "items.0.segments"),
        ({"items": [{"segments": [{"text": SECRET, "is_content": True}]}], "deadline_s": 0}, "deadline_s"),
        ({"items": [{"segments": [{"text": SECRET, "is_content": True}]}], "what": SECRET}, "what"),
        (
            {"items": [{"segments": [{"text": "a", "is_content": True}], "params": {"mode": SECRET}}]},
            "items.0.params.mode",
        ),
        ([SECRET], None),
    ],
)
def test_a_wrong_body_is_answered_with_the_field_and_without_its_text(
    shared: Serving, body: Any, param: str | None
) -> None:
    with http(shared) as client:
        response = client.post("/v1/generate", json=body)
    assert response.status_code == 400
    assert error(response).code == "invalid_request"
    assert error(response).param == param
    assert SECRET not in response.text


@pytest.mark.parametrize("body", [b"", b"{", b"\xff\xfe", b"null", b'"text"'])
def test_what_is_no_json_object_is_answered_in_the_envelope(shared: Serving, body: bytes) -> None:
    with http(shared) as client:
        response = client.post("/v1/generate", content=body, headers=JSON)
    assert response.status_code == 400
    assert error(response).message


def test_unknown_paths_and_methods_use_the_envelope(shared: Serving) -> None:
    with http(shared) as client:
        missing, method = client.get("/nowhere"), client.put("/v1/info")
    assert (missing.status_code, error(missing).code) == (404, "not_found")
    assert (method.status_code, error(method).code) == (405, "method_not_allowed")
    assert method.headers["allow"] == "GET"


def test_a_body_over_the_limit_is_refused(shared: Serving) -> None:
    response = generate(shared, request("x" * 200_000))
    assert (response.status_code, error(response).code) == (413, "body_too_large")


def test_a_body_without_a_length_is_limited_too(shared: Serving) -> None:
    def chunks() -> Iterator[bytes]:
        for _ in range(30):
            yield b" " * 10_000

    with http(shared) as client:
        response = client.post("/v1/generate", content=chunks(), headers=JSON)
    assert (response.status_code, error(response).code) == (413, "body_too_large")


def test_the_callers_request_id_comes_back(shared: Serving) -> None:
    assert generate(shared, request("a"), **{"x-request-id": "job-7.row_3"}).headers["x-request-id"] == "job-7.row_3"


@pytest.mark.parametrize("bad", ["a" * 65, "has blank", "line\\n", ""])
def test_an_insane_request_id_is_replaced(shared: Serving, bad: str) -> None:
    given = generate(shared, request("a"), **{"x-request-id": bad}).headers["x-request-id"]
    assert given != bad
    assert len(given) == 32


def test_a_stream_gives_text_then_the_result(shared: Serving) -> None:
    with http(shared) as client:
        body = request("one two", stream=True).model_dump_json()
        with client.stream("POST", "/v1/generate", content=body, headers=JSON) as response:
            assert response.headers["content-type"] == "application/x-ndjson"
            events = [StreamEvent.model_validate_json(line) for line in response.iter_lines()]
    assert [event.delta for event in events] == ["one", "two", ""]
    assert events[-1].result is not None
    assert events[-1].result.completion is not None
    assert events[-1].result.completion.text == "one two"
    assert all(event.result is None for event in events[:-1])


def test_a_stream_that_fails_ends_with_the_error(shared: Serving) -> None:
    response = generate(shared, request("bad", stream=True))
    (event,) = [StreamEvent.model_validate_json(line) for line in response.text.splitlines()]
    assert event.result is not None
    assert event.result.error is not None
    assert event.result.error.code == "text_too_long"


def test_a_stream_has_exactly_one_item(shared: Serving) -> None:
    response = generate(shared, request("a", "b", stream=True))
    assert (response.status_code, error(response).param) == (400, "items")


def test_the_tokenizer_is_sent_once(shared: Serving) -> None:
    with http(shared) as client:
        first = client.get("/v1/tokenizer")
        again = client.get("/v1/tokenizer", headers={"if-none-match": first.headers["etag"]})
        other = client.get("/v1/tokenizer", headers={"if-none-match": '"other"'})
    assert TokenizerResponse.model_validate_json(first.content).gen_id == 7
    assert (again.status_code, again.content, again.headers["etag"]) == (304, b"", first.headers["etag"])
    assert (other.status_code, other.content) == (200, first.content)
    assert shared.core.tokenizer_calls == 1


def test_a_ready_worker_says_so(shared: Serving) -> None:
    with http(shared) as client:
        assert client.get("/livez").json() == {"status": "alive"}
        assert client.get("/readyz").json() == {"status": "ready"}
        info = InfoResponse.model_validate_json(client.get("/v1/info").content)
    assert info.state == "ready"
    assert info.model is not None
    assert info.model.name == "stub"
    assert info.choice_reason == "only this one"
    assert info.device_memory_bytes == 12
    assert info.rss_bytes > 1_000_000
    assert info.uptime_s > 0
    assert (info.max_queue, info.max_concurrency) == (64, 2)


def test_metrics_count_requests_items_and_loads(shared: Serving) -> None:
    generate(shared, request("a", "bad"))
    with http(shared) as client:
        client.get("/made/up/by/a/caller")
        response = client.get("/metrics")
    lines = dict(line.rsplit(" ", 1) for line in response.text.splitlines() if not line.startswith("#"))
    assert float(lines['seqgpt_items_total{outcome="ok"}']) >= 1
    assert float(lines['seqgpt_items_total{outcome="text_too_long"}']) >= 1
    assert float(lines['seqgpt_requests_total{path="/v1/generate",status="200"}']) >= 1
    assert float(lines["seqgpt_model_loads_total"]) == 1
    assert float(lines["seqgpt_ready"]) == 1
    assert "made" not in response.text
    assert response.headers["content-type"].startswith("text/plain")


def test_logs_hold_the_request_but_no_text(shared: Serving, caplog: pytest.LogCaptureFixture) -> None:
    with caplog.at_level(logging.DEBUG):
        generate(shared, request(SECRET, f"bad {SECRET}"))
        generate(shared, request("a"), **{"x-request-id": "find-me"})
    entries = [record for record in caplog.records if record.name == "seqgpt_ui.worker.app"]
    fields = [getattr(record, "fields", {}) for record in entries]
    assert {"method": "POST", "path": "/v1/generate", "status": 200}.items() <= fields[-1].items()
    assert SECRET not in caplog.text + json.dumps(fields, ensure_ascii=False)


def test_a_full_queue_is_429_with_retry_after() -> None:
    async def main() -> None:
        with serving(max_concurrency=1, max_queue=0) as running:
            async with async_http(running) as client:
                body = request("hold it").model_dump_json()
                first = asyncio.ensure_future(client.post("/v1/generate", content=body, headers=JSON))
                await eventually(running.core.holding.is_set)
                for stream in (False, True):
                    content = request("b", stream=stream).model_dump_json()
                    refused = await client.post("/v1/generate", content=content, headers=JSON)
                    assert (refused.status_code, error(refused).code) == (429, "queue_full")
                    assert int(refused.headers["retry-after"]) >= 1
                running.core.release.set()
                assert (await first).status_code == 200

    run(main())


@pytest.mark.parametrize("stream", [False, True])
def test_a_caller_who_hangs_up_frees_the_place(stream: bool) -> None:
    async def main() -> None:
        with serving(max_concurrency=1, max_queue=0) as running:
            async with async_http(running) as client:
                body = request("hold it", stream=stream).model_dump_json()
                leaving = asyncio.ensure_future(client.post("/v1/generate", content=body, headers=JSON))
                await eventually(running.core.holding.is_set)
                leaving.cancel()
                await eventually(lambda: running.engine.queue.num_requests == 0)
                answer = await client.post("/v1/generate", content=request("b").model_dump_json(), headers=JSON)
                assert answer.status_code == 200

    run(main())


def test_a_deadline_that_passes_is_the_items_error() -> None:
    with serving() as running:
        answer = GenerateResponse.model_validate_json(generate(running, request("hold it", deadline_s=0.05)).content)
    assert answer.items[0].error is not None
    assert answer.items[0].error.code == "deadline_exceeded"
    assert answer.items[0].error.retryable


def test_while_loading_the_process_lives_but_is_not_ready() -> None:
    gate = threading.Event()

    def load() -> Loaded:
        gate.wait(20)
        return Loaded(StubCore(), "")

    with serving(load=load) as running, http(running) as client:
        try:
            assert client.get("/livez").status_code == 200
            assert client.get("/v1/info").json()["state"] == "loading"
            assert client.get("/v1/info").json()["model"] is None
            for response in (client.get("/readyz"), client.get("/v1/tokenizer"), generate(running, request("a"))):
                assert (response.status_code, error(response).code) == (503, "worker_unavailable")
                assert int(response.headers["retry-after"]) >= 1
            assert "seqgpt_ready 0.0" in client.get("/metrics").text
        finally:
            gate.set()


def test_a_failed_load_tells_its_cause() -> None:
    def load() -> Loaded:
        raise CheckpointError("no weights here; fetch them")

    with serving(load=load) as running, http(running) as client:
        run(eventually(lambda: running.engine.state == "failed"))
        assert client.get("/livez").status_code == 200
        assert client.get("/v1/info").json()["cause"] == "no weights here; fetch them"
        ready = client.get("/readyz")
        assert ready.status_code == 503
        assert "no weights here" in error(ready).message


def test_an_unknown_failure_is_500_in_the_envelope() -> None:
    class Odd(StubCore):
        def tokenizer(self) -> TokenizerResponse:
            raise KeyError(SECRET)

    with serving(Odd()) as running, http(running) as client:
        response = client.get("/v1/tokenizer")
    assert (response.status_code, error(response).code) == (500, "internal_error")
    assert SECRET not in response.text


def test_a_broken_engine_turns_readiness_off() -> None:
    with serving() as running, http(running) as client:
        answer = GenerateResponse.model_validate_json(generate(running, request("bug", "b")).content)
        assert [item.error.code for item in answer.items if item.error] == ["engine_failed", "worker_unavailable"]
        run(eventually(lambda: running.engine.state == "failed"))
        assert client.get("/readyz").status_code == 503
        assert generate(running, request("c")).status_code == 503


def test_openapi_declares_what_is_answered(shared: Serving) -> None:
    with http(shared) as client:
        paths = client.get("/openapi.json").json()["paths"]
    assert set(paths) == {"/v1/generate", "/v1/tokenizer", "/v1/info", "/livez", "/readyz", "/metrics"}
    assert {"200", "400", "413", "429", "503"} <= set(paths["/v1/generate"]["post"]["responses"])
