"""Players of a league: listed, added while it runs, retired, retuned."""

from __future__ import annotations

from typing import Annotated, Any

from fastapi import APIRouter, Query, Response
from starlette.concurrency import run_in_threadpool

from api.schemas.base import Page
from api.schemas.enums import PlayerStatus
from api.schemas.players import NewPlayer, Player, PlayerEdit
from api.store.players.reads import get_player, list_players
from api.store.trials.reads import get_trial, require_trial
from api.store.trials.spec import algorithm_of, spec_of
from api.web.auth.scopes import Operator, Viewer
from api.web.changes import Answer, Audited, Change
from api.web.problems import Refusal, problems_at
from api.web.responses.etags import IfMatch, etag, require_match
from api.web.responses.paging import EntityId, IdCursor, Limit, text_of
from api.web.responses.serialization import ReadyRoute, model_response, records_page
from api.web.services import Api, Services
from api.web.temporal.updates import order_trial
from league.types import Role
from orchestrator.contracts.trials import Learner
from orchestrator.contracts.workflows import NewPlayer as NewPlayerOrder
from orchestrator.contracts.workflows import PlayerChange
from orchestrator.spec.checking import check_player

router = APIRouter(route_class=ReadyRoute, prefix="/api/v1", tags=["players"])


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
    """The members of the league in the order they joined, snapshots among them."""
    with services.reads() as session:
        require_trial(session, str(trial_id))
        rows = list_players(
            session, str(trial_id), after=text_of(cursor), limit=limit + 1, roles=role or (), status=status
        )
    return records_page(rows, limit, Player)


@router.post("/trials/{trial_id}/players", summary="Add a player", status_code=201, response_model=Player)
async def add(trial_id: EntityId, new: NewPlayer, principal: Operator, change: Change) -> Response:
    """A new member of a league that runs or is paused; a learning one starts to train at once."""
    services = change.services
    with problems_at("body"):
        check_player({"name": new.name, "role": new.role.value, "bot": new.bot})
    once_id = change.once_id

    def check() -> None:
        _check_hyperparameters(services, str(trial_id), new.hyperparameters)

    async def carry_out() -> Answer:
        order = NewPlayerOrder(
            key=once_id, name=new.name, role=new.role, bot=new.bot, hyperparameters=new.hyperparameters
        )
        learner = await order_trial(services, str(trial_id), "add_player", once_id, Learner, order)
        player = await run_in_threadpool(_read, services, learner.player)
        return Answer(status=201, body=player, headers={"Location": f"/api/v1/players/{player.id}"})

    detail = {"name": new.name, "role": new.role}
    audited = Audited(action="player.add", target=f"trial/{trial_id}", detail=detail)
    return await change.order(audited, check, carry_out)


@router.get("/players/{player_id}", summary="One player", response_model=Player)
def get_one(player_id: EntityId, services: Api, principal: Viewer) -> Response:
    """The player. The ETag is its revision."""
    player = _read(services, str(player_id))
    return model_response(player, etag(player.revision))


@router.patch("/players/{player_id}", summary="Retire or retune a player", response_model=Player)
async def edit(
    player_id: EntityId, changes: PlayerEdit, principal: Operator, change: Change, if_match: IfMatch = None
) -> Response:
    """A retired player finishes its generation; new hyperparameters count from the next one on."""
    services = change.services
    if not changes.retire and changes.hyperparameters is None:
        raise Refusal(422, "body: say what to change: retire, or hyperparameters")
    player = await run_in_threadpool(_read, services, str(player_id))

    def check() -> None:
        require_match(if_match, player.revision)
        _check_hyperparameters(services, player.trial_id, changes.hyperparameters or {})

    async def carry_out() -> Answer:
        order = PlayerChange(player=player.id, retire=changes.retire, hyperparameters=changes.hyperparameters)
        await order_trial(services, player.trial_id, "change_player", change.once_id, Learner, order)
        changed = await run_in_threadpool(_read, services, player.id)
        return Answer(body=changed, headers=etag(changed.revision))

    audited = Audited(
        action="player.change", target=f"player/{player_id}", detail=changes.model_dump(exclude_none=True)
    )
    return await change.order(audited, check, carry_out)


def _check_hyperparameters(services: Services, trial_id: str, hyperparameters: dict[str, Any]) -> None:
    with services.reads() as session:
        trial = get_trial(session, trial_id)[0]
    with problems_at("body.hyperparameters"):
        algorithm_of(spec_of(trial), hyperparameters)


def _read(services: Services, player_id: str) -> Player:
    with services.reads() as session:
        return Player.model_validate(get_player(session, player_id))
