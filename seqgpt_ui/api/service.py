"""What every entrance of the web process does with the pipeline: ask it and shape the answer as public JSON."""

from __future__ import annotations

from collections.abc import AsyncIterator
from dataclasses import dataclass

from seqgpt_ui.api.serialize import Json, classification_json, extraction_json, free_json, model_json, template_json
from seqgpt_ui.errors import SeqGPTError
from seqgpt_ui.pipeline import Pipeline
from seqgpt_ui.prompt.templates import TemplateLibrary
from seqgpt_ui.protocol import InfoResponse
from seqgpt_ui.settings import Settings
from seqgpt_ui.tasks.requests import ClassifyRequest, ExtractRequest, PromptRequest


@dataclass(frozen=True, slots=True)
class Service:
    """The collaborators that REST routes and named page endpoints share."""

    pipeline: Pipeline
    templates: TemplateLibrary
    settings: Settings

    async def classify(self, request: ClassifyRequest, request_id: str | None = None) -> Json:
        """Body of an answer to ``POST /api/classify``."""
        results = await self.pipeline.classify(request, request_id=request_id)
        return {"results": [classification_json(result) for result in results], "model": await self.model()}

    async def extract(self, request: ExtractRequest, request_id: str | None = None) -> Json:
        """Body of an answer to ``POST /api/extract``."""
        results = await self.pipeline.extract(request, request_id=request_id)
        return {"results": [extraction_json(result) for result in results], "model": await self.model()}

    async def prompt(self, request: PromptRequest, request_id: str | None = None) -> Json:
        """Body of an answer to ``POST /api/prompt``."""
        answer = await self.pipeline.prompt(request, request_id=request_id)
        return {"result": free_json(answer), "model": await self.model()}

    async def stream_prompt(self, request: PromptRequest, request_id: str | None = None) -> AsyncIterator[Json]:
        """Events of a streamed answer: ``{"delta"}`` as text arrives, at the end ``{"result", "model"}``."""
        async for event in self.pipeline.stream_prompt(request, request_id=request_id):
            if isinstance(event, str):
                yield {"delta": event}
            else:
                yield {"result": free_json(event), "model": await self.model()}

    async def info(self) -> InfoResponse:
        """State of the worker; one that does not answer counts as loading, with the cause said."""
        try:
            return await self.pipeline.info()
        except SeqGPTError as error:
            return InfoResponse(state="loading", cause=error.message)

    async def model(self) -> Json | None:
        """The model that answers, None when the worker went away in between."""
        return model_json((await self.info()).model)

    def template_list(self) -> Json:
        """Body of an answer to ``GET /api/templates``."""
        return {"templates": [template_json(template) for template in self.templates.presets()]}
