"""Results as JSON. REST, the named page endpoints, the pages and the command line all show exactly these objects."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from seqgpt_ui.prompt.templates import TaskTemplate
from seqgpt_ui.protocol import InfoResponse, ModelInfo
from seqgpt_ui.tasks.results import Classification, Entity, Extraction, FreeAnswer, Notice, ShardTrace

Json = dict[str, Any]
MODEL_FIELDS = {"name", "is_demo", "device", "dtype", "quantization"}


def classification_json(result: Classification) -> Json:
    """One classified text."""
    return {
        "labels": [{"label": item.label, "score": item.score} for item in result.labels],
        "scores": None if result.scores is None else dict(result.scores),
        **_traces(result),
        "mass": result.mass,
    }


def extraction_json(result: Extraction) -> Json:
    """One text whose fields were looked for."""
    return {
        "entities": [_entity_json(entity) for entity in result.entities],
        "fields": {field: list(values) for field, values in result.fields.items()},
        **_traces(result),
    }


def free_json(result: FreeAnswer) -> Json:
    """The answer to a free prompt."""
    return {
        "text": result.text,
        "prompt": result.prompt,
        "finish_reason": result.finish_reason,
        "num_prompt_tokens": result.num_prompt_tokens,
        "num_tokens": result.num_tokens,
        "warnings": _notices(result.warnings),
    }


def model_json(model: ModelInfo | None) -> Json | None:
    """The part of the model's description that goes with every answer."""
    return None if model is None else model.model_dump(include=MODEL_FIELDS)


def status_json(info: InfoResponse) -> Json:
    """The worker's state; its folders are nobody's business outside."""
    return info.model_dump(mode="json", exclude={"model": {"path"}})


def template_json(template: TaskTemplate) -> Json:
    """One entry of the template library."""
    return {
        "id": template.id,
        "name": template.name,
        "version": template.version,
        "task": template.task,
        "title": dict(template.title),
        "labels": list(template.labels),
        "multi_label": template.multi_label,
        "examples": [
            {"text": example.text, "labels": None if example.labels is None else list(example.labels)}
            for example in template.examples
        ],
    }


def _traces(result: Classification | Extraction) -> Json:
    return {
        "prompt": result.prompt,
        "raw": result.raw,
        "windows": result.windows,
        "num_tokens": result.num_tokens,
        "warnings": _notices(result.warnings),
        "shards": [_shard_json(shard) for shard in result.shards],
        "template": result.template,
        "mode": result.mode,
    }


def _entity_json(entity: Entity) -> Json:
    return {
        "field": entity.field,
        "text": entity.text,
        "start": entity.start,
        "end": entity.end,
        "score": entity.score,
        "occurrences": [list(pair) for pair in entity.occurrences],
    }


def _shard_json(shard: ShardTrace) -> Json:
    return {
        "prompt": shard.prompt,
        "raw": shard.raw,
        "labels": list(shard.labels),
        "start": shard.start,
        "end": shard.end,
        "num_tokens": shard.num_tokens,
        "finish_reason": shard.finish_reason,
        "scores": None if shard.scores is None else dict(shard.scores),
    }


def _notices(warnings: Sequence[Notice]) -> list[Json]:
    return [{"code": item.code, "message": item.message, "values": dict(item.values)} for item in warnings]
