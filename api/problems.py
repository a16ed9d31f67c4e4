"""Errors as RFC 9457 problem+json: what was wrong, where, and what is allowed; never a stack trace."""

from __future__ import annotations

from typing import Any

import structlog
from fastapi import FastAPI, Request
from fastapi.exceptions import RequestValidationError
from fastapi.responses import JSONResponse
from starlette.exceptions import HTTPException

log = structlog.get_logger()


def problem(status: int, title: str, detail: str, **more: Any) -> JSONResponse:
    """One problem document."""
    body = {"type": "about:blank", "title": title, "status": status, "detail": detail, **more}
    return JSONResponse(body, status_code=status, media_type="application/problem+json")


async def _http(request: Request, error: Exception) -> JSONResponse:
    assert isinstance(error, HTTPException)
    response = problem(error.status_code, _title(error.status_code), str(error.detail))
    response.headers.update(error.headers or {})
    return response


async def _invalid(request: Request, error: Exception) -> JSONResponse:
    assert isinstance(error, RequestValidationError)
    fields = [{"field": ".".join(map(str, item["loc"])), "message": item["msg"]} for item in error.errors()]
    detail = "; ".join(f"{entry['field']}: {entry['message']}" for entry in fields)
    return problem(422, "The request is not valid", detail, errors=fields)


async def _unexpected(request: Request, error: Exception) -> JSONResponse:
    log.error("request failed", method=request.method, path=request.url.path, exc_info=error)
    return problem(500, "Something went wrong on our side", "The API's log has the details.")


def _title(status: int) -> str:
    return {401: "Not signed in", 403: "Not allowed", 404: "Not found", 405: "Method not allowed"}.get(status, "Error")


def install_problem_handlers(app: FastAPI) -> None:
    app.add_exception_handler(HTTPException, _http)
    app.add_exception_handler(RequestValidationError, _invalid)
    app.add_exception_handler(Exception, _unexpected)
