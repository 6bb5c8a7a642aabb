"""The pages over the scripted pipeline, mounted behind REST as in the product, driven in this process."""

from __future__ import annotations

from collections.abc import AsyncIterator
from typing import Any

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
async def service(pipeline: ScriptedPipeline) -> Service:
    return Service(pipeline, TemplateLibrary.from_folder(), Settings(deadline_s=30))


@pytest.fixture
async def blocks(service: Service) -> Any:
    from seqgpt_ui.ui.blocks import create_blocks

    return create_blocks(service)


@pytest.fixture
async def web(service: Service, blocks: Any) -> AsyncIterator[FastAPI]:
    from seqgpt_ui.ui.blocks import mount_pages

    app = mount_pages(create_app(service), blocks)
    async with app.router.lifespan_context(app):
        yield app


@pytest.fixture
async def client(web: FastAPI) -> AsyncIterator[httpx.AsyncClient]:
    transport = httpx.ASGITransport(web, raise_app_exceptions=False)
    async with httpx.AsyncClient(transport=transport, base_url="http://127.0.0.1:7860", timeout=30) as client:
        yield client
