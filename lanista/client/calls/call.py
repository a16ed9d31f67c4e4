"""Calls as values: the request, and how to read its response. Nothing here sends anything.

See docs/decisions/client-and-command-line.md.
"""

from __future__ import annotations

from collections.abc import Callable, Generator, Mapping
from dataclasses import dataclass, field, replace
from typing import TYPE_CHECKING, Any, Generic, TypeAlias, TypeVar, Union, cast
from urllib.parse import quote

import httpx
from pydantic import BaseModel

if TYPE_CHECKING:
    from api.schemas.base import Page
    from api.schemas.trials import TrialSummary


Result = TypeVar("Result")
Schema = TypeVar("Schema", bound=BaseModel)

API = "/api/v1"
LARGEST_PAGE = 500

TrialRef: TypeAlias = Union["TrialSummary", str]
"""A trial, or its id."""


@dataclass(frozen=True, kw_only=True)
class Call(Generic[Result]):
    """One request."""

    method: str
    path: str
    read: Callable[[httpx.Response], Result]
    query: Mapping[str, Any] = field(default_factory=dict)
    body: Mapping[str, Any] | None = None
    content: bytes | None = None
    """Sent as it is, instead of a body."""
    headers: Mapping[str, str] = field(default_factory=dict)

    @property
    def changes(self) -> bool:
        return self.method != "GET"


@dataclass(frozen=True, kw_only=True)
class Listing(Generic[Result]):
    """A list that comes in pages."""

    path: str
    item: type[Result]
    query: Mapping[str, Any] = field(default_factory=dict)
    page_size: int = 100

    def page(self, cursor: str | None) -> Call[Page[Result]]:
        from api.schemas.base import Page

        first = cast("Call[Page[Result]]", get(self.path, Page[self.item], {**self.query, "limit": self.page_size}))  # type: ignore[name-defined]
        return first if cursor is None else replace(first, query={**first.query, "cursor": cursor})


Steps: TypeAlias = Generator[Call[Any], Any, Result]
"""Several calls, each depending on the answers before it: yields calls, is sent their answers, returns a result."""


def get(path: str, schema: type[Schema], query: Mapping[str, Any] | None = None) -> Call[Schema]:
    """A call that reads."""
    return Call(method="GET", path=path, query=drop_none(query or {}), read=ReadJson(schema))


def change(
    method: str,
    path: str,
    schema: type[Schema],
    body: Mapping[str, Any] | None = None,
    *,
    query: Mapping[str, Any] | None = None,
    if_revision: int | None = None,
) -> Call[Schema]:
    """A call that changes something; with `if_revision`, only if that is still its revision (If-Match)."""
    headers = {} if if_revision is None else {"If-Match": f'"{if_revision}"'}
    return Call(
        method=method,
        path=path,
        read=ReadJson(schema),
        query=drop_none(query or {}),
        body=None if body is None else drop_none(body),
        headers=headers,
    )


@dataclass(frozen=True)
class ReadJson(Generic[Schema]):
    """Reads a response's JSON as an answer of `api/schemas`."""

    schema: type[Schema]

    def __call__(self, response: httpx.Response) -> Schema:
        return self.schema.model_validate_json(response.content)


def drop_none(values: Mapping[str, Any]) -> dict[str, Any]:
    """The values that are not None; the server has defaults for the others."""
    return {key: value for key, value in values.items() if value is not None}


def trial_path(trial: TrialRef, *parts: str) -> str:
    return path_to("trials", trial if isinstance(trial, str) else trial.id, *parts)


def path_to(*parts: object) -> str:
    """A path of the API; names are escaped, so that none can reach another call. An answer is replaced by its id."""
    return "/".join((API, *(quote(str(getattr(part, "id", part)), safe="") for part in parts)))
