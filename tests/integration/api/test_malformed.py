"""A malformed id and an unknown query parameter are 422 on every route, with the field and what is allowed."""

from __future__ import annotations

import re
from typing import Any

import httpx
import pytest

from api.settings import ApiSettings
from api.web.app import create_app

DOCUMENT: dict[str, Any] = create_app(ApiSettings()).openapi()
VALUES = {"name": "games", "alias": "champion", "match_id": "0"}
"""Path parameters that are no ids."""
CALLS = [
    (method.upper(), path)
    for path, calls in DOCUMENT["paths"].items()
    for method in calls
    if path.startswith("/api/v1") and not path.endswith("/events")
]


def filled(path: str, value: str) -> str:
    return re.sub(r"{(\w+)}", lambda found: VALUES.get(found[1], value), path)


@pytest.mark.parametrize(
    ("method", "path"), [call for call in CALLS if re.search(r"{(?!name|alias|part)\w+}", call[1])]
)
def test_a_malformed_id_is_not_valid(method: str, path: str, admin: httpx.Client) -> None:
    path = path.replace("{match_id}", "none")
    refused = admin.request(method, filled(path, "not-an-id"), json={})
    assert refused.status_code == 422, refused.text
    wrong = [error["message"] for error in refused.json()["errors"] if error["field"].startswith("path.")]
    assert wrong and all(re.search("valid (UUID|integer)|match pattern", message) for message in wrong)


@pytest.mark.parametrize(("method", "path"), CALLS)
def test_an_unknown_query_parameter_is_refused(method: str, path: str, admin: httpx.Client) -> None:
    some_id = "0198c5a2-7c31-7abc-8def-0123456789ab"
    refused = admin.request(method, filled(path, some_id), params={"limti": 1}, json={})
    assert refused.status_code == 422, refused.text
    declared = DOCUMENT["paths"][path][method.lower()].get("parameters", ())
    allowed = sorted(parameter["name"] for parameter in declared if parameter["in"] == "query")
    known = f"allowed: {', '.join(allowed)}" if allowed else "this call takes none"
    assert refused.json()["errors"] == [{"field": "query.limti", "message": f"unknown parameter; {known}"}]


@pytest.mark.parametrize("path", ["/healthz", "/readyz", "/metrics", "/api/v1/events"])
def test_also_where_there_is_no_list(path: str, admin: httpx.Client) -> None:
    assert admin.get(path, params={"verbose": "1"}).status_code == 422


def test_who_is_not_signed_in_is_told_that_first(api: Any) -> None:
    with api.client(None) as client:
        assert client.get("/api/v1/trials", params={"limti": 1}).status_code == 401
