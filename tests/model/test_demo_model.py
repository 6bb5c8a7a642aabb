"""The demo model as it is shipped: small, loadable, and right often enough to be worth meeting.

The rows come from the project's own generator with a seed that training never used. Measured on 250 rows each: accuracy
0.51 (chance is 0.25) and F1 0.63; the thresholds lie below, so that they fail for a broken model and not for a new one.
"""

from __future__ import annotations

import asyncio
import json
from pathlib import Path

import pytest
from safetensors import safe_open

from seqgpt_ui.pipeline import Pipeline
from seqgpt_ui.prompt.templates import TaskTemplate, TemplateLibrary
from seqgpt_ui.tasks.requests import ClassifyRequest, ExtractRequest, PromptRequest
from seqgpt_ui.tasks.results import Classification, Extraction
from seqgpt_ui.worker.engine.core import EngineCore
from training.evaluate import Evaluator
from training.generator import generate
from training.rows import Row

pytestmark = pytest.mark.model
UNSEEN_SEED = 987_654
PRESETS = [template for template in TemplateLibrary.from_folder().presets() if template.task != "prompt"]
LONG = "2024年3月5日，张伟在北京大学发表演讲，谈到了人工智能的未来。" * 40


def rows_of(task: str, count: int) -> list[Row]:
    return [row for row in generate(6 * count, seed=UNSEEN_SEED) if row.task == task][:count]


def classify(pipeline: Pipeline, text: str, labels: tuple[str, ...], *, mode: str = "fast") -> Classification:
    request = ClassifyRequest(texts=(text,), labels=labels, mode=mode)  # type: ignore[arg-type]
    return asyncio.run(pipeline.classify(request))[0]


def extract(pipeline: Pipeline, text: str, fields: tuple[str, ...], *, mode: str = "fast") -> Extraction:
    request = ExtractRequest(texts=(text,), fields=fields, mode=mode)  # type: ignore[arg-type]
    return asyncio.run(pipeline.extract(request))[0]


def test_it_is_small_and_half_precision(demo: Path) -> None:
    assert (demo / "model.safetensors").stat().st_size < 25_000_000
    with safe_open(demo / "model.safetensors", framework="np") as weights:
        assert {str(weights.get_slice(name).get_dtype()) for name in weights.keys()} == {"F16"}  # noqa: SIM118
    assert json.loads((demo / "config.json").read_text(encoding="utf-8"))["model_type"] == "bloom"
    card = (demo / "README.md").read_text(encoding="utf-8")
    assert all(word in card for word in ("licence", "CC BY-SA", "cannot"))


def test_its_vocabulary_is_like_blooms(core: EngineCore) -> None:
    tokenizer = core.tokenizer()
    assert tokenizer.gen_id == core.model.vocab_size - 1
    assert 5_000_000 <= core.model.num_parameters <= 10_000_000


@pytest.mark.parametrize(
    ("task", "count", "measure", "least"), [("classify", 120, "accuracy", 0.4), ("extract", 40, "f1", 0.5)]
)
def test_it_is_right_on_rows_that_it_never_saw(
    pipeline: Pipeline, task: str, count: int, measure: str, least: float
) -> None:
    report = asyncio.run(Evaluator(pipeline, "fast").evaluate("generated", rows_of(task, count)))
    values = {item.name: item.value for item in report.measures}
    assert values[measure] >= least


@pytest.mark.parametrize("template", PRESETS, ids=lambda template: template.id)
def test_every_template_answers_its_examples(pipeline: Pipeline, template: TaskTemplate) -> None:
    for example in template.examples:
        labels = example.labels or template.labels
        if template.task == "classify":
            result = classify(pipeline, example.text, labels)
            assert {scored.label for scored in result.labels} <= set(labels)
            assert result.scores is not None
            assert sum(score or 0.0 for score in result.scores.values()) == pytest.approx(1.0)
        else:
            found = extract(pipeline, example.text, labels)
            assert {entity.field for entity in found.entities} <= set(labels)
            assert all(example.text[entity.start : entity.end] == entity.text for entity in found.entities)


@pytest.mark.parametrize("mode", ["fast", "precise", "official"])
def test_all_modes_answer(pipeline: Pipeline, mode: str) -> None:
    assert classify(pipeline, "手机很好用，屏幕清晰，推荐购买！", ("正面", "负面"), mode=mode).labels[0].label == "正面"
    found = extract(pipeline, "张伟在北京大学工作", ("人名", "机构名"), mode=mode)
    assert "张伟" in found.fields["人名"]


def test_fast_and_precise_classify_alike(pipeline: Pipeline) -> None:
    for row in rows_of("classify", 10):
        fast, precise = (classify(pipeline, row.text, row.labels, mode=mode) for mode in ("fast", "precise"))
        assert fast.scores == precise.scores


def test_answers_repeat(pipeline: Pipeline) -> None:
    for row in rows_of("extract", 5):
        assert extract(pipeline, row.text, row.labels) == extract(pipeline, row.text, row.labels)


def test_long_texts_are_windowed_with_right_offsets(pipeline: Pipeline) -> None:
    found = extract(pipeline, LONG, ("人名", "机构名", "时间"))
    assert found.windows > 1
    assert found.entities
    assert all(LONG[entity.start : entity.end] == entity.text for entity in found.entities)
    assert max(entity.end or 0 for entity in found.entities) > len(LONG) * 0.8, "the end of the text is read too"


def test_free_prompts_answer_in_the_learnt_format(pipeline: Pipeline) -> None:
    request = PromptRequest(prompt="输入: 手机很好用，推荐购买！\n分类: 正面，负面\n输出:", max_new_tokens=20)
    answer = asyncio.run(pipeline.prompt(request))
    assert answer.text == "正面\n"
    assert answer.finish_reason == "stop"
