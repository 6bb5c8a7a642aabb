"""Logs of every process: one JSON object (or plain line) per event on standard error, with the request's id.

Texts, labels, prompts and answers are never logged, so an exception is logged with its stack, and with its message
only where the message cannot hold what a caller sent.
"""

from __future__ import annotations

import json
import logging
import sys
import traceback
from contextvars import ContextVar
from datetime import UTC, datetime
from typing import TextIO

from seqgpt_ui.errors import InvalidRequest, SeqGPTError

request_id_var: ContextVar[str | None] = ContextVar("request_id", default=None)
_SAFE_TO_QUOTE = (SeqGPTError, OSError, ImportError, MemoryError, RuntimeError)
# They log each request with its address, or each layer of a quantised model.
_TALKATIVE = ("httpx", "httpcore", "httpx2", "bitsandbytes.autograd._functions", "asyncio")


def describe_exception(error: BaseException) -> str:
    """Type, stack and, where it is safe, message of ``error`` and of what caused it; no text of a caller."""
    parts = []
    current: BaseException | None = error
    while current is not None:
        frames = traceback.extract_tb(current.__traceback__)
        stack = " < ".join(f"{frame.name} ({frame.filename}:{frame.lineno})" for frame in reversed(frames))
        parts.append(f"{_title(current)}{' at ' if stack else ''}{stack}")
        current = current.__cause__ or (None if current.__suppress_context__ else current.__context__)
    return "; caused by ".join(parts)


def _title(error: BaseException) -> str:
    name = type(error).__name__
    is_safe = isinstance(error, _SAFE_TO_QUOTE) and not isinstance(error, InvalidRequest)
    return f"{name}: {error}" if is_safe else name


class JsonFormatter(logging.Formatter):
    """One JSON object per record; ``extra={"fields": {...}}`` adds keys."""

    def __init__(self, process: str) -> None:
        super().__init__()
        self._process = process

    def format(self, record: logging.LogRecord) -> str:
        """The record as one line."""
        entry = {
            "time": datetime.fromtimestamp(record.created, UTC).isoformat(timespec="milliseconds"),
            "level": record.levelname.lower(),
            "process": self._process,
            "logger": record.name,
            "message": record.getMessage(),
            "request_id": request_id_var.get(),
            **getattr(record, "fields", {}),
        }
        if record.exc_info and record.exc_info[1] is not None:
            entry["exception"] = describe_exception(record.exc_info[1])
        return json.dumps({key: value for key, value in entry.items() if value is not None}, ensure_ascii=False)


class TextFormatter(logging.Formatter):
    """The same for people."""

    def format(self, record: logging.LogRecord) -> str:
        """The record as one line."""
        fields = {"request_id": request_id_var.get(), **getattr(record, "fields", {})}
        extra = "".join(f" {key}={value}" for key, value in fields.items() if value is not None)
        clock = datetime.fromtimestamp(record.created).astimezone().strftime("%H:%M:%S")
        line = f"{clock} {record.levelname.lower()} {record.name}: {record.getMessage()}{extra}"
        if record.exc_info and record.exc_info[1] is not None:
            line += f" [{describe_exception(record.exc_info[1])}]"
        return line


def configure_logging(process: str, *, level: str = "info", form: str = "json", stream: TextIO | None = None) -> None:
    """Send everything that this process logs to ``stream`` (standard error by default), ``form`` json or text."""
    handler = logging.StreamHandler(stream or sys.stderr)
    handler.setFormatter(JsonFormatter(process) if form == "json" else TextFormatter())
    root = logging.getLogger()
    root.handlers[:] = [handler]
    root.setLevel(level.upper())
    for name in _TALKATIVE:
        logging.getLogger(name).setLevel(logging.WARNING)
    logging.getLogger("bitsandbytes.autograd._functions").setLevel(logging.ERROR)
