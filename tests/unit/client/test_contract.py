"""The client speaks as the API's OpenAPI document says: every call, parameter, body and answer."""

from __future__ import annotations

import importlib
import inspect
import pkgutil
import re
import types
import typing
from functools import cache
from typing import Any, get_origin

import pytest

import api.schemas
from api.settings import ApiSettings
from api.web.app import create_app
from lanista.client.calls import alerts as alert_calls
from lanista.client.calls import games as game_calls
from lanista.client.calls import league as league_calls
from lanista.client.calls import probes as probe_calls
from lanista.client.calls import registry as registry_calls
from lanista.client.calls import shares as share_calls
from lanista.client.calls import sweeps as sweep_calls
from lanista.client.calls import tournaments as tournament_calls
from lanista.client.calls import trials as trial_calls
from lanista.client.calls.call import Call, Listing, ReadJson
from tests.unit.client.fake_api import an_id

BROWSERS_ONLY = {"POST /api/v1/session", "DELETE /api/v1/session", "POST /api/v1/session/codes"}
BY_OTHER_MEANS = {"GET /api/v1/events", "GET /api/v1/trials/{}/events"}
"""Made by `events`, which is tested by itself."""

VALUES: dict[str, Any] = {
    "trial": an_id(1),
    "kind": ["snapshot"],
    "role": "main",
    "status": ["running"],
    "stream": "rating",
    "method": "elo_online",
    "spec": {},
    "tournament": {},
    "changes": {},
    "hyperparameters": {},
    "table": "matches",
    "filters": {"stream": "rating"},
    "data": b"weights",
    "numbers": [0.5],
    "report": {"report_id": an_id(2)},
    "archived": True,
    "page_size": 7,
    "most": 5,
}
"""Arguments for a call of each kind, so that everything it can send is sent."""


@cache
def document() -> dict[str, Any]:
    return create_app(ApiSettings()).openapi()


@cache
def described_calls() -> dict[str, Call[Any]]:
    """Every call, with every argument given."""
    found: dict[str, Call[Any]] = {}
    for module in (
        trial_calls,
        league_calls,
        registry_calls,
        tournament_calls,
        sweep_calls,
        alert_calls,
        probe_calls,
        share_calls,
        game_calls,
    ):
        for name, describe in vars(module).items():
            if inspect.isfunction(describe) and describe.__module__ == module.__name__ and not name.startswith("_"):
                described = describe(**{key: value_of(key, kind) for key, kind in parameters(describe)})
                found[name] = as_call(described)
    return found


def schemas() -> dict[str, Any]:
    """Every model of answers by its name: the calls import each when they are made."""
    names: dict[str, Any] = {}
    for found in pkgutil.walk_packages(api.schemas.__path__, "api.schemas."):
        names |= vars(importlib.import_module(found.name))
    return names


def parameters(describe: Any) -> list[tuple[str, Any]]:
    hints = typing.get_type_hints(describe, localns=schemas())
    return [(name, hints[name]) for name in inspect.signature(describe).parameters]


def value_of(name: str, hint: Any) -> Any:
    if name in VALUES and not (name == "status" and get_origin(hint) is types.UnionType):
        return [VALUES[name]] if name == "role" and "Sequence" in str(hint) else VALUES[name]
    if "int" in str(hint):
        return 3
    if "float" in str(hint):
        return 1.5
    return True if hint is bool else "word"


def as_call(described: Any) -> Call[Any]:
    if isinstance(described, Listing):
        return described.page("3")
    if inspect.isgenerator(described):
        first: Call[Any] = next(described)
        return first
    assert isinstance(described, Call)
    return described


@cache
def operations() -> dict[str, dict[str, Any]]:
    """`GET /api/v1/trials/{}` and what the document says of it."""
    return {
        f"{method.upper()} {re.sub(r'{[^}]*}', '{}', path)}": operation
        for path, calls in document()["paths"].items()
        for method, operation in calls.items()
    }


def operation_of(call: Call[Any]) -> str:
    for name in sorted(operations(), key=lambda name: name.count("{}")):
        method, _, path = name.partition(" ")
        if call.method == method and re.fullmatch(re.escape(path).replace(r"\{\}", "[^/]+"), call.path):
            return name
    raise AssertionError(f"the API has no call {call.method} {call.path}")


def schema(reference: dict[str, Any]) -> dict[str, Any]:
    """What a reference, or the object in a nullable one, stands for."""
    for choice in reference.get("anyOf", [reference]):
        if "$ref" in choice:
            found: dict[str, Any] = document()["components"]["schemas"][choice["$ref"].rpartition("/")[2]]
            return found
    return reference


@pytest.mark.parametrize("name", sorted(described_calls()))
def test_a_call_is_one_of_the_api_with_all_it_sends(name: str) -> None:
    call = described_calls()[name]
    operation = operations()[operation_of(call)]
    known = {parameter["name"] for parameter in operation.get("parameters", ()) if parameter["in"] == "query"}
    assert set(call.query) <= known
    headers = {parameter["name"] for parameter in operation.get("parameters", ()) if parameter["in"] == "header"}
    assert set(call.headers) <= headers
    if call.changes:
        assert "Idempotency-Key" in headers
    if call.body is not None:
        body = schema(operation["requestBody"]["content"]["application/json"]["schema"])
        assert set(call.body) <= set(body["properties"])


def test_every_parameter_of_the_api_can_be_given() -> None:
    """But for `limit` of single pages, and `format`, which `export` sets."""
    missing = []
    for name, call in described_calls().items():
        wanted = {
            parameter["name"]
            for parameter in operations()[operation_of(call)].get("parameters", ())
            if parameter["in"] == "query"
        }
        missing += [
            f"{name}: {left}" for left in wanted - set(call.query) - {"format", "cursor", "limit"} if name != "export"
        ]
    assert missing == []


def test_every_call_of_the_api_is_described() -> None:
    made = {operation_of(call) for call in described_calls().values()}
    all_calls = {name for name in operations() if "/api/v1/" in name}
    assert all_calls - made == BROWSERS_ONLY | BY_OTHER_MEANS


@pytest.mark.parametrize("name", sorted(described_calls()))
def test_a_call_reads_the_answer_that_the_api_documents(name: str) -> None:
    """Both sides take the class from api/schemas; this finds a call that takes the wrong one."""
    call = described_calls()[name]
    responses = operations()[operation_of(call)]["responses"]
    documented = [
        content["application/json"]["schema"].get("$ref", "").rpartition("/")[2]
        for status, content in ((status, answer.get("content", {})) for status, answer in responses.items())
        if status.startswith("2") and "application/json" in content
    ]
    if isinstance(call.read, ReadJson):
        # `Page[Trial]` is documented as `Page_Trial_`
        assert documented == [re.sub(r"\W", "_", call.read.schema.__name__)]
