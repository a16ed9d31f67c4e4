"""Calls about tournaments and schedules; answers are plain mappings, as the REST page describes them."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from lanista.client.calls.call import Call, given, path_to

Answer = dict[str, Any]


def hold_tournament(project: str, spec: Mapping[str, Any]) -> Call[Answer]:
    """Record a tournament and start it."""
    return _change("POST", "tournaments", body={"project": project, "spec": dict(spec)})


def tournaments(limit: int, *, project: str | None = None) -> Call[Answer]:
    """The newest tournaments, as one page."""
    return _read("tournaments", query={"limit": limit, "project": project})


def tournament(tournament: str, *parts: str) -> Call[Answer]:
    """One tournament, or something of it: `standings`, `report`."""
    return _read("tournaments", tournament, *parts)


def tournament_report(tournament: str, form: str) -> Call[str]:
    """The report, as text."""
    path = path_to("tournaments", tournament, "report")
    return Call(method="GET", path=path, query={"format": form}, read=lambda response: response.text)


def cancel_tournament(tournament: str, reason: str | None = None) -> Call[Answer]:
    """End a tournament early; what was played stays."""
    return _change("POST", "tournaments", tournament, "cancel", body=given({"reason": reason}))


def create_schedule(body: Mapping[str, Any]) -> Call[Answer]:
    """Make a schedule."""
    return _change("POST", "schedules", body=given(body))


def schedules(limit: int, *, project: str | None = None) -> Call[Answer]:
    """The newest schedules, as one page."""
    return _read("schedules", query={"limit": limit, "project": project})


def schedule(schedule: str) -> Call[Answer]:
    """One schedule with its past and next firings."""
    return _read("schedules", schedule)


def change_schedule(schedule: str, changes: Mapping[str, Any]) -> Call[Answer]:
    """Pause, resume or retime a schedule."""
    return _change("PATCH", "schedules", schedule, body=given(changes))


def trigger_schedule(schedule: str) -> Call[Answer]:
    """Fire a schedule now."""
    return _change("POST", "schedules", schedule, "trigger")


def delete_schedule(schedule: str) -> Call[None]:
    """End a schedule; its tournaments stay."""
    return Call(method="DELETE", path=path_to("schedules", schedule), read=lambda response: None)


def _read(*parts: str, query: Mapping[str, Any] | None = None) -> Call[Answer]:
    return Call(method="GET", path=path_to(*parts), query=given(query or {}), read=lambda response: response.json())


def _change(method: str, *parts: str, body: Mapping[str, Any] | None = None) -> Call[Answer]:
    return Call(method=method, path=path_to(*parts), body=body, read=lambda response: response.json())
