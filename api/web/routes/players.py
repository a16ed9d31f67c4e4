"""Players of a league: list, add, retire, retune."""

from __future__ import annotations

from typing import Annotated

from fastapi import APIRouter, Query, Response

from api.schemas.base import Page
from api.schemas.enums import PlayerStatus
from api.schemas.players import NewPlayer, Player, PlayerDetail, PlayerEdit
from api.store.checkpoints.damaged import is_known_damaged
from api.store.players.reads import list_players, read_player, retired_reason
from api.store.trials.reads import require_trial
from api.web.auth.code_scope import require_code
from api.web.auth.scopes import Operator, Viewer
from api.web.changes import Change
from api.web.orders.players import AddPlayer, ChangePlayer
from api.web.problems import ProblemError, problems_at
from api.web.responses.etags import IfMatch, etag
from api.web.responses.paging import EntityId, IdCursor, Limit, text_of
from api.web.responses.serialization import SerializingRoute, record_response, records_page
from api.web.services import Api
from league.types import Role
from orchestrator.spec.code_names import CodeName, code_in_choice, is_code
from orchestrator.spec.reading.checking import check_player

router = APIRouter(route_class=SerializingRoute, prefix="/api/v1", tags=["players"])


@router.get("/trials/{trial_id}/players", summary="List players", response_model=Page[Player])
def list_all(
    trial_id: EntityId,
    services: Api,
    principal: Viewer,
    role: Annotated[list[Role] | None, Query(description="only of these roles")] = None,
    status: Annotated[PlayerStatus | None, Query(description="only with this status")] = None,
    limit: Limit = 100,
    cursor: IdCursor = None,
) -> Response:
    """The players of the league in the order they were added, snapshots included."""
    with services.reads() as session:
        require_trial(session, str(trial_id))
        rows = list_players(
            session, str(trial_id), after=text_of(cursor), limit=limit + 1, roles=role or (), status=status
        )
    return records_page(rows, limit, Player)


@router.post("/trials/{trial_id}/players", summary="Add a player", status_code=201, response_model=Player)
async def add(trial_id: EntityId, new: NewPlayer, principal: Operator, change: Change) -> Response:
    """Add a player to a running or paused league; a player that learns starts training at once."""
    own = new.model_dump(mode="json", include={"name", "role", "bot", "algorithm", "model"})
    with problems_at("body"):
        player = check_player(own)
    code = [CodeName(path=("bot",), name=new.bot)] if new.bot is not None and is_code(new.bot) else []
    for field, choice in (("algorithm", player.algorithm), ("model", player.model)):
        code += [] if choice is None else code_in_choice(choice, (field,))
    require_code(principal, code, "body")
    return await AddPlayer(change, str(trial_id), new).carry_out()


@router.get("/players/{player_id}", summary="Get a player", response_model=PlayerDetail)
def get_one(player_id: EntityId, services: Api, principal: Viewer) -> Response:
    """The player. The ETag is its revision."""
    with services.reads() as session:
        record = read_player(session, str(player_id))
        retired = record["status"] == PlayerStatus.RETIRED
        record["retired_reason"] = retired_reason(session, record["trial_id"], str(player_id)) if retired else None
        record["version_damaged"] = bool(record["version_id"]) and is_known_damaged(session, record["version_id"])
    return record_response(record, PlayerDetail, etag(record["revision"]))


@router.patch("/players/{player_id}", summary="Retire or retune a player", response_model=Player)
async def edit(
    player_id: EntityId, changes: PlayerEdit, principal: Operator, change: Change, if_match: IfMatch = None
) -> Response:
    """A retired player finishes its generation; new hyperparameters apply from the next generation on."""
    if not changes.retire and changes.hyperparameters is None:
        raise ProblemError(422, "body: say what to change: retire, or hyperparameters")
    return await ChangePlayer(change, str(player_id), changes, if_match).carry_out()
