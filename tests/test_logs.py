"""What a log line holds, and what it never holds."""

from __future__ import annotations

import io
import json
import logging
from collections.abc import Iterator
from typing import Any

import pytest

from seqgpt_ui.errors import CheckpointError, EngineFailed, TextTooLong
from seqgpt_ui.logs import configure_logging, describe_exception, request_id_var

SECRET = "某人的秘密"


@pytest.fixture(autouse=True)
def _restored_logging() -> Iterator[None]:
    root = logging.getLogger()
    handlers, level = list(root.handlers), root.level
    yield
    root.handlers[:] = handlers
    root.setLevel(level)


def caught(error: Exception, cause: BaseException | None = None) -> Exception:
    """``error`` as it looks after it was raised."""
    try:
        raise error from cause
    except type(error) as raised:
        return raised


def logged(form: str = "json", level: str = "info") -> tuple[logging.Logger, io.StringIO]:
    stream = io.StringIO()
    configure_logging("worker", level=level, form=form, stream=stream)
    return logging.getLogger("seqgpt_ui.test"), stream


def entry(stream: io.StringIO) -> Any:
    return json.loads(stream.getvalue())


def test_a_line_is_one_json_object() -> None:
    logger, stream = logged()
    logger.info("two\nlines %d", 2, extra={"fields": {"status": 200, "nothing": None}})
    assert stream.getvalue().count("\n") == 1
    line = entry(stream)
    assert line.pop("time").endswith("+00:00")
    assert line == {
        "level": "info",
        "process": "worker",
        "logger": "seqgpt_ui.test",
        "message": "two\nlines 2",
        "status": 200,
    }


def test_the_request_id_is_in_every_line() -> None:
    logger, stream = logged()
    token = request_id_var.set("row-7")
    try:
        logger.info("a")
    finally:
        request_id_var.reset(token)
    assert entry(stream)["request_id"] == "row-7"


def test_the_level_is_kept() -> None:
    logger, stream = logged(level="error")
    logger.warning("a")
    assert stream.getvalue() == ""


def test_talkative_libraries_are_quiet() -> None:
    _, stream = logged(level="debug")
    for name in ("httpx", "httpcore.connection", "asyncio", "bitsandbytes.autograd._functions"):
        logging.getLogger(name).info("POST /v1/generate")
    assert stream.getvalue() == ""


def test_configuring_twice_logs_once() -> None:
    logged()
    logger, stream = logged()
    logger.info("a")
    assert len(stream.getvalue().splitlines()) == 1


def test_text_form_is_one_readable_line() -> None:
    logger, stream = logged("text")
    logger.warning("slow", extra={"fields": {"elapsed_ms": 12}})
    line = stream.getvalue()
    assert line.endswith("warning seqgpt_ui.test: slow elapsed_ms=12\n")


@pytest.mark.parametrize("form", ["json", "text"])
def test_an_exception_is_told_by_type_and_stack_but_not_by_what_a_caller_sent(form: str) -> None:
    logger, stream = logged(form)
    for error in (ValueError(SECRET), KeyError(SECRET), UnicodeError(SECRET), TextTooLong(SECRET)):
        logger.error("failed", exc_info=caught(error, caught(LookupError(SECRET))))
    output = stream.getvalue()
    assert SECRET not in output
    assert SECRET.encode("unicode_escape").decode() not in output
    assert output.count("caused by LookupError") == 4
    assert "KeyError at caught (" in output
    assert "test_logs.py" in output


@pytest.mark.parametrize(
    "error", [CheckpointError("no weights"), EngineFailed("gone"), OSError(2, "missing"), RuntimeError("out of memory")]
)
def test_messages_that_hold_no_text_are_kept(error: Exception) -> None:
    assert str(error) in describe_exception(caught(error))


def test_contexts_are_told_unless_suppressed() -> None:
    try:
        try:
            raise OSError("first")
        except OSError:
            raise RuntimeError("second")  # noqa: B904 - the implicit context is what is tested
    except RuntimeError as error:
        assert "caused by OSError: first" in describe_exception(error)
    assert "caused by" not in describe_exception(caught(RuntimeError("x")))


def test_an_error_that_was_never_raised_has_no_stack() -> None:
    assert describe_exception(RuntimeError("x")) == "RuntimeError: x"
