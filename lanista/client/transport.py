"""What both clients share of HTTP: requests from calls, when to try again, errors from answers."""

from __future__ import annotations

import random
import uuid
from dataclasses import dataclass
from typing import Any, TypeVar
from urllib.parse import urlsplit

import httpx
from pydantic import ValidationError

from lanista.client.calls.call import Call
from lanista.client.errors import UnexpectedAnswer, Unreachable, problem_of

Result = TypeVar("Result")

PASSING = frozenset({429, 502, 503, 504})
"""Statuses that mean: later, perhaps."""
CONNECT_SECONDS = 5.0


@dataclass(frozen=True, kw_only=True)
class Retries:
    """How often, and how patiently, a call is tried again after a lost connection, 429 or 503.

    A change carries one Idempotency-Key through all its attempts, so that it is made once.
    """

    attempts: int = 6
    first_wait: float = 0.2
    longest_wait: float = 20.0

    def wait_after(self, attempt: int, outcome: httpx.Response | httpx.TransportError) -> float | None:
        """Seconds until the next attempt (they count from 1); None to leave it at this outcome."""
        if attempt >= self.attempts:
            return None
        if isinstance(outcome, httpx.Response):
            if outcome.status_code not in PASSING:
                return None
            asked = outcome.headers.get("Retry-After", "")
            if asked.isdigit():
                return min(float(asked), self.longest_wait)
        elif isinstance(outcome, httpx.UnsupportedProtocol | httpx.LocalProtocolError):
            return None
        wait: float = self.first_wait * 2 ** (attempt - 1)
        return min(wait, self.longest_wait) * random.uniform(0.75, 1.25)


def client_options(url: str, token: str | None, timeout: float) -> dict[str, Any]:
    """What an httpx client is made with. It follows no redirect, so the token goes to this address only."""
    if urlsplit(url).scheme not in ("http", "https") or not urlsplit(url).netloc:
        raise ValueError(f"url: {url!r} is no address; write it as http://host:port or https://host")
    headers = {"User-Agent": "lanista-client", "Accept-Encoding": "gzip"}
    if token is not None:
        headers["Authorization"] = f"Bearer {token}"
    return {
        "base_url": url.rstrip("/"),
        "headers": headers,
        "timeout": httpx.Timeout(timeout, connect=min(timeout, CONNECT_SECONDS)),
    }


def arguments_of(call: Call[Any]) -> dict[str, Any]:
    """The arguments of httpx's `build_request`; a change gets a key under which it happens once."""
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
    """The call's result, or the error that the answer stands for."""
    if response.is_error:
        raise problem_of(response)
    if not response.is_success:
        raise UnexpectedAnswer(f"{response.request.url} answered {response.status_code}; is it Lanista's address?")
    try:
        return call.read(response)
    except ValidationError as error:
        first = error.errors(include_url=False)[0]
        place = ".".join(str(part) for part in first["loc"])
        raise UnexpectedAnswer(
            f"{response.request.url.path} did not answer as this version of Lanista does ({place or 'body'}: "
            f"{first['msg']}); client and server may be of different versions"
        ) from None


def unreachable(base_url: object, error: httpx.TransportError) -> Unreachable:
    return Unreachable(f"{str(base_url).rstrip('/')} does not answer: {str(error) or type(error).__name__}")
