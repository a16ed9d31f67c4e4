"""Calls about shared links, and the report of a league."""

from __future__ import annotations

from typing import TYPE_CHECKING

from lanista.client.calls.call import Call, Listing, TrialRef, change, drop_none, path_to, trial_path

if TYPE_CHECKING:
    from api.schemas.shares import MadeShare, Share


def league_report(trial: TrialRef) -> Call[str]:
    """The report of a league: one HTML file."""
    return Call(method="GET", path=trial_path(trial, "report"), read=lambda response: response.text)


def shares(*, trial_id: str | None = None, tournament_id: str | None = None, page_size: int = 100) -> Listing[Share]:
    """Shared links, the newest first."""
    from api.schemas.shares import Share

    query = drop_none({"trial_id": trial_id, "tournament_id": tournament_id})
    return Listing(path=path_to("shares"), item=Share, query=query, page_size=page_size)


def create_share(
    *,
    trial_id: str | None = None,
    tournament_id: str | None = None,
    expires_in_days: float | None = None,
    note: str | None = None,
) -> Call[MadeShare]:
    """Share a trial or a tournament, read-only. The link is shown once."""
    from api.schemas.shares import MadeShare

    body = {"trial_id": trial_id, "tournament_id": tournament_id, "expires_in_days": expires_in_days, "note": note}
    return change("POST", path_to("shares"), MadeShare, body)


def revoke_share(share_id: str) -> Call[None]:
    """Revoke a shared link."""
    return Call(method="DELETE", path=path_to("shares", share_id), read=lambda _: None)
