"""The worker's state as a banner and as cards."""

from __future__ import annotations

from html import escape

from seqgpt_ui.protocol import InfoResponse, ModelInfo
from seqgpt_ui.ui.i18n import Language, tr

DOWNLOAD_COMMAND = "<code>python -m seqgpt_ui download</code>"


def banner_html(info: InfoResponse, language: Language) -> str:
    """Which model answers, or why none does yet; in one line on top of every page."""
    if info.state == "ready" and info.model is not None:
        kind = "demo" if info.model.is_demo else "full"
        values = {"name": escape(info.model.name), "command": DOWNLOAD_COMMAND}
        return _banner(kind, tr(f"banner.{kind}", language, **values))
    text = tr(f"banner.{info.state}", language, cause=escape(info.cause or "")) if info.state != "ready" else ""
    return _banner(info.state, text)


def _banner(kind: str, text: str) -> str:
    return f'<div class="banner banner-{kind}" role="status"><span class="dot"></span><span>{text}</span></div>'


def status_html(info: InfoResponse, language: Language) -> str:
    """All that is known about worker and model, as cards."""
    cards: list[tuple[str, str, str]] = [("state", tr(f"state.{info.state}", language), info.state)]
    if info.cause:
        cards.append(("cause", info.cause, "wide"))
    if info.model is not None:
        cards += _model_cards(info.model, language)
    # Without a version nobody has answered, and zeros would only look like answers.
    if info.version:
        cards += _worker_cards(info, language)
    if info.choice_reason:
        cards.append(("reason", info.choice_reason, "wide"))
    body = "".join(
        f'<div class="card card-{kind}"><dt>{escape(tr(f"status.{name}", language))}</dt><dd>{escape(value)}</dd></div>'
        for name, value, kind in cards
    )
    return f'<dl class="cards">{body}</dl>'


def _model_cards(model: ModelInfo, language: Language) -> list[tuple[str, str, str]]:
    precision = model.dtype
    if model.quantization != "none":
        precision = f"{model.quantization} / {model.dtype}"
    return [
        ("model", model.name, "plain"),
        ("device", model.device, "plain"),
        ("precision", precision, "plain"),
        ("backend", model.backend, "plain"),
        ("parameters", f"{model.num_parameters / 1e6:,.1f} M", "plain"),
        ("context", tr("status.tokens", language, count=f"{model.max_prompt_tokens:,}"), "plain"),
    ]


def _worker_cards(info: InfoResponse, language: Language) -> list[tuple[str, str, str]]:
    queue = tr("status.queue_value", language, running=info.num_running, waiting=info.num_waiting, limit=info.max_queue)
    rate = tr("status.rate_value", language, rate=f"{info.tokens_per_s:,.0f}", finished=f"{info.num_finished:,}")
    device = ""
    if info.device_memory_bytes is not None:
        device = tr("status.device_memory", language, size=size_text(info.device_memory_bytes))
    memory = tr("status.memory_value", language, rss=size_text(info.rss_bytes), device=device)
    return [
        ("queue", queue, "plain"),
        ("rate", rate, "plain"),
        ("memory", memory, "plain"),
        ("uptime", duration_text(info.uptime_s), "plain"),
        ("version", info.version or tr("status.unknown", language), "plain"),
    ]


def size_text(num_bytes: int) -> str:
    """Bytes in the unit that reads best."""
    if num_bytes >= 2**30:
        return f"{num_bytes / 2**30:.1f} GiB"
    return f"{num_bytes / 2**20:.0f} MiB"


def duration_text(seconds: float) -> str:
    """Hours, minutes and seconds as ``1:02:03``."""
    hours, rest = divmod(int(seconds), 3600)
    return f"{hours}:{rest // 60:02d}:{rest % 60:02d}"
