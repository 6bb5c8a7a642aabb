"""The one error tree. Every class has a stable ``code``, an ``http_status`` and says whether a retry may help.

SeqGPTError
├── InvalidRequest          400  the caller sent something wrong; ``param`` names the field
│   ├── InvalidLabels       400
│   ├── InvalidTemplate     400
│   ├── LabelsTooLong       400  the labels alone fill the model's context
│   └── TextTooLong         400
├── SettingsError           500  a setting cannot be read; stops the start
├── CheckpointError         500  weights or tokenizer cannot be loaded
├── NotFound                404
├── WorkerError             502  the worker answered something that the protocol does not know
├── WorkerUnavailable       503  no worker answers (starting, restarting or stopped); retryable
├── QueueFull               429  the bounded queue is full; retryable
├── DeadlineExceeded        504  the request ran out of its time; retryable
├── Cancelled               499  the caller left
└── EngineFailed            500  a step of the model failed
"""

from __future__ import annotations

from typing import ClassVar, Literal


class SeqGPTError(Exception):
    """Base of all product errors. ``message`` is for people, ``param`` names the field, ``details`` fill messages."""

    code: ClassVar[str] = "internal_error"
    http_status: ClassVar[int] = 500
    retryable: ClassVar[bool] = False

    def __init__(self, message: str, *, param: str | None = None, retry_after_s: float | None = None) -> None:
        super().__init__(message)
        self.message = message
        self.param = param
        self.retry_after_s = retry_after_s


class InvalidRequest(SeqGPTError):
    """The caller sent a wrong value."""

    code, http_status = "invalid_request", 400


class InvalidLabels(InvalidRequest):
    """Labels or fields are missing, empty, too many or hold a line break."""

    code = "invalid_labels"


class InvalidTemplate(InvalidRequest):
    """A template cannot be read, is not allowed or is unknown."""

    code = "invalid_template"


class LabelsTooLong(InvalidRequest):
    """One label or the label list leaves no room for any text."""

    code = "labels_too_long"


class TextTooLong(InvalidRequest):
    """The text is longer than the service accepts."""

    code = "text_too_long"


class SettingsError(SeqGPTError):
    """A setting has an unknown name or an unreadable value."""

    code = "invalid_settings"


class CheckpointError(SeqGPTError):
    """A checkpoint is missing, incomplete or of another architecture."""

    code = "checkpoint_error"


class NotFound(SeqGPTError):
    """No such thing under this name."""

    code, http_status = "not_found", 404


class WorkerError(SeqGPTError):
    """The worker answered outside the protocol."""

    code, http_status = "worker_error", 502


class WorkerUnavailable(SeqGPTError):
    """No worker answers, or it is still loading."""

    code, http_status, retryable = "worker_unavailable", 503, True


class QueueFull(SeqGPTError):
    """The bounded queue is full; ``retry_after_s`` says when to come back."""

    code, http_status, retryable = "queue_full", 429, True


class DeadlineExceeded(SeqGPTError):
    """The request did not finish in its time."""

    code, http_status, retryable = "deadline_exceeded", 504, True


class Cancelled(SeqGPTError):
    """The caller went away or asked to stop."""

    code, http_status = "cancelled", 499


class EngineFailed(SeqGPTError):
    """A step of the model failed; the requests of that step fail with it."""

    code = "engine_failed"


def raise_if_stopped(reason: Literal["cancelled", "deadline"] | None) -> None:
    """Turn a control's reason to stop into its error; do nothing for None."""
    if reason == "cancelled":
        raise Cancelled("the caller left")
    if reason == "deadline":
        raise DeadlineExceeded("the request ran out of its time; send less at once or raise deadline_s")
