"""A checkpoint in the layout of SeqGPT-560M's hub page (fp16 ``pytorch_model.bin``) answers through the product."""

from __future__ import annotations

from pathlib import Path

import httpx
import pytest

from tests.checkpoints import write_checkpoint
from tests.web_server import running_app

pytestmark = [pytest.mark.model, pytest.mark.timeout(300)]
TEXT = "  张三在北京大学（海淀）工作，None😀\n"
VARIANTS = [
    ("float32", "none", True),
    ("bfloat16", "none", False),
    ("float32", "nf4", False),
    ("float32", "int8", True),
]


@pytest.mark.parametrize(("dtype", "quantization", "with_gen"), VARIANTS)
def test_every_precision_answers(tmp_path: Path, dtype: str, quantization: str, with_gen: bool) -> None:
    folder = write_checkpoint(tmp_path / "SeqGPT-560M", with_gen=with_gen)
    with running_app(backend="auto", checkpoint=str(folder), dtype=dtype, quantization=quantization) as url:
        status = httpx.get(f"{url}/api/status", timeout=30).json()
        assert status["model"]["is_demo"] is False
        assert (status["model"]["dtype"], status["model"]["quantization"]) == (dtype, quantization)
        labels = ["投诉", "投诉建议", "表扬 (好)"]
        for mode in ("fast", "precise", "official"):
            body = {"text": TEXT, "labels": labels, "mode": mode}
            classified = httpx.post(f"{url}/api/classify", json=body, timeout=60)
            assert classified.status_code == 200, classified.text
            (result,) = classified.json()["results"]
            assert {item["label"] for item in result["labels"]} <= set(labels)
            assert result["prompt"].endswith("输出: [GEN]" if with_gen else "输出:")
        extracted = httpx.post(f"{url}/api/extract", json={"text": TEXT, "fields": "人名,地名"}, timeout=60)
        assert extracted.status_code == 200, extracted.text
        for entity in extracted.json()["results"][0]["entities"]:
            assert TEXT[entity["start"] : entity["end"]] == entity["text"]
        free = httpx.post(f"{url}/api/prompt", json={"prompt": "你好", "max_new_tokens": 5}, timeout=60)
        assert free.status_code == 200, free.text
