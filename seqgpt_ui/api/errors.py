"""Turns whatever goes wrong into the one JSON envelope, with a message that names the value and the way out."""

from __future__ import annotations

import logging
import math
from reprlib import Repr
from typing import Any

from fastapi import FastAPI, Request
from fastapi.exceptions import RequestValidationError
from starlette.exceptions import HTTPException
from starlette.responses import JSONResponse

from seqgpt_ui.api.answers import ErrorResponse
from seqgpt_ui.errors import SeqGPTError

HTTP_CODES = {404: "not_found", 405: "method_not_allowed", 413: "body_too_large"}
# "default" also keeps FastAPI from announcing its own 422, which this API never sends.
RESPONSES: dict[int | str, dict[str, Any]] = {
    400: {"model": ErrorResponse, "description": "a value is wrong; `param` names it"},
    405: {"model": ErrorResponse, "description": "no such method here"},
    413: {"model": ErrorResponse, "description": "the body is too large"},
    429: {
        "model": ErrorResponse,
        "description": "the queue is full",
        "headers": {"Retry-After": {"description": "seconds", "schema": {"type": "integer"}}},
    },
    503: {
        "model": ErrorResponse,
        "description": "the model is not ready",
        "headers": {"Retry-After": {"description": "seconds", "schema": {"type": "integer"}}},
    },
    504: {"model": ErrorResponse, "description": "the request ran out of its time"},
    "default": {"model": ErrorResponse, "description": "any other failure"},
}
_logger = logging.getLogger(__name__)


def install_error_handlers(app: FastAPI) -> None:
    """Make every failure of ``app`` answer in the envelope."""
    app.add_exception_handler(SeqGPTError, _product_error)
    app.add_exception_handler(RequestValidationError, _validation_error)
    app.add_exception_handler(HTTPException, _http_error)
    app.add_exception_handler(Exception, _unexpected_error)


def error_body(code: str, message: str, *, param: str | None, request_id: str | None) -> dict[str, Any]:
    """The envelope."""
    return {"error": {"code": code, "message": message, "param": param, "request_id": request_id}}


def product_error_body(error: SeqGPTError, request_id: str | None) -> dict[str, Any]:
    """The envelope of one of our own errors."""
    return error_body(error.code, error.message, param=error.param, request_id=request_id)


def request_id_of(request: Request) -> str | None:
    """The id that the middleware gave to this request."""
    return getattr(request.state, "request_id", None)


def describe_validation(errors: list[Any], expectations: dict[str, str]) -> tuple[str | None, str]:
    """Field and message for the first of pydantic's findings; ``expectations`` says per field what is accepted."""
    first = errors[0]
    path = [str(part) for part in first["loc"][1:]]
    if first["type"] == "json_invalid":
        return None, f"the body is not valid JSON: {first['ctx']['error']} (character {first['loc'][1]})"
    if not path:
        return None, "the body must be a JSON object sent as application/json"
    field = path[0]
    if first["type"] == "missing":
        return field, f"{field} is missing; expected {expectations.get(field, 'a value')}"
    if first["type"] == "extra_forbidden":
        return field, f"unknown field {field!r}; known: {', '.join(expectations)}"
    value = _shortened(first["input"])
    return field, f"{field} is {value}: {first['msg'][:1].lower()}{first['msg'][1:]}; expected {expectations[field]}"


def _shortened(value: Any) -> str:
    """Enough of a wrong value to recognise it, however large or deeply nested it is."""
    limits = Repr()
    limits.maxlevel, limits.maxlist, limits.maxdict, limits.maxstring, limits.maxother = 2, 4, 4, 80, 80
    return limits.repr(value)


async def _product_error(request: Request, error: Exception) -> JSONResponse:
    assert isinstance(error, SeqGPTError)
    headers = {}
    if error.http_status in (429, 503):
        headers["Retry-After"] = str(max(1, math.ceil(error.retry_after_s or 1)))
    return JSONResponse(product_error_body(error, request_id_of(request)), error.http_status, headers)


async def _validation_error(request: Request, error: Exception) -> JSONResponse:
    assert isinstance(error, RequestValidationError)
    param, message = describe_validation(list(error.errors()), _expectations(request))
    return JSONResponse(
        error_body("invalid_request", message, param=param, request_id=request_id_of(request)), status_code=400
    )


def _expectations(request: Request) -> dict[str, str]:
    """What the fields of this route's body accept, from their descriptions."""
    body_field = getattr(request.scope.get("route"), "body_field", None)
    model = getattr(getattr(body_field, "field_info", None), "annotation", None)
    fields = getattr(model, "model_fields", {})
    return {name: info.description or "another value" for name, info in fields.items()}


async def _http_error(request: Request, error: Exception) -> JSONResponse:
    assert isinstance(error, HTTPException)
    code = HTTP_CODES.get(error.status_code, "invalid_request")
    body = error_body(code, str(error.detail), param=None, request_id=request_id_of(request))
    return JSONResponse(body, error.status_code, error.headers)


async def _unexpected_error(request: Request, error: Exception) -> JSONResponse:
    request_id = request_id_of(request)
    _logger.error("unexpected error", exc_info=error)
    message = "an unexpected error happened; the log has the details under this request_id"
    # Written outside the middleware that adds this header to every other answer.
    headers = {"X-Request-ID": request_id} if request_id else None
    return JSONResponse(error_body("internal_error", message, param=None, request_id=request_id), 500, headers)
