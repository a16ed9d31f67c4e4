"""Error mapping: exceptions as RFC 9457 problem+json: what was wrong and what is allowed, without a stack trace."""

from __future__ import annotations

import json
from collections.abc import Iterator, Mapping, Sequence
from contextlib import contextmanager
from functools import partial
from http import HTTPStatus
from typing import Any

import structlog
from fastapi import FastAPI, Request, Response
from fastapi.exceptions import RequestValidationError
from starlette.exceptions import HTTPException
from starlette.routing import Match

from api.store.core.errors import Conflict, DataError, Gone, NotFound, OperationalError
from api.web.page_files import page_response, shows_page
from orchestrator.spec import InvalidTrial
from orchestrator.spec.reading.problems import MOST_REPORTED, not_listed, path_text
from orchestrator.spec.reading.problems import Problem as SpecProblem

log = structlog.get_logger()

MEDIA_TYPE = "application/problem+json"
TITLES = {413: "Content Too Large", 422: "Unprocessable Content"}
"""Names of statuses from RFC 9110 that are newer than those of the standard library."""


class ProblemError(Exception):
    """Raised to answer a request with a problem document; `more` has further fields of the document."""

    def __init__(self, status: int, detail: str, *, headers: Mapping[str, str] | None = None, **more: Any) -> None:
        super().__init__(detail)
        self.status = status
        self.detail = detail
        self.headers = dict(headers or {})
        self.more = more

    def __reduce__(self) -> tuple[Any, ...]:
        return partial(type(self), self.status, self.detail, headers=self.headers, **self.more), ()


def title_of(status: int) -> str:
    """The name of a status, which is the title of a problem without a type of its own (RFC 9457)."""
    return TITLES.get(status) or HTTPStatus(status).phrase


def problem(status: int, detail: str, *, headers: Mapping[str, str] | None = None, **more: Any) -> Response:
    """A problem document. It is pure ASCII, because text sent by a client may hold what UTF-8 cannot encode."""
    body = {"type": "about:blank", "title": title_of(status), "status": status, "detail": detail, **more}
    return Response(json.dumps(body, default=str), status, dict(headers or {}), MEDIA_TYPE)


async def _refused(request: Request, error: Exception) -> Response:
    assert isinstance(error, ProblemError)
    return problem(error.status, error.detail, headers=error.headers, **error.more)


async def _http(request: Request, error: Exception) -> Response:
    assert isinstance(error, HTTPException)
    detail = str(error.detail)
    if error.status_code == 404 and shows_page(request):
        return page_response(404)
    if error.status_code == 404:
        detail = f"there is nothing at {request.url.path}; /openapi.json lists every call"
    if error.status_code == 405:
        return _not_allowed(request, _methods_of_exact_path(request) or _methods(request))
    return problem(error.status_code, detail, headers=dict(error.headers or {}))


def _not_allowed(request: Request, methods: list[str]) -> Response:
    allowed = ", ".join(methods)
    return problem(405, f"{request.method} is not allowed here; allowed: {allowed}", headers={"Allow": allowed})


def _methods(request: Request) -> list[str]:
    """The methods allowed at a path: each is a route of its own, and the framework names only the first."""
    matching = [route for route in request.app.state.calls if route.matches(request.scope)[0] is Match.PARTIAL]
    return sorted({method for route in matching for method in getattr(route, "methods", None) or ()})


def _methods_of_exact_path(request: Request) -> list[str]:
    """The methods of calls at this very path, such as /trials/validate, which other methods would take for an id."""
    calls = [route for route in request.app.state.calls if getattr(route, "path", None) == request.url.path]
    return sorted({method for route in calls for method in route.methods})


async def _invalid(request: Request, error: Exception) -> Response:
    assert isinstance(error, RequestValidationError)
    found = error.errors()
    if any(item["loc"][0] == "path" for item in found) and (methods := _methods_of_exact_path(request)):
        return _not_allowed(request, methods)
    fields = [(_place(item["loc"]), str(item["msg"]).removeprefix("Value error, ")) for item in found[:MOST_REPORTED]]
    if len(found) > MOST_REPORTED:
        fields.append(("body", not_listed(len(found) - MOST_REPORTED)))
    return invalid_fields(fields)


def _place(path: Sequence[str | int]) -> str:
    """A field's path, such as `body.spec.league.players[2].role`, without the classes that pydantic tried."""
    return path_text(part for part in path if not (isinstance(part, str) and part.startswith("<")))


@contextmanager
def problems_at(place: str) -> Iterator[None]:
    """Map InvalidTrial to 422; `place` is where the trial, or its part, is in the request."""
    try:
        yield
    except InvalidTrial as error:
        fields = [(f"{place}.{item.path}".rstrip("."), _words(item)) for item in error.problems]
        detail, errors = _listed(fields)
        raise ProblemError(422, detail, errors=errors) from None


def _words(item: SpecProblem) -> str:
    return item.message if item.value is None else f"{item.message} (given: {item.value})"


def _listed(fields: list[tuple[str, str]]) -> tuple[str, list[dict[str, str]]]:
    errors = [{"field": field, "message": message} for field, message in fields]
    return "; ".join(f"{field}: {message}" for field, message in fields), errors


def invalid_fields(fields: list[tuple[str, str]]) -> Response:
    """422 with every invalid field and what is allowed there."""
    detail, errors = _listed(fields)
    return problem(422, detail, errors=errors)


async def _not_found(request: Request, error: Exception) -> Response:
    return problem(404, str(error))


async def _gone(request: Request, error: Exception) -> Response:
    return problem(410, str(error))


async def _conflict(request: Request, error: Exception) -> Response:
    assert isinstance(error, Conflict)
    return problem(409, str(error), **error.more)


async def _unstorable(request: Request, error: Exception) -> Response:
    return problem(422, "a value cannot be stored: text must be free of NUL characters, numbers must fit 64 bits")


async def _database_gone(request: Request, error: Exception) -> Response:
    log.warning("the database does not answer", path=request.url.path, error=type(error).__name__)
    return problem(503, "the database does not answer; try again", headers={"Retry-After": "2"})


def install_problem_handlers(app: FastAPI) -> None:
    """Map the exceptions that are expected; the outermost middleware answers all others with 500."""
    handlers = {
        ProblemError: _refused,
        HTTPException: _http,
        RequestValidationError: _invalid,
        NotFound: _not_found,
        Gone: _gone,
        Conflict: _conflict,
        DataError: _unstorable,
        OperationalError: _database_gone,
    }
    for kind, handler in handlers.items():
        app.add_exception_handler(kind, handler)
