"""Errors of a call.

LanistaError
├── Unreachable            no answer, after all retries
├── TokenWithheld          the address is from a folder's lanista.toml, the token is not
├── UnexpectedAnswer       an answer that is not Lanista's, or not of this version
├── NoSuchName             no trial, player or version has this name, or several have it
└── Problem                the API refused; its detail is the message
    ├── InvalidRequest     400, 413, 422: the request is not valid; `fields` names each field
    ├── NotSignedIn        401: no token, or one that is unknown, expired or revoked
    ├── NotAllowed         403: the token's scope is not sufficient
    ├── NotFound           404
    ├── Gone               410: retention gave it up
    ├── Conflict           409: conflict with the present state; `more` may hold the present `trial_status`
    ├── ChangedMeanwhile   412: changed since the revision in If-Match
    ├── TooManyRequests    429, after all retries
    ├── Unavailable        502, 503, 504, after all retries: a part of the system is down
    └── ServerFault        any other 5xx: a bug of the API
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

import httpx


class LanistaError(Exception):
    """Base class of the client's errors; the message says what is wrong."""


class Unreachable(LanistaError):
    """Nothing answers at the address."""


class TokenWithheld(LanistaError):
    """The address is from a lanista.toml in the working folder, and the token is not: it is not sent unasked."""

    def __init__(self, url: str) -> None:
        super().__init__(
            f"lanista.toml in this folder names {url}, and the token is not from this file, so it is not sent there. "
            f"If the address is right, set LANISTA_URL={url} too."
        )
        self.url = url

    def __reduce__(self) -> tuple[type[TokenWithheld], tuple[str]]:
        return TokenWithheld, (self.url,)


class UnexpectedAnswer(LanistaError):
    """The answer is not one of this version of Lanista."""


class NoSuchName(LanistaError):
    """No trial, player or version has this name, or several have it."""


@dataclass(frozen=True)
class FieldProblem:
    """One field of the request that is wrong."""

    field: str
    message: str


class Problem(LanistaError):
    """An RFC 9457 problem document."""

    def __init__(self, status: int, title: str, detail: str, more: Mapping[str, Any] | None = None) -> None:
        super().__init__(detail or title)
        self.status = status
        self.title = title
        self.detail = detail
        self.more = dict(more or {})
        """Other fields of the document, such as the present `trial_status`."""

    def __reduce__(self) -> tuple[type[Problem], tuple[Any, ...]]:
        return type(self), (self.status, self.title, self.detail, self.more)

    @property
    def fields(self) -> list[FieldProblem]:
        """The wrong fields; empty where the problem is not about fields."""
        return [FieldProblem(str(item["field"]), str(item["message"])) for item in self.more.get("errors") or ()]


class InvalidRequest(Problem):
    """The request is not valid."""


class NotSignedIn(Problem):
    """No valid token."""


class NotAllowed(Problem):
    """The token may not do this."""


class NotFound(Problem):
    """Nothing has this id or name."""


class Gone(Problem):
    """Retention gave it up."""


class Conflict(Problem):
    """A conflict with the present state."""


class ChangedMeanwhile(Problem):
    """It has changed since the revision in If-Match."""


class TooManyRequests(Problem):
    """The rate limit is used up."""


class Unavailable(Problem):
    """Postgres, Temporal or another part of the system does not answer."""


class ServerFault(Problem):
    """A bug of the API."""


_BY_STATUS: dict[int, type[Problem]] = {
    401: NotSignedIn,
    403: NotAllowed,
    404: NotFound,
    409: Conflict,
    410: Gone,
    412: ChangedMeanwhile,
    429: TooManyRequests,
    502: Unavailable,
    503: Unavailable,
    504: Unavailable,
}


def problem_of(response: httpx.Response) -> Problem:
    """The error for a response of status 400 or above; its body must have been read."""
    status = response.status_code
    kind = _BY_STATUS.get(status) or (ServerFault if status >= 500 else InvalidRequest)
    document = _document(response)
    title = str(document.pop("title", response.reason_phrase))
    detail = str(document.pop("detail", "")) or f"{response.request.url} answered {status} {response.reason_phrase}"
    return kind(status, title, detail, {key: value for key, value in document.items() if key not in ("type", "status")})


def _document(response: httpx.Response) -> dict[str, Any]:
    """The problem document; empty for the answer of a proxy in between."""
    try:
        document = response.json()
    except ValueError:
        return {}
    return document if isinstance(document, dict) else {}
