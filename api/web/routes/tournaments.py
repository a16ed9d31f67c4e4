"""Tournaments: create, list, cancel, standings, report."""

from __future__ import annotations

from typing import Annotated, Any

from fastapi import APIRouter, Body, Query, Response

from api.schemas.base import Page
from api.schemas.creation import NewTournament
from api.schemas.enums import TournamentPurpose, TournamentStatus
from api.schemas.reports import TournamentReport
from api.schemas.tournaments import Cancel, Entrant, Pairing, ReportForm, Standings, Tournament
from api.store.core.engine import Session
from api.store.tournaments.code_of_tournaments import code_of_tournament
from api.store.tournaments.lifecycle import create_tournament
from api.store.tournaments.reads import (
    TournamentFilter,
    list_entrants,
    list_pairings,
    list_tournaments,
    read_tournament,
    require_tournament,
)
from api.web.auth.code_scope import require_code
from api.web.auth.scopes import Operator, Viewer
from api.web.changes import AuditLine, Change, Reply
from api.web.orders.tournaments import CancelTournament
from api.web.reports.formats import as_csv, as_html, as_markdown
from api.web.responses.paging import CURSOR, EntityId, IdCursor, Limit, SmallCursor, text_of
from api.web.responses.serialization import SerializingRoute, record_response, records_page
from api.web.services import Api
from orchestrator.spec.code_names import code_in_tournament
from orchestrator.spec.tournament import check_tournament

router = APIRouter(route_class=SerializingRoute, prefix="/api/v1/tournaments", tags=["tournaments"])


WRITERS = {
    ReportForm.CSV: (as_csv, "text/csv; charset=utf-8"),
    ReportForm.MARKDOWN: (as_markdown, "text/markdown; charset=utf-8"),
    ReportForm.HTML: (as_html, "text/html; charset=utf-8"),
}
REPORTS: dict[int | str, dict[str, Any]] = {
    200: {
        "content": {
            "text/csv": {"schema": {"type": "string"}},
            "text/markdown": {"schema": {"type": "string"}},
            "text/html": {"schema": {"type": "string"}},
        }
    }
}


@router.post("", summary="Create a tournament", status_code=201, response_model=Tournament)
async def create(new: NewTournament, principal: Operator, change: Change) -> Response:
    """Choose the entrants, record the tournament and start its workflow. It is `pending` until the workflow runs."""
    spec = check_tournament(new.spec.to_json())
    require_code(principal, code_in_tournament(spec), "body.spec")
    made: list[str] = []

    def work(session: Session) -> Reply:
        row = create_tournament(session, new.project, spec)
        code = require_code(principal, code_of_tournament(session, row, spec), "body.spec")
        made.append(row.id)
        return Reply(
            status=201,
            body=Tournament.model_validate(read_tournament(session, row.id)),
            headers={"Location": f"/api/v1/tournaments/{row.id}"},
            audit=AuditLine(
                action="tournament.create",
                target=f"tournament/{row.id}",
                detail={"project": new.project, "name": spec.name, "format": spec.format}
                | ({"code": code} if code else {}),
            ),
        )

    response = await change.commit(work)
    for tournament_id in made:
        await change.services.tournament_starter.start(tournament_id)
    return response


@router.get("", summary="List tournaments", response_model=Page[Tournament])
def list_all(
    services: Api,
    principal: Viewer,
    project: Annotated[
        str | None, Query(max_length=63, pattern=r"^[^\x00]*$", description="only of this project")
    ] = None,
    trial_id: Annotated[IdCursor, Query(description="only about this trial")] = None,
    schedule_id: Annotated[IdCursor, Query(description="only started by this schedule")] = None,
    status: Annotated[list[TournamentStatus] | None, Query(description="only with one of these statuses")] = None,
    purpose: Annotated[list[TournamentPurpose] | None, Query(description="only created for one of these")] = None,
    limit: Limit = 50,
    cursor: IdCursor = None,
) -> Response:
    """Tournaments, the newest first."""
    which = TournamentFilter(
        project=project,
        trial_id=text_of(trial_id),
        schedule_id=text_of(schedule_id),
        statuses=tuple(status or ()),
        purposes=tuple(purpose or ()),
    )
    with services.reads() as session:
        rows = list_tournaments(session, which, before=text_of(cursor), limit=limit + 1)
    return records_page(rows, limit, Tournament)


@router.get("/{tournament_id}", summary="Get a tournament", response_model=Tournament)
def get_one(tournament_id: EntityId, services: Api, principal: Viewer) -> Response:
    """The tournament with its file and its progress."""
    with services.reads() as session:
        record = read_tournament(session, str(tournament_id))
    return record_response(record, Tournament)


@router.get("/{tournament_id}/entrants", summary="List entrants", response_model=Page[Entrant])
def entrants(
    tournament_id: EntityId, services: Api, principal: Viewer, limit: Limit = 100, cursor: SmallCursor = None
) -> Response:
    """The entrants by number."""
    with services.reads() as session:
        require_tournament(session, str(tournament_id))
        rows = list_entrants(session, str(tournament_id), after=cursor, limit=limit + 1)
    return records_page(rows, limit, Entrant, "number")


@router.get("/{tournament_id}/standings", summary="Get the standings")
def standings(
    tournament_id: EntityId, services: Api, principal: Viewer, limit: Limit = 100, cursor: SmallCursor = None
) -> Standings:
    """Points and ratings with intervals, from the games recorded so far. Pages may shift as games are recorded."""
    with services.reads() as session:
        table = services.reports.standings(session, str(tournament_id))
    begin = cursor or 0
    end = begin + limit
    return Standings(
        status=table.status,
        anchor=table.anchor,
        leads=table.leads,
        items=table.lines[begin:end],
        next_cursor=str(end) if end < len(table.lines) else None,
    )


@router.get("/{tournament_id}/pairings", summary="List pairings", response_model=Page[Pairing])
def pairings(
    tournament_id: EntityId,
    services: Api,
    principal: Viewer,
    limit: Limit = 50,
    cursor: Annotated[str | None, Query(pattern=r"^\d{1,9}:\d{1,9}$", description=CURSOR)] = None,
) -> Response:
    """Pairings in the order of play."""
    after = None
    if cursor is not None:
        round_, _, pair = cursor.partition(":")
        after = int(round_), int(pair)
    with services.reads() as session:
        require_tournament(session, str(tournament_id))
        rows = list_pairings(session, str(tournament_id), after=after, limit=limit + 1)
    return records_page(rows, limit, Pairing, lambda pairing: f"{pairing['round']}:{pairing['pair']}")


@router.get("/{tournament_id}/report", summary="Get the report", response_model=TournamentReport, responses=REPORTS)
def report(
    tournament_id: EntityId,
    services: Api,
    principal: Viewer,
    form: Annotated[ReportForm, Query(alias="format", description="json, csv (standings), markdown or html")] = (
        ReportForm.JSON
    ),
) -> Any:
    """Standings, cross table, upsets and instructive games, from the games recorded so far."""
    with services.reads() as session:
        made = services.reports.report(session, str(tournament_id))
    if form is ReportForm.JSON:
        return Response(made.json, media_type="application/json", headers={"ETag": made.etag})
    write, media_type = WRITERS[form]
    return Response(write(made.report), media_type=media_type)


@router.post("/{tournament_id}/cancel", summary="Cancel a tournament", status_code=202, response_model=Tournament)
async def cancel(
    tournament_id: EntityId,
    principal: Operator,
    change: Change,
    cancel: Annotated[Cancel | None, Body()] = None,
) -> Response:
    """Recorded games stay and count; games in progress are discarded; the tournament becomes `cancelled`."""
    reason = (cancel or Cancel()).reason
    return await CancelTournament(change, str(tournament_id), reason).carry_out()
