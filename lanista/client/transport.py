"""HTTP for both clients: requests from calls, the retry policy, errors from responses.

Retries are tenacity's: it wraps the whole request, the reading of the body included. A retrying transport
(`httpx-retries`) ends where the headers have arrived, so that a connection lost in the middle of an answer would not
be retried.

See docs/decisions/client-and-command-line.md.
"""

from __future__ import annotations

import random
import uuid
from dataclasses import dataclass
from typing import Any, TypeVar
from urllib.parse import urlsplit

import httpx
from pydantic import ValidationError
from tenacity import RetryCallState, stop_after_attempt, wait_exponential

from lanista.client.calls.call import Call
from lanista.client.errors import UnexpectedAnswer, Unreachable, problem_of

Result = TypeVar("Result")

TRANSIENT = frozenset({429, 502, 503, 504})
"""Statuses after which the same request may succeed later."""
CONNECT_SECONDS = 5.0


@dataclass(frozen=True, kw_only=True)
class Retries:
    """How often, and with which pauses, a call is retried after a lost connection, 429, 502, 503 or 504.

    A change carries one Idempotency-Key through all its attempts, so that it is made once.
    """

    attempts: int = 6
    first_wait: float = 0.2
    longest_wait: float = 20.0

    def policy(self) -> dict[str, Any]:
        """Arguments of tenacity's `Retrying` and `AsyncRetrying`; the outcome of the last attempt is the result."""
        return {
            "stop": stop_after_attempt(self.attempts),
            "retry": _is_transient,
            "wait": self._wait,
            "retry_error_callback": lambda state: state.outcome.result() if state.outcome else None,
        }

    def _wait(self, state: RetryCallState) -> float:
        """Seconds until the next attempt: what the server asks for, else exponential with jitter."""
        _, response = _outcome(state)
        asked = response.headers.get("Retry-After", "") if response is not None else ""
        if asked.isdigit():
            return min(float(asked), self.longest_wait)
        backoff = wait_exponential(multiplier=self.first_wait, max=self.longest_wait)
        return backoff(state) * random.uniform(0.75, 1.25)  # noqa: S311 spreads retries


def _is_transient(state: RetryCallState) -> bool:
    error, response = _outcome(state)
    if response is not None:
        return response.status_code in TRANSIENT
    # a request that cannot be sent at all fails the same way each time
    return isinstance(error, httpx.TransportError) and not isinstance(
        error, httpx.UnsupportedProtocol | httpx.LocalProtocolError
    )


def _outcome(state: RetryCallState) -> tuple[BaseException | None, httpx.Response | None]:
    assert state.outcome is not None, "asked after an attempt"
    error = state.outcome.exception()
    return error, state.outcome.result() if error is None else None


def client_options(url: str, token: str | None, timeout: float) -> dict[str, Any]:
    """The arguments of an httpx client. It follows no redirect, so the token goes to this address only."""
    if urlsplit(url).scheme not in ("http", "https") or not urlsplit(url).netloc:
        raise ValueError(f"url: {url!r} is not an address; write it as http://host:port or https://host")
    headers = {"User-Agent": "lanista-client", "Accept-Encoding": "gzip"}
    if token is not None:
        headers["Authorization"] = f"Bearer {token}"
    return {
        "base_url": url.rstrip("/"),
        "headers": headers,
        "timeout": httpx.Timeout(timeout, connect=min(timeout, CONNECT_SECONDS)),
    }


def arguments_of(call: Call[Any]) -> dict[str, Any]:
    """The arguments of httpx's `build_request`; a change gets an idempotency key."""
    headers = dict(call.headers)
    if call.changes:
        headers["Idempotency-Key"] = str(uuid.uuid4())
    arguments: dict[str, Any] = {
        "method": call.method,
        "url": call.path,
        "params": dict(call.query),
        "headers": headers,
    }
    if call.body is not None:
        arguments["json"] = dict(call.body)
    if call.content is not None:
        arguments["content"] = call.content
        headers["Content-Type"] = "application/octet-stream"
    return arguments


def read(call: Call[Result], response: httpx.Response) -> Result:
    """The call's result, or the error for the response."""
    check(response)
    try:
        return call.read(response)
    except ValidationError as error:
        first = error.errors(include_url=False)[0]
        place = ".".join(str(part) for part in first["loc"])
        raise UnexpectedAnswer(
            f"{response.request.url.path} did not answer as this version of Lanista does ({place or 'body'}: "
            f"{first['msg']}); client and server may be of different versions"
        ) from None


def check(response: httpx.Response) -> None:
    """Raise the error for a response that is none of success."""
    if response.is_error:
        raise problem_of(response)
    if not response.is_success:
        raise UnexpectedAnswer(f"{response.request.url} answered {response.status_code}; is it Lanista's address?")


def unreachable(base_url: object, error: httpx.TransportError) -> Unreachable:
    return Unreachable(f"{str(base_url).rstrip('/')} does not answer: {str(error) or type(error).__name__}")
