"""The OpenAPI document is a contract: it changes only on purpose, and the app keeps to it."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import httpx
import pytest
from fastapi import FastAPI

from tests.goldens import check_golden

pytestmark = pytest.mark.anyio
GOLDEN = Path(__file__).parent / "golden" / "openapi.json"


@pytest.fixture
async def document(client: httpx.AsyncClient) -> Any:
    return (await client.get("/api/openapi.json")).json()


async def test_document_is_the_agreed_one(document: Any) -> None:
    check_golden(GOLDEN, document)


async def test_endpoints_are_those_of_the_contract(document: Any) -> None:
    found = {(method.upper(), path) for path, methods in document["paths"].items() for method in methods}
    assert found == {
        ("POST", "/api/classify"),
        ("POST", "/api/classify_async"),
        ("GET", "/api/requests/{request_id}"),
        ("POST", "/api/extract"),
        ("POST", "/api/prompt"),
        ("GET", "/api/templates"),
        ("GET", "/api/status"),
        ("GET", "/healthz"),
        ("GET", "/readyz"),
    }


async def test_every_endpoint_announces_its_errors(document: Any) -> None:
    for path, methods in document["paths"].items():
        for operation in methods.values():
            announced = set(operation["responses"])
            assert "422" not in announced
            assert "default" in announced
            if path.startswith("/api/"):
                assert {"400", "405", "413", "429", "503", "504"} <= announced


async def test_bodies_refuse_unknown_fields_and_describe_known_ones(document: Any) -> None:
    for name in ("ClassifyBody", "ExtractBody", "PromptBody"):
        schema = document["components"]["schemas"][name]
        assert schema["additionalProperties"] is False
        assert all("description" in value for value in schema["properties"].values())


async def test_docs_that_load_scripts_from_elsewhere_are_off(client: httpx.AsyncClient) -> None:
    for path in ("/docs", "/redoc"):
        assert (await client.get(path)).status_code == 404


async def test_nothing_is_promised_that_does_not_exist(app: FastAPI, document: Any) -> None:
    schemas = set(document["components"]["schemas"])
    used = str(document)
    assert all(f"#/components/schemas/{name}'" in used for name in schemas)
