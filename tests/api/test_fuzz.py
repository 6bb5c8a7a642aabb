"""Whatever is sent, the answer is the envelope or a result: never a 500."""

from __future__ import annotations

import asyncio
from typing import Any

import httpx
import orjson
from hypothesis import given, settings
from hypothesis import strategies as st

from seqgpt_ui.api.app import create_app
from seqgpt_ui.api.service import Service
from seqgpt_ui.prompt.templates import TemplateLibrary
from seqgpt_ui.settings import Settings
from tests.fakes_web import ScriptedPipeline

LIBRARY = TemplateLibrary.from_folder()
TEXT = st.text(st.characters(exclude_categories=["Cs"]), max_size=8)
LEAVES = st.none() | st.booleans() | st.integers(-(2**40), 2**70) | st.floats(allow_nan=False) | TEXT
VALUES = st.recursive(LEAVES, lambda inner: st.lists(inner, max_size=3) | st.dictionaries(TEXT, inner, max_size=3))
FIELDS = st.sampled_from(
    ["text", "labels", "fields", "multi_label", "threshold", "mode", "template", "prompt", "seed", "top_p", "stream"]
)
PATHS = st.sampled_from(["/api/classify", "/api/classify_async", "/api/extract", "/api/prompt"])


async def post(path: str, content: bytes) -> httpx.Response:
    app = create_app(Service(ScriptedPipeline(), LIBRARY, Settings()))
    transport = httpx.ASGITransport(app, raise_app_exceptions=False)
    async with httpx.AsyncClient(transport=transport, base_url="http://t") as client:
        response = await client.post(path, content=content, headers={"Content-Type": "application/json"})
    await app.state.store.aclose()
    return response


def check(response: httpx.Response) -> None:
    assert response.status_code in (200, 202, 400)
    if response.status_code == 400:
        assert set(response.json()["error"]) == {"code", "message", "param", "request_id"}


@settings(max_examples=60, deadline=None)
@given(PATHS, st.dictionaries(FIELDS, VALUES, max_size=5))
def test_any_body(path: str, body: dict[str, Any]) -> None:
    # Integers beyond 64 bits are JSON, too; orjson alone does not write them.
    content = orjson.dumps(body, default=str) if _fits(body) else repr(body).encode("utf-8", "replace")
    check(asyncio.run(post(path, content)))


@settings(max_examples=40, deadline=None)
@given(PATHS, st.binary(max_size=40))
def test_any_bytes(path: str, content: bytes) -> None:
    check(asyncio.run(post(path, content)))


def _fits(value: Any) -> bool:
    if isinstance(value, dict):
        return all(map(_fits, value.values()))
    if isinstance(value, list):
        return all(map(_fits, value))
    return not isinstance(value, int) or -(2**63) <= value < 2**64
