"""POST /api/classify: what is passed on, what comes back."""

from __future__ import annotations

from typing import Any

import httpx
import pytest

from seqgpt_ui.tasks.requests import ClassifyRequest
from seqgpt_ui.tasks.results import LabelScore
from tests.fakes_web import NOTICE, ScriptedPipeline, classification

pytestmark = pytest.mark.anyio


async def test_answer_has_the_public_shape(client: httpx.AsyncClient) -> None:
    response = await client.post("/api/classify", json={"text": "主队赢了", "labels": ["体育", "财经"]})
    assert response.status_code == 200
    answer = response.json()
    assert answer["model"] == {
        "name": "seqgpt-mini",
        "is_demo": True,
        "device": "cpu",
        "dtype": "float32",
        "quantization": "none",
    }
    (result,) = answer["results"]
    assert result["labels"] == [{"label": "体育", "score": 0.75}]
    assert result["scores"] == {"体育": 0.75, "财经": 0.25}
    assert result["prompt"] == "输入: x\n分类: 体育，财经\n输出: [GEN]"
    assert (result["raw"], result["windows"], result["num_tokens"], result["mass"]) == ("体育\n", 1, 21, 0.5)
    assert result["warnings"] == []
    assert result["shards"][0]["labels"] == ["体育", "财经"]


async def test_defaults_are_those_of_the_contract(client: httpx.AsyncClient, pipeline: ScriptedPipeline) -> None:
    await client.post("/api/classify", json={"text": "a", "labels": "x,y"})
    assert pipeline.requests == [
        ClassifyRequest(texts=("a",), labels="x,y", multi_label=False, mode="fast", deadline_s=30.0)
    ]


async def test_every_field_reaches_the_pipeline(client: httpx.AsyncClient, pipeline: ScriptedPipeline) -> None:
    body: dict[str, Any] = {
        "text": ["a", "b"],
        "labels": ["x", "y, z"],
        "multi_label": True,
        "threshold": 0.5,
        "min_labels": 1,
        "max_labels": 2,
        "fallback_label": "x",
        "all_scores": True,
        "mode": "precise",
        "template": "sentiment",
    }
    response = await client.post("/api/classify", json=body)
    assert response.status_code == 200
    expected = {**body, "texts": ("a", "b"), "labels": ("x", "y, z"), "deadline_s": 30.0}
    del expected["text"]
    assert pipeline.requests == [ClassifyRequest(**expected)]


async def test_results_keep_the_order_of_the_texts(client: httpx.AsyncClient, pipeline: ScriptedPipeline) -> None:
    pipeline.classify_answer = lambda text: classification(raw=text)
    texts = [f"text {number}" for number in range(20)]
    response = await client.post("/api/classify", json={"text": texts, "labels": "x"})
    assert [result["raw"] for result in response.json()["results"]] == texts


async def test_unknown_scores_are_null_and_warnings_are_told(
    client: httpx.AsyncClient, pipeline: ScriptedPipeline
) -> None:
    pipeline.classify_answer = lambda text: classification(
        labels=(LabelScore("体育", None),), scores=None, mass=None, warnings=(NOTICE,)
    )
    response = await client.post("/api/classify", json={"text": "a", "labels": "x"})
    (result,) = response.json()["results"]
    assert result["labels"] == [{"label": "体育", "score": None}]
    assert result["scores"] is None
    assert result["mass"] is None
    assert result["warnings"] == [
        {"code": "duplicate_labels", "message": "1 label was given twice", "values": {"count": 1}}
    ]


async def test_labels_may_come_from_the_template(client: httpx.AsyncClient, pipeline: ScriptedPipeline) -> None:
    response = await client.post("/api/classify", json={"text": "a", "template": "sentiment"})
    assert response.status_code == 200
    assert pipeline.requests[0].labels is None
