"""A REST app over the scripted pipeline, driven in this process."""

from __future__ import annotations

from collections.abc import AsyncIterator

import httpx
import pytest
from fastapi import FastAPI

from seqgpt_ui.api.app import create_app
from seqgpt_ui.api.service import Service
from seqgpt_ui.prompt.templates import TemplateLibrary
from seqgpt_ui.settings import Settings
from tests.fakes_web import ScriptedPipeline


@pytest.fixture
def anyio_backend() -> str:
    return "asyncio"


@pytest.fixture
async def pipeline() -> ScriptedPipeline:
    return ScriptedPipeline()


@pytest.fixture
async def app(pipeline: ScriptedPipeline) -> FastAPI:
    settings = Settings(max_body_bytes=20_000, deadline_s=30.0)
    return create_app(Service(pipeline, TemplateLibrary.from_folder(), settings))


@pytest.fixture
async def client(app: FastAPI) -> AsyncIterator[httpx.AsyncClient]:
    # An app that answers 500 also raises; the tests look at the answer.
    transport = httpx.ASGITransport(app, raise_app_exceptions=False)
    async with (
        httpx.AsyncClient(transport=transport, base_url="http://test") as client,
        app.router.lifespan_context(app),
    ):
        yield client
