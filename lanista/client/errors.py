"""What can go wrong with a call.

LanistaError
├── Unreachable            nobody answers, after all retries
├── UnexpectedAnswer       an answer that is not Lanista's, or not of this version
├── NoSuchName             no trial, player or version goes by this name, or several do
└── Problem                Lanista refused; its words are the message
    ├── InvalidRequest     400, 413, 422: something in the request is wrong; `fields` says what
    ├── NotSignedIn        401: no token, or one that is unknown, expired or revoked
    ├── NotAllowed         403: the token's scope does not reach so far
    ├── NotFound           404
    ├── Conflict           409: conflict with the present state; `more` may hold the present `trial_status`
    ├── ChangedMeanwhile   412: somebody else was faster
    ├── TooManyRequests    429, after all retries
    ├── Unavailable        502, 503, 504, after all retries: a part of the system is away
    └── ServerFault        any other 5xx: a mistake on Lanista's side
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

import httpx


class LanistaError(Exception):
    """The message says what is wrong."""


class Unreachable(LanistaError):
    """Nobody answers at the address."""


class UnexpectedAnswer(LanistaError):
    """What came back is not what this version of Lanista answers."""


class NoSuchName(LanistaError):
    """A name that nothing has, or that several things have."""


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
        """Whatever else the document says, such as the present `trial_status`."""

    @property
    def fields(self) -> list[FieldProblem]:
        """Field by field, where fields are wrong."""
        return [FieldProblem(str(item["field"]), str(item["message"])) for item in self.more.get("errors") or ()]


class InvalidRequest(Problem):
    """Something in the request is wrong."""


class NotSignedIn(Problem):
    """No valid token."""


class NotAllowed(Problem):
    """The token may not do this."""


class NotFound(Problem):
    """There is no such thing."""


class Conflict(Problem):
    """The request conflicts with the present state."""


class ChangedMeanwhile(Problem):
    """It is no longer at the revision that was insisted on."""


class TooManyRequests(Problem):
    """The rate limit is used up."""


class Unavailable(Problem):
    """Postgres, Temporal or another part of the system does not answer."""


class ServerFault(Problem):
    """Something went wrong on Lanista's side."""


_BY_STATUS: dict[int, type[Problem]] = {
    401: NotSignedIn,
    403: NotAllowed,
    404: NotFound,
    409: Conflict,
    412: ChangedMeanwhile,
    429: TooManyRequests,
    502: Unavailable,
    503: Unavailable,
    504: Unavailable,
}


def problem_of(response: httpx.Response) -> Problem:
    """The error that an answer of status 400 or above stands for; its body must have been read."""
    status = response.status_code
    kind = _BY_STATUS.get(status) or (ServerFault if status >= 500 else InvalidRequest)
    document = _document(response)
    title = str(document.pop("title", response.reason_phrase))
    detail = str(document.pop("detail", "")) or f"{response.request.url} answered {status} {response.reason_phrase}"
    return kind(status, title, detail, {key: value for key, value in document.items() if key not in ("type", "status")})


def _document(response: httpx.Response) -> dict[str, Any]:
    """A proxy in between may answer with anything."""
    try:
        document = response.json()
    except ValueError:
        return {}
    return document if isinstance(document, dict) else {}
