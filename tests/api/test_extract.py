"""POST /api/extract."""

from __future__ import annotations

import httpx
import pytest

from seqgpt_ui.tasks.requests import ExtractRequest
from seqgpt_ui.tasks.results import Entity
from tests.fakes_web import ScriptedPipeline, extraction

pytestmark = pytest.mark.anyio


async def test_answer_has_the_public_shape(client: httpx.AsyncClient) -> None:
    response = await client.post("/api/extract", json={"text": "小明在北京", "fields": ["人名", "地点"]})
    assert response.status_code == 200
    (result,) = response.json()["results"]
    assert result["entities"] == [
        {"field": "人名", "text": "小明", "start": 0, "end": 2, "score": 0.9, "occurrences": [[0, 2]]}
    ]
    assert result["fields"] == {"人名": ["小明"], "地点": []}
    assert result["raw"] == "人名: 小明\n地点: None\n"


async def test_every_field_reaches_the_pipeline(client: httpx.AsyncClient, pipeline: ScriptedPipeline) -> None:
    body = {"text": ["a"], "fields": "x；y", "mode": "official", "template": "resume"}
    await client.post("/api/extract", json=body)
    assert pipeline.requests == [
        ExtractRequest(texts=("a",), fields="x；y", mode="official", template="resume", deadline_s=30.0)
    ]


async def test_span_that_is_not_in_the_text_has_null_offsets(
    client: httpx.AsyncClient, pipeline: ScriptedPipeline
) -> None:
    pipeline.extract_answer = lambda text: extraction(entities=(Entity("人名", "小红", None, None, None),))
    response = await client.post("/api/extract", json={"text": "a", "fields": "人名"})
    (entity,) = response.json()["results"][0]["entities"]
    assert (entity["start"], entity["end"], entity["score"], entity["occurrences"]) == (None, None, None, [])
