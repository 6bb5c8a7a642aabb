"""Templates, status and probes."""

from __future__ import annotations

import httpx
import pytest

from seqgpt_ui.errors import WorkerUnavailable
from seqgpt_ui.prompt.templates import TemplateLibrary
from seqgpt_ui.protocol import InfoResponse
from tests.fakes_web import LOADING, READY, ScriptedPipeline

pytestmark = pytest.mark.anyio


async def test_templates_are_the_whole_library(client: httpx.AsyncClient) -> None:
    listed = (await client.get("/api/templates")).json()["templates"]
    presets = TemplateLibrary.from_folder().presets()
    assert [item["id"] for item in listed] == [preset.id for preset in presets]
    sentiment = next(item for item in listed if item["name"] == "sentiment")
    assert set(sentiment["title"]) == {"zh", "en"}
    assert sentiment["task"] == "classify"
    assert len(sentiment["examples"]) >= 2
    assert set(sentiment["examples"][0]) == {"text", "labels"}


async def test_status_tells_everything_but_folders(client: httpx.AsyncClient) -> None:
    status = (await client.get("/api/status")).json()
    assert status["state"] == "ready"
    assert status["model"]["name"] == "seqgpt-mini"
    assert status["num_waiting"] == 1
    assert "path" not in status["model"]


async def test_status_of_a_worker_that_does_not_answer(client: httpx.AsyncClient, pipeline: ScriptedPipeline) -> None:
    pipeline.state = WorkerUnavailable("no worker answers")
    response = await client.get("/api/status")
    assert response.status_code == 200
    assert (response.json()["state"], response.json()["cause"]) == ("loading", "no worker answers")


async def test_the_process_is_healthy_without_a_model(client: httpx.AsyncClient, pipeline: ScriptedPipeline) -> None:
    pipeline.state = WorkerUnavailable("no worker answers")
    response = await client.get("/healthz")
    assert (response.status_code, response.json()) == (200, {"status": "ok"})


@pytest.mark.parametrize(
    "state",
    [
        LOADING,
        InfoResponse(state="failed", cause="weights are missing"),
        InfoResponse(state="stopping", cause=None),
    ],
)
async def test_not_ready(client: httpx.AsyncClient, pipeline: ScriptedPipeline, state: InfoResponse) -> None:
    pipeline.state = state
    response = await client.get("/readyz")
    assert response.status_code == 503
    assert int(response.headers["retry-after"]) > 0
    assert response.json() == {"status": state.state, "cause": state.cause}


async def test_ready(client: httpx.AsyncClient, pipeline: ScriptedPipeline) -> None:
    pipeline.state = READY
    assert (await client.get("/readyz")).status_code == 200


async def test_model_is_null_when_the_worker_left_in_between(
    client: httpx.AsyncClient, pipeline: ScriptedPipeline
) -> None:
    pipeline.state = WorkerUnavailable("gone")
    response = await client.post("/api/classify", json={"text": "a", "labels": "x"})
    assert response.status_code == 200
    assert response.json()["model"] is None
