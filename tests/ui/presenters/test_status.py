"""The worker's state as banner and cards."""

from __future__ import annotations

from dataclasses import dataclass

import pytest

from seqgpt_ui.protocol import InfoResponse
from seqgpt_ui.ui.i18n import LANGUAGES, Language
from seqgpt_ui.ui.presenters.status import banner_html, duration_text, size_text, status_html
from tests.fakes_web import LOADING, MODEL, READY


@dataclass(frozen=True)
class States:
    """All states of a worker."""

    failed = InfoResponse(state="failed", cause="weights <b>missing</b>")
    stopping = InfoResponse(state="stopping")
    full = READY.model_copy(update={"model": MODEL.model_copy(update={"name": "SeqGPT-560M", "is_demo": False})})


ALL = [READY, LOADING, States.failed, States.stopping, States.full]


def test_demo_model_is_named_with_the_way_to_the_other() -> None:
    for language in LANGUAGES:
        banner = banner_html(READY, language)
        assert "seqgpt-mini" in banner
        assert "<code>python -m seqgpt_ui download</code>" in banner
        assert "banner-demo" in banner


def test_full_model_is_named() -> None:
    banner = banner_html(States.full, "en")
    assert "SeqGPT-560M" in banner
    assert "download" not in banner


def test_failure_tells_its_cause_without_markup() -> None:
    assert "weights &lt;b&gt;missing&lt;/b&gt;" in banner_html(States.failed, "en")
    assert "weights &lt;b&gt;missing&lt;/b&gt;" in status_html(States.failed, "zh")


def test_braces_in_a_cause_are_harmless() -> None:
    assert "{x}" in banner_html(InfoResponse(state="failed", cause="{x}"), "en")


@pytest.mark.parametrize("language", LANGUAGES)
@pytest.mark.parametrize("info", ALL, ids=lambda info: str(info.state))
def test_every_state_has_banner_and_cards(info: InfoResponse, language: Language) -> None:
    assert banner_html(info, language).count("<div") == 1
    cards = status_html(info, language)
    assert cards.count("<dt>") == cards.count("<dd>") >= 1


def test_cards_of_a_ready_worker() -> None:
    cards = status_html(READY, "en")
    for part in ("Ready", "seqgpt-mini", "cpu", "float32", "6.8 M", "1,024 tokens", "2 running, 1 / 64 waiting"):
        assert part in cards
    for part in ("321 tokens/s", "12 finished", "512 MiB", "1:02:03", "no SeqGPT-560M on this machine"):
        assert part in cards
    assert "on the device" not in cards


def test_absent_worker_has_no_numbers() -> None:
    assert status_html(LOADING, "en").count("<dt>") == 2
    assert "0 running" not in status_html(LOADING, "en")


def test_device_memory_and_quantisation_where_there_are_any() -> None:
    model = MODEL.model_copy(update={"device": "cuda:0", "quantization": "nf4", "dtype": "float16"})
    cards = status_html(READY.model_copy(update={"device_memory_bytes": 3 * 2**30, "model": model}), "en")
    assert "3.0 GiB on the device" in cards
    assert "nf4 / float16" in cards


@pytest.mark.parametrize(("num_bytes", "shown"), [(0, "0 MiB"), (2**20, "1 MiB"), (2**30, "1.0 GiB")])
def test_sizes(num_bytes: int, shown: str) -> None:
    assert size_text(num_bytes) == shown


@pytest.mark.parametrize(
    ("seconds", "shown"), [(0, "0:00:00"), (59.9, "0:00:59"), (3661, "1:01:01"), (1e6, "277:46:40")]
)
def test_durations(seconds: float, shown: str) -> None:
    assert duration_text(seconds) == shown
