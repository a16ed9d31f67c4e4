"""gRPC statuses of refusals, which name HTTP statuses."""

from __future__ import annotations

from grpc import StatusCode

from workers.gateway.contract import Refused

_CODES = {
    400: StatusCode.INVALID_ARGUMENT,
    401: StatusCode.UNAUTHENTICATED,
    403: StatusCode.PERMISSION_DENIED,
    404: StatusCode.NOT_FOUND,
    408: StatusCode.DEADLINE_EXCEEDED,
    409: StatusCode.FAILED_PRECONDITION,
    410: StatusCode.NOT_FOUND,
    413: StatusCode.RESOURCE_EXHAUSTED,
    422: StatusCode.INVALID_ARGUMENT,
    429: StatusCode.RESOURCE_EXHAUSTED,
    501: StatusCode.UNIMPLEMENTED,
    502: StatusCode.UNAVAILABLE,
    503: StatusCode.UNAVAILABLE,
    504: StatusCode.DEADLINE_EXCEEDED,
    507: StatusCode.RESOURCE_EXHAUSTED,
}

RETRY_AFTER = "retry-after"
"""The trailing metadata that says after how many seconds to try again."""


def code_of(refused: Refused) -> StatusCode:
    """The status of a refusal; a 4xx without one of its own is a bad argument, a 5xx an error of the server."""
    other = StatusCode.INVALID_ARGUMENT if 400 <= refused.status < 500 else StatusCode.INTERNAL
    return _CODES.get(refused.status, other)


def code_number(refused: Refused) -> int:
    """The number of that status."""
    number: int = code_of(refused).value[0]
    return number


def trailing_metadata(refused: Refused) -> tuple[tuple[str, str], ...]:
    """What a caller is told beside status and words."""
    return () if refused.retry_after is None else ((RETRY_AFTER, f"{refused.retry_after:g}"),)
