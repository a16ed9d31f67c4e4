"""Aliases: movable names of versions, their history, rollback, and canaries beside them."""

from __future__ import annotations

from collections.abc import Callable
from typing import Annotated

from fastapi import APIRouter, Path, Query, Response

from api.schemas.aliases import Alias, Move, PutAlias, Rollback
from api.schemas.base import Page
from api.schemas.canaries import Canary, ReportCanary
from api.store.aliases.canaries import list_canaries, record_canary
from api.store.aliases.moves import AliasKey, Promotion, move_alias, roll_back_alias
from api.store.aliases.reads import (
    find_alias,
    find_alias_record,
    list_aliases,
    list_moves,
    project_and_game_of,
    read_alias,
)
from api.store.core.engine import Session
from api.store.core.errors import Conflict
from api.store.tables import Alias as AliasRow
from api.store.trials.projects import project_id
from api.web.auth.scopes import Operator, Viewer
from api.web.changes import AuditLine, Change, ChangeCall, Reply
from api.web.problems import ProblemError
from api.web.responses.etags import IfMatch, etag, require_match, revision_of
from api.web.responses.paging import CURSOR, Limit, NumberCursor
from api.web.responses.serialization import SerializingRoute, record_response, records_page
from api.web.services import Api

router = APIRouter(route_class=SerializingRoute, prefix="/api/v1/projects/{name}/aliases", tags=["aliases"])

_TEXT = r"^[^\x00]*$"
ProjectName = Annotated[str, Path(min_length=1, max_length=63, pattern=_TEXT, description="the project")]
AliasName = Annotated[str, Path(pattern=r"^[a-z0-9][a-z0-9_-]{0,62}$", description="the alias", examples=["champion"])]
GameQuery = Annotated[
    str | None,
    Query(max_length=1000, pattern=_TEXT, description="the game, where several games of the project have this alias"),
]
AliasCursor = Annotated[str | None, Query(min_length=1, max_length=1100, pattern=r"^[^\x00]+$", description=CURSOR)]
"""Name and game: several games may have an alias of the same name."""


@router.get("", summary="List aliases", response_model=Page[Alias])
def list_all(
    name: ProjectName, services: Api, principal: Viewer, limit: Limit = 100, cursor: AliasCursor = None
) -> Response:
    """The project's aliases, by name and then by game."""
    after = None
    if cursor is not None:
        alias_name, _, game = cursor.partition(":")
        after = alias_name, game
    with services.reads() as session:
        rows = list_aliases(session, project_id(session, name), after=after, limit=limit + 1)
    return records_page(rows, limit, Alias, lambda alias: f"{alias['name']}:{alias['game']}")


@router.get("/{alias}", summary="Get an alias", response_model=Alias)
def get_one(name: ProjectName, alias: AliasName, services: Api, principal: Viewer, game: GameQuery = None) -> Response:
    """The alias and its version. The ETag is its revision."""
    with services.reads() as session:
        record = find_alias_record(session, project_id(session, name), alias, game)
    return record_response(record, Alias, etag(record["revision"]))


@router.put("/{alias}", summary="Point an alias at a version", response_model=Alias)
async def put(
    name: ProjectName,
    alias: AliasName,
    target: PutAlias,
    principal: Operator,
    change: Change,
    if_match: IfMatch = None,
) -> Response:
    """Promote a version of this project. A new alias is created; the move is recorded with its reason."""

    def move(session: Session) -> AliasRow:
        project = project_id(session, name)
        version_id = str(target.version_id)
        home, game = project_and_game_of(session, version_id)
        if home != project:
            raise ProblemError(409, f"version {version_id} belongs to another project than {name!r}")
        key = AliasKey(project_id=project, game=game, name=alias)
        promotion = Promotion(reason=target.reason, actor=principal.name)
        try:
            return move_alias(session, key, version_id, promotion, if_revision=revision_of(if_match))
        except Conflict as error:
            raise ProblemError(412 if if_match else 409, str(error)) from None

    return await _moved(change, move, "alias.set", name, target.reason)


@router.get("/{alias}/history", summary="List the moves of an alias", response_model=Page[Move])
def history(
    name: ProjectName,
    alias: AliasName,
    services: Api,
    principal: Viewer,
    game: GameQuery = None,
    limit: Limit = 100,
    cursor: NumberCursor = None,
) -> Response:
    """The versions it pointed at, since when and why; the newest move first."""
    with services.reads() as session:
        found = find_alias(session, project_id(session, name), alias, game)
        rows = list_moves(session, found, before=cursor, limit=limit + 1)
    return records_page(rows, limit, Move, "revision")


@router.post("/{alias}/rollback", summary="Roll an alias back", response_model=Alias)
async def rollback(
    name: ProjectName,
    alias: AliasName,
    principal: Operator,
    change: Change,
    back: Rollback | None = None,
    game: GameQuery = None,
    if_match: IfMatch = None,
) -> Response:
    """Point the alias at its previous version; a second rollback goes back one version further."""

    reason = (back or Rollback()).reason

    def move(session: Session) -> AliasRow:
        found = find_alias(session, project_id(session, name), alias, game)
        require_match(if_match, found.revision)
        return roll_back_alias(session, _key(found), Promotion(reason=reason, actor=principal.name))

    return await _moved(change, move, "alias.rollback", name, reason)


@router.get("/{alias}/canaries", summary="List canaries of an alias", response_model=Page[Canary])
def canaries(
    name: ProjectName,
    alias: AliasName,
    services: Api,
    principal: Viewer,
    game: GameQuery = None,
    limit: Limit = 100,
    cursor: NumberCursor = None,
) -> Response:
    """Versions that got a share of the served sessions, and how they did beside the champion; the newest first."""
    with services.reads() as session:
        found = find_alias(session, project_id(session, name), alias, game)
        rows = list_canaries(session, found, before=cursor, limit=limit + 1)
    return records_page([record for _, record in rows], limit, Canary, lambda _: rows[limit - 1][0])


@router.post("/{alias}/canaries", summary="Report results of a canary", response_model=Canary)
async def report_canary(
    name: ProjectName,
    alias: AliasName,
    report: ReportCanary,
    principal: Operator,
    change: Change,
    game: GameQuery = None,
) -> Response:
    """Record what a serving process counted. The answer is the comparison as it is now."""

    def work(session: Session) -> Reply:
        found = find_alias(session, project_id(session, name), alias, game)
        now = Canary.model_validate(record_canary(session, found, report, principal.name))
        detail = {"canary_version_id": now.canary_version_id, "status": now.status.value}
        return Reply(
            body=now, audit=AuditLine(action="canary.report", target=f"alias/{name}/{found.name}", detail=detail)
        )

    return await change.commit(work)


async def _moved(
    change: ChangeCall, move: Callable[[Session], AliasRow], action: str, project: str, reason: str
) -> Response:
    def work(session: Session) -> Reply:
        row = move(session)
        session.refresh(row)
        return Reply(
            body=Alias.model_validate(read_alias(session, row)),
            headers=etag(row.revision),
            audit=AuditLine(
                action=action,
                target=f"alias/{project}/{row.name}",
                detail={"game": row.game, "version_id": row.version_id, "reason": reason},
            ),
        )

    return await change.commit(work)


def _key(alias: AliasRow) -> AliasKey:
    return AliasKey(project_id=alias.project_id, game=alias.game, name=alias.name)
