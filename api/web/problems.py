"""Errors as RFC 9457 problem+json: what was wrong, where, and what is allowed; never a stack trace."""

from __future__ import annotations

import json
from collections.abc import Iterator, Mapping, Sequence
from contextlib import contextmanager
from http import HTTPStatus
from typing import Any

import structlog
from fastapi import FastAPI, Request, Response
from fastapi.exceptions import RequestValidationError
from pydantic import BaseModel, ConfigDict, Field
from starlette.exceptions import HTTPException
from starlette.routing import Match

from api.store.core.errors import Conflict, DataError, NotFound, OperationalError
from orchestrator.spec import InvalidTrial
from orchestrator.spec.problems import Problem as SpecProblem
from orchestrator.spec.problems import path_text

log = structlog.get_logger()

MEDIA_TYPE = "application/problem+json"
TITLES = {
    401: "Not signed in",
    403: "Not allowed",
    404: "Not found",
    405: "Method not allowed",
    409: "Not possible as things stand",
    412: "Changed in the meantime",
    413: "Too large",
    422: "The request is not valid",
    429: "Too many requests",
    500: "Something went wrong on our side",
    503: "A part of the system does not answer",
}


class FieldProblem(BaseModel):
    """One field that is wrong."""

    field: str = Field(description="where: body.spec.game.id, query.limit, ...", examples=["body.spec.game.id"])
    message: str = Field(description="what is wrong and what is allowed", examples=["must be one of connect_four, ..."])


class Problem(BaseModel):
    """What went wrong (RFC 9457). Some problems carry more, such as the present `trial_status`."""

    model_config = ConfigDict(extra="allow")

    type: str = Field(default="about:blank", description="kind of problem; the status says enough")
    title: str = Field(description="the kind of problem in words", examples=["Not found"])
    status: int = Field(description="the HTTP status", examples=[404])
    detail: str = Field(description="what was wrong this time and what is allowed", examples=["there is no trial ..."])
    errors: list[FieldProblem] | None = Field(default=None, description="field by field, where fields are wrong")


class Refusal(Exception):
    """Raised by a route to answer with a problem."""

    def __init__(self, status: int, detail: str, *, headers: Mapping[str, str] | None = None, **more: Any) -> None:
        super().__init__(detail)
        self.status = status
        self.detail = detail
        self.headers = dict(headers or {})
        self.more = more


def problem(status: int, detail: str, *, headers: Mapping[str, str] | None = None, **more: Any) -> Response:
    """One problem document. Pure ASCII, since what was sent to us may hold what UTF-8 cannot."""
    title = TITLES.get(status) or HTTPStatus(status).phrase
    body = {"type": "about:blank", "title": title, "status": status, "detail": detail, **more}
    return Response(json.dumps(body, default=str), status, dict(headers or {}), MEDIA_TYPE)


async def _refused(request: Request, error: Exception) -> Response:
    assert isinstance(error, Refusal)
    return problem(error.status, error.detail, headers=error.headers, **error.more)


async def _http(request: Request, error: Exception) -> Response:
    assert isinstance(error, HTTPException)
    detail = str(error.detail)
    if error.status_code == 404:
        detail = f"there is nothing at {request.url.path}; the calls are listed in /openapi.json"
    headers = dict(error.headers or {})
    if error.status_code == 405:
        headers["Allow"] = allowed = ", ".join(_methods(request))
        detail = f"{request.method} is not possible here; allowed: {allowed}"
    return problem(error.status_code, detail, headers=headers)


def _methods(request: Request) -> list[str]:
    """What may be done at a path: each method is a route of its own, and the framework names only the first."""
    matching = [route for route in request.app.state.calls if route.matches(request.scope)[0] is Match.PARTIAL]
    return sorted({method for route in matching for method in getattr(route, "methods", None) or ()})


async def _invalid(request: Request, error: Exception) -> Response:
    assert isinstance(error, RequestValidationError)
    return invalid_fields([(_place(item["loc"]), str(item["msg"])) for item in error.errors()])


def _place(path: Sequence[str | int]) -> str:
    """`body.spec.league.players[2].role`, without the tags of the classes that were tried."""
    return path_text(part for part in path if not (isinstance(part, str) and part.startswith("<")))


@contextmanager
def problems_at(place: str) -> Iterator[None]:
    """Refuse what a check of a trial, or of a part of one, finds wrong; `place` is where it stood in the request."""
    try:
        yield
    except InvalidTrial as error:
        fields = [(f"{place}.{item.path}".rstrip("."), _words(item)) for item in error.problems]
        detail, errors = _listed(fields)
        raise Refusal(422, detail, errors=errors) from None


def _words(item: SpecProblem) -> str:
    return item.message if item.value is None else f"{item.message} (given: {item.value})"


def _listed(fields: list[tuple[str, str]]) -> tuple[str, list[dict[str, str]]]:
    errors = [{"field": field, "message": message} for field, message in fields]
    return "; ".join(f"{field}: {message}" for field, message in fields), errors


def invalid_fields(fields: list[tuple[str, str]]) -> Response:
    """422, with every wrong field and what is allowed there."""
    detail, errors = _listed(fields)
    return problem(422, detail, errors=errors)


async def _not_found(request: Request, error: Exception) -> Response:
    return problem(404, str(error))


async def _conflict(request: Request, error: Exception) -> Response:
    assert isinstance(error, Conflict)
    return problem(409, str(error), **error.more)


async def _unstorable(request: Request, error: Exception) -> Response:
    return problem(422, "a value cannot be stored: text must be free of NUL characters, numbers must fit 64 bits")


async def _database_gone(request: Request, error: Exception) -> Response:
    log.warning("the database does not answer", path=request.url.path, error=type(error).__name__)
    return problem(503, "the database does not answer; try again", headers={"Retry-After": "2"})


def install_problem_handlers(app: FastAPI) -> None:
    """Answer what is foreseen; whatever else our code raises is answered by the outermost middleware."""
    handlers = {
        Refusal: _refused,
        HTTPException: _http,
        RequestValidationError: _invalid,
        NotFound: _not_found,
        Conflict: _conflict,
        DataError: _unstorable,
        OperationalError: _database_gone,
    }
    for kind, handler in handlers.items():
        app.add_exception_handler(kind, handler)
