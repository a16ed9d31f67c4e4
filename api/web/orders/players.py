"""Orders about a trial's players: add, change."""

from __future__ import annotations

from typing import Any

from starlette.concurrency import run_in_threadpool

from api.schemas.players import NewPlayer, Player, PlayerEdit
from api.store.players import reads
from api.store.trials.reads import get_trial
from api.store.trials.spec import algorithm_of, spec_of
from api.web.changes import AuditLine, ChangeCall, Reply
from api.web.orders.order import Order
from api.web.problems import problems_at
from api.web.responses.etags import etag, require_match
from api.web.services import Services
from api.web.temporal.messages import update_trial
from orchestrator.contracts.trials import Learner
from orchestrator.contracts.workflows import NewPlayer as NewPlayerOrder
from orchestrator.contracts.workflows import PlayerChange


class AddPlayer(Order):
    """A new player joins the league."""

    def __init__(self, change: ChangeCall, trial_id: str, new: NewPlayer) -> None:
        super().__init__(change)
        self.trial_id = trial_id
        self.new = new

    def audit_line(self) -> AuditLine:
        detail = {"name": self.new.name, "role": self.new.role}
        return AuditLine(action="player.add", target=f"trial/{self.trial_id}", detail=detail)

    def check(self) -> None:
        check_hyperparameters(self.services, self.trial_id, self.new.hyperparameters)

    async def send(self) -> Reply:
        # the workflow adds one player for a key, so a retry is sent again and finds the player it made
        key = self.change.operation_id
        message = NewPlayerOrder(
            key=key,
            name=self.new.name,
            role=self.new.role,
            bot=self.new.bot,
            hyperparameters=self.new.hyperparameters,
        )
        learner = await update_trial(self.services, self.trial_id, "add_player", key, Learner, message)
        player = await run_in_threadpool(read_player, self.services, learner.player)
        return Reply(status=201, body=player, headers={"Location": f"/api/v1/players/{player.id}"})


class ChangePlayer(Order):
    """A player is retired, or trains with other hyperparameters from its next generation on."""

    def __init__(self, change: ChangeCall, player_id: str, edit: PlayerEdit, if_match: str | None) -> None:
        super().__init__(change)
        self.player_id = player_id
        self.edit = edit
        self.if_match = if_match

    def audit_line(self) -> AuditLine:
        detail = self.edit.model_dump(exclude_none=True)
        return AuditLine(action="player.change", target=f"player/{self.player_id}", detail=detail)

    def check(self) -> None:
        player = read_player(self.services, self.player_id)
        require_match(self.if_match, player.revision)
        check_hyperparameters(self.services, player.trial_id, self.edit.hyperparameters or {})

    async def send(self) -> Reply:
        player = await run_in_threadpool(read_player, self.services, self.player_id)
        message = PlayerChange(player=player.id, retire=self.edit.retire, hyperparameters=self.edit.hyperparameters)
        await update_trial(self.services, player.trial_id, "change_player", self.change.operation_id, Learner, message)
        changed = await run_in_threadpool(read_player, self.services, self.player_id)
        return Reply(body=changed, headers=etag(changed.revision))


def check_hyperparameters(services: Services, trial_id: str, hyperparameters: dict[str, Any]) -> None:
    """Refuse hyperparameters that the trial's algorithm does not take."""
    with services.reads() as session:
        trial = get_trial(session, trial_id)
    with problems_at("body.hyperparameters"):
        algorithm_of(spec_of(trial), hyperparameters)


def read_player(services: Services, player_id: str) -> Player:
    """The player as it is now."""
    with services.reads() as session:
        return Player.model_validate(reads.read_player(session, player_id))
