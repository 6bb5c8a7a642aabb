"""What is sent has exactly the shape that the OpenAPI document announces."""

from __future__ import annotations

import pytest

from seqgpt_ui.api.answers import (
    ClassificationAnswer,
    ExtractionAnswer,
    FreeAnswerBody,
    ModelAnswer,
    StatusResponse,
    TemplateAnswer,
)
from seqgpt_ui.api.serialize import (
    classification_json,
    extraction_json,
    free_json,
    model_json,
    status_json,
    template_json,
)
from seqgpt_ui.prompt.templates import TaskTemplate, TemplateLibrary
from seqgpt_ui.protocol import InfoResponse
from tests.fakes_web import LOADING, MODEL, NOTICE, READY, classification, extraction, free_answer


def test_classification() -> None:
    for result in (classification(), classification(scores=None, mass=None, warnings=(NOTICE,), shards=())):
        ClassificationAnswer.model_validate(classification_json(result))


def test_extraction() -> None:
    for result in (extraction(), extraction(entities=(), fields={}, warnings=(NOTICE,))):
        ExtractionAnswer.model_validate(extraction_json(result))


def test_free_answer() -> None:
    FreeAnswerBody.model_validate(free_json(free_answer(warnings=(NOTICE,))))


def test_model() -> None:
    ModelAnswer.model_validate(model_json(MODEL))
    assert model_json(None) is None


@pytest.mark.parametrize("info", [READY, LOADING])
def test_status(info: InfoResponse) -> None:
    StatusResponse.model_validate(status_json(info))


@pytest.mark.parametrize("template", TemplateLibrary.from_folder().presets(), ids=lambda template: template.id)
def test_template(template: TaskTemplate) -> None:
    TemplateAnswer.model_validate(template_json(template))


def test_json_is_a_copy() -> None:
    result = classification()
    classification_json(result)["scores"].clear()
    assert result.scores == {"体育": 0.75, "财经": 0.25}
