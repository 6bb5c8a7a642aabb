"""Talks to the worker over its unix socket or TCP. Whatever goes wrong becomes an error of the product's tree.

One object serves many event loops, one connection pool each. With several addresses requests go round, and on to the
next where nobody answers.
"""

from __future__ import annotations

import asyncio
from collections.abc import AsyncIterator, Callable, Iterator, Sequence
from contextlib import asynccontextmanager, contextmanager
from dataclasses import dataclass
from itertools import count
from pathlib import Path
from typing import TypeVar
from weakref import WeakKeyDictionary

import httpx
from pydantic import ValidationError

from seqgpt_ui.errors import DeadlineExceeded, SeqGPTError, WorkerError, WorkerUnavailable
from seqgpt_ui.protocol import (
    ErrorEnvelope,
    GenerateRequest,
    GenerateResponse,
    InfoResponse,
    ItemError,
    StreamEvent,
    TokenizerResponse,
    Wire,
)
from seqgpt_ui.settings import Settings

CONNECT_S = 5.0
# The worker keeps the deadline itself; this is for one that does not answer any more.
GRACE_S = 15.0
INFO_S = 5.0
TOKENIZER_S = 30.0
Message = TypeVar("Message", bound=Wire)
TransportFactory = Callable[[], httpx.AsyncBaseTransport]


@dataclass(frozen=True, slots=True)
class Address:
    """Where a worker listens: a base URL, and the socket that stands behind it (None for TCP)."""

    url: str
    socket: Path | None = None

    def __str__(self) -> str:
        return str(self.socket or self.url)


class WorkerClient:
    """The one way from every entrance of the product to the model."""

    def __init__(self, addresses: Sequence[Address], *, transport: TransportFactory | None = None) -> None:
        """``transport`` makes the transport of every connection pool; for tests."""
        self._addresses = tuple(addresses)
        self._transport = transport
        self._turn = count()
        self._pools: WeakKeyDictionary[asyncio.AbstractEventLoop, dict[Address, httpx.AsyncClient]]
        self._pools = WeakKeyDictionary()
        self._tokenizer: tuple[str, TokenizerResponse] | None = None

    @classmethod
    def from_settings(cls, settings: Settings) -> WorkerClient:
        """The worker that these settings lead to."""
        if settings.worker_urls:
            return cls([Address(url) for url in settings.worker_urls])
        if settings.worker_host:
            host = f"[{settings.worker_host}]" if ":" in settings.worker_host else settings.worker_host
            return cls([Address(f"http://{host}:{settings.worker_port}")])
        return cls([Address("http://worker", settings.socket_path)])

    async def generate(self, request: GenerateRequest, *, request_id: str | None = None) -> GenerateResponse:
        """Complete the items; each result is a completion or an error of its own.

        Raises ``WorkerUnavailable``, ``QueueFull``, ``DeadlineExceeded``, ``InvalidRequest`` or ``WorkerError``.
        """
        call = _Call("POST", "/v1/generate", request.deadline_s + GRACE_S, request_id, request.model_dump_json())
        response = await self._send(call)
        answer = _parse(GenerateResponse, response.content)
        if len(answer.items) != len(request.items):
            raise WorkerError(f"the worker answered {len(answer.items)} of {len(request.items)} items")
        return answer

    async def stream(self, request: GenerateRequest, *, request_id: str | None = None) -> AsyncIterator[StreamEvent]:
        """Complete one item, text as it comes; the last event carries the result. Raises as ``generate``."""
        body = request.model_copy(update={"stream": True}).model_dump_json()
        call = _Call("POST", "/v1/generate", request.deadline_s + GRACE_S, request_id, body)
        async with self._open(call) as response:
            finished = False
            with _mapped_errors():
                async for line in response.aiter_lines():
                    event = _parse(StreamEvent, line)
                    finished = finished or event.result is not None
                    yield event
        if not finished:
            raise WorkerUnavailable("the worker went away in the middle of an answer", retry_after_s=2)

    async def tokenizer(self) -> TokenizerResponse:
        """The tokenizer of the model that answers now; the same object until that changes. Raises as ``generate``."""
        known = self._tokenizer
        headers = {"If-None-Match": known[0]} if known else {}
        response = await self._send(_Call("GET", "/v1/tokenizer", TOKENIZER_S, headers=headers))
        if known and response.status_code == 304:
            return known[1]
        tokenizer = _parse(TokenizerResponse, response.content)
        self._tokenizer = (response.headers.get("etag", ""), tokenizer)
        return tokenizer

    async def info(self) -> InfoResponse:
        """State of one worker. Raises ``WorkerUnavailable`` when nobody answers, ``WorkerError`` otherwise."""
        try:
            response = await self._send(_Call("GET", "/v1/info", INFO_S))
        except DeadlineExceeded as error:
            raise WorkerUnavailable("the worker does not answer", retry_after_s=5) from error
        return _parse(InfoResponse, response.content)

    async def wait_ready(self, *, patience_s: float, poll_s: float = 0.2) -> InfoResponse:
        """Wait until the worker takes prompts: ``patience_s`` for the first sign of it, as long as it loads then.

        Raises ``WorkerUnavailable`` with the cause when nobody answers in time or loading fails.
        """
        loop = asyncio.get_running_loop()
        give_up_s = loop.time() + patience_s
        while True:
            try:
                info = await self.info()
            except WorkerUnavailable:
                if loop.time() >= give_up_s:
                    raise
            else:
                if info.state == "ready":
                    return info
                if info.state == "failed":
                    raise WorkerUnavailable(info.cause or "the worker failed")
            await asyncio.sleep(poll_s)

    async def aclose(self) -> None:
        """Close the connections of the running event loop."""
        for pool in self._pools.pop(asyncio.get_running_loop(), {}).values():
            await pool.aclose()

    async def _send(self, call: _Call) -> httpx.Response:
        async with self._open(call) as response:
            with _mapped_errors():
                await response.aread()
        return response

    @asynccontextmanager
    async def _open(self, call: _Call) -> AsyncIterator[httpx.Response]:
        """An accepted answer, its body not yet read, from the first address that is there and ready."""
        start = next(self._turn)
        for attempt in range(len(self._addresses)):
            try:
                response = await self._ask(call, self._addresses[(start + attempt) % len(self._addresses)])
                break
            except WorkerUnavailable:
                if attempt + 1 == len(self._addresses):
                    raise
        try:
            yield response
        finally:
            await response.aclose()

    async def _ask(self, call: _Call, address: Address) -> httpx.Response:
        """The answer of this address with status 200 or 304; raises the error behind any other."""
        pool = self._pool(address)
        with _mapped_errors(address):
            response = await pool.send(call.to(pool), stream=True)
            if response.status_code in (200, 304):
                return response
            try:
                await response.aread()
            finally:
                await response.aclose()
        raise error_of(response)

    def _pool(self, address: Address) -> httpx.AsyncClient:
        pools = self._pools.setdefault(asyncio.get_running_loop(), {})
        if address not in pools:
            transport = self._transport() if self._transport else None
            if transport is None and address.socket is not None:
                transport = httpx.AsyncHTTPTransport(uds=str(address.socket))
            limits = httpx.Limits(max_connections=None, max_keepalive_connections=32)
            # The worker is never behind the proxy that the environment may name.
            pools[address] = httpx.AsyncClient(
                base_url=address.url, transport=transport, limits=limits, trust_env=False
            )
        return pools[address]


@dataclass(frozen=True, slots=True)
class _Call:
    """One HTTP request, not yet bound to an address."""

    method: str
    path: str
    timeout_s: float
    request_id: str | None = None
    body: str | None = None
    headers: dict[str, str] | None = None

    def to(self, pool: httpx.AsyncClient) -> httpx.Request:
        headers = dict(self.headers or {})
        if self.request_id:
            headers["X-Request-ID"] = self.request_id
        if self.body is not None:
            headers["Content-Type"] = "application/json"
        timeout = httpx.Timeout(self.timeout_s, connect=CONNECT_S)
        return pool.build_request(self.method, self.path, content=self.body, headers=headers, timeout=timeout)


def error_of(response: httpx.Response) -> SeqGPTError:
    """The error behind a refused request, by the code in its envelope."""
    try:
        body = ErrorEnvelope.model_validate_json(response.content).error
    except ValidationError:
        return WorkerError(f"the worker answered HTTP {response.status_code} without an error it knows")
    retry_after = response.headers.get("retry-after", "")
    return _error(body.code, body.message, body.param, float(retry_after) if retry_after.isdecimal() else None)


def item_error(error: ItemError) -> SeqGPTError:
    """The exception that an item's error stands for."""
    return _error(error.code, error.message, error.param, error.retry_after_s)


def _error(code: str, message: str, param: str | None, retry_after_s: float | None) -> SeqGPTError:
    kind = _ERRORS.get(code)
    if kind is None:
        return WorkerError(f"{message} ({code})")
    return kind(message, param=param, retry_after_s=retry_after_s)


def _subclasses(kind: type[SeqGPTError]) -> Iterator[type[SeqGPTError]]:
    for child in kind.__subclasses__():
        yield child
        yield from _subclasses(child)


_ERRORS = {kind.code: kind for kind in _subclasses(SeqGPTError)}


def _parse(kind: type[Message], content: bytes | str) -> Message:
    try:
        return kind.model_validate_json(content)
    except ValidationError as error:
        # The validation error quotes what was read, which may be somebody's text.
        raise WorkerError(f"the worker's answer is no {kind.__name__}; do both sides have one version?") from (
            ValueError(f"{error.error_count()} fields do not fit")
        )


@contextmanager
def _mapped_errors(address: Address | None = None) -> Iterator[None]:
    """Turn the HTTP library's exceptions into ours."""
    try:
        yield
    except (httpx.ConnectError, httpx.ConnectTimeout) as error:
        raise WorkerUnavailable(f"no worker answers at {address}; is it started?", retry_after_s=2) from error
    except httpx.TimeoutException as error:
        raise DeadlineExceeded("the worker did not answer in time") from error
    except (httpx.NetworkError, httpx.RemoteProtocolError) as error:
        raise WorkerUnavailable("the worker went away in the middle of an answer", retry_after_s=2) from error
    except httpx.HTTPError as error:
        raise WorkerError(f"the worker could not be asked: {type(error).__name__}") from error
