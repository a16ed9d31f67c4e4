"""Shared links: made, listed, revoked by operators; opened by whoever has one.

A link is no token: it opens one document that the server writes, and no call of the API.
"""

from __future__ import annotations

import secrets
from datetime import datetime, timedelta
from typing import Annotated
from uuid import UUID

from fastapi import APIRouter, Query, Request, Response
from starlette.concurrency import run_in_threadpool

from api.schemas.base import Page
from api.schemas.shares import MadeShare, NewShare, Share
from api.store.access.shares import add_share, list_shares, open_share, read_share, revoke_share
from api.store.core.engine import Session
from api.web.auth.failed_sign_ins import FailedSignIns
from api.web.auth.scopes import Operator, Viewer
from api.web.auth.tokens import token_hash
from api.web.changes import AuditLine, Change, Reply
from api.web.problems import ProblemError
from api.web.reports.formats import as_html
from api.web.reports.league.contents import league_report
from api.web.reports.league.html import league_html, link_ended
from api.web.responses.paging import EntityId, IdCursor, Limit, text_of
from api.web.responses.serialization import SerializingRoute, records_page
from api.web.services import Api, Services

router = APIRouter(route_class=SerializingRoute, tags=["sharing"])

PREFIX = "lanista_share_"
HTML = "text/html; charset=utf-8"
ALONE = {
    "Content-Security-Policy": (
        "default-src 'none'; style-src 'unsafe-inline'; base-uri 'none'; form-action 'none'; frame-ancestors 'none'; "
        "sandbox"
    ),
    "Cache-Control": "no-store",
    "X-Robots-Tag": "noindex, nofollow",
}
"""What the document may do: show itself."""
OfTrial = Annotated[UUID | None, Query(description="only links to this trial")]
OfTournament = Annotated[UUID | None, Query(description="only links to this tournament")]


@router.get(
    "/api/v1/trials/{trial_id}/report",
    summary="Get the report of a league",
    response_class=Response,
    responses={200: {"content": {"text/html": {"schema": {"type": "string"}}}, "description": "one HTML file"}},
)
def report(trial_id: EntityId, services: Api, principal: Viewer) -> Response:
    """One HTML file without scripts or other files: ratings, payoff, players, what happened, the trial file."""
    with services.snapshots() as session:
        found = league_report(session, str(trial_id))
    name = f"{found.trial['project']}-{found.trial['name']}.html"
    headers = {**ALONE, "Content-Disposition": f'inline; filename="{name}"'}
    return Response(league_html(found), media_type=HTML, headers=headers)


@router.post("/api/v1/shares", summary="Share a trial or a tournament", status_code=201, response_model=MadeShare)
async def create(new: NewShare, principal: Operator, change: Change) -> Response:
    """A link that shows it, read-only, to whoever has the link. The answer holds the secret, this once only."""
    if (new.trial_id is None) == (new.tournament_id is None):
        raise ProblemError(422, "body: give either trial_id or tournament_id, not both or neither")
    secret = PREFIX + secrets.token_urlsafe(32)
    path = f"/shared?link={secret}"
    public = change.services.settings.public_url.rstrip("/")

    def work(session: Session) -> Reply:
        share_id = add_share(
            session,
            sha256=token_hash(secret),
            trial_id=text_of(new.trial_id),
            tournament_id=text_of(new.tournament_id),
            lasts=timedelta(days=new.expires_in_days),
            note=new.note,
            created_by=principal.name,
        )
        shown = read_share(session, share_id)
        detail = {"name": shown["name"], "note": new.note, "expires_in_days": new.expires_in_days}
        return Reply(
            status=201,
            body=MadeShare.model_validate({**shown, "path": path, "url": public + path if public else None}),
            body_for_retries=MadeShare.model_validate({**shown, "path": None, "url": None}),
            audit=AuditLine(action="share.create", target=f"share/{share_id}", detail=detail),
        )

    response = await change.commit(work)
    response.headers["Cache-Control"] = "no-store"
    return response


@router.get("/api/v1/shares", summary="List shared links", response_model=Page[Share])
def list_all(
    services: Api,
    principal: Operator,
    trial_id: OfTrial = None,
    tournament_id: OfTournament = None,
    limit: Limit = 50,
    cursor: IdCursor = None,
) -> Response:
    """Links, the newest first, also those that ended. Only hashes of their secrets are stored."""
    with services.reads() as session:
        rows = list_shares(
            session,
            trial_id=text_of(trial_id),
            tournament_id=text_of(tournament_id),
            before=text_of(cursor),
            limit=limit + 1,
        )
    return records_page(rows, limit, Share)


@router.delete("/api/v1/shares/{share_id}", summary="Revoke a shared link", status_code=204)
async def revoke(share_id: EntityId, principal: Operator, change: Change) -> Response:
    """The link shows nothing from now on. The row stays, for the audit log."""

    def work(session: Session) -> Reply:
        row = revoke_share(session, str(share_id))
        return Reply(status=204, audit=AuditLine(action="share.revoke", target=f"share/{row.id}"))

    return await change.commit(work)


@router.get(
    "/shared",
    summary="Open a shared link",
    response_class=Response,
    responses={
        200: {"content": {"text/html": {"schema": {"type": "string"}}}, "description": "the report"},
        404: {
            "content": {"text/html": {"schema": {"type": "string"}}},
            "description": "the link is unknown, expired or revoked",
        },
        429: {"description": "too many wrong links from this address"},
    },
)
async def open_link(
    request: Request,
    services: Api,
    link: Annotated[str, Query(max_length=200, description="the secret of the link")] = "",
) -> Response:
    """The report of the link's trial or tournament. 404 if the link is unknown, expired or revoked."""
    written = await run_in_threadpool(_opened, services, link)
    if written is None:
        failures: FailedSignIns = request.app.state.failed_sign_ins
        return failures.refusal(request) or Response(link_ended(), 404, ALONE, HTML)
    return Response(written, 200, ALONE, HTML)


def _opened(services: Services, link: str) -> bytes | None:
    if not link.startswith(PREFIX):
        return None
    with services.sessions.begin() as session:
        share = open_share(session, token_hash(link))
    if share is None:
        return None
    shows = share.trial_id, share.tournament_id, share.expires_at
    return services.shared_documents.get(shows, lambda: _document(services, *shows))


def _document(services: Services, trial_id: str | None, tournament_id: str | None, until: datetime) -> bytes:
    with services.snapshots() as session:
        if trial_id is not None:
            return league_html(league_report(session, trial_id), shared_until=until).encode()
        return as_html(services.reports.report(session, str(tournament_id)).report).encode()
