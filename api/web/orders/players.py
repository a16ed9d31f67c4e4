"""Orders about a trial's players: add, change."""

from __future__ import annotations

from typing import Any

from starlette.concurrency import run_in_threadpool

from api.schemas.players import NewPlayer, Player, PlayerEdit
from api.store.players import reads
from api.store.players.league_spec import with_player
from api.store.players.weights import initial_weights
from api.store.trials.reads import get_trial
from api.store.trials.spec import algorithm_of, model_of, retuned, spec_of
from api.web.auth.code_scope import require_code
from api.web.changes import AuditLine, ChangeCall, Reply
from api.web.orders.order import Order
from api.web.problems import problems_at
from api.web.responses.etags import etag, require_match
from api.web.services import Services
from api.web.temporal.messages import update_trial
from api.web.temporal.try_components import try_player
from orchestrator.contracts.trials import Learner, OwnStart
from orchestrator.contracts.workflows import NewPlayer as NewPlayerOrder
from orchestrator.contracts.workflows import PlayerChange
from orchestrator.league_rules import starts_alike
from orchestrator.spec import TrialSpec
from orchestrator.spec.code_names import code_in_choice, files_in_choice
from orchestrator.spec.players import PlayerSpec
from orchestrator.spec.reading.checking import check_files, check_player


class AddPlayer(Order):
    """A new player joins the league."""

    def __init__(self, change: ChangeCall, trial_id: str, new: NewPlayer) -> None:
        super().__init__(change)
        self.trial_id = trial_id
        self.new = new

    def audit_line(self) -> AuditLine:
        own = self.new.model_dump(include={"algorithm", "model"}, exclude_none=True)
        detail = {"name": self.new.name, "role": self.new.role, **own}
        return AuditLine(action="player.add", target=f"trial/{self.trial_id}", detail=detail)

    def check(self) -> None:
        check_hyperparameters(self.change, self.trial_id, self.new.algorithm, self.new.hyperparameters)

    async def try_out(self) -> None:
        spec = await run_in_threadpool(self._league)
        number, tuned = len(spec.league.players) - 1, self.new.algorithm is None
        with problems_at("body"):
            await try_player(self.change, spec, number, "player.add", tuned=tuned)

    async def send(self) -> Reply:
        start = await run_in_threadpool(self._start) if self.new.role.learns else None
        # the workflow adds one player for a key, so a retry is sent again and finds the player it made
        key = self.change.operation_id
        message = NewPlayerOrder(
            key=key,
            name=self.new.name,
            role=self.new.role,
            bot=self.new.bot,
            hyperparameters=self.new.hyperparameters,
            algorithm=self.new.algorithm,
            model=self.new.model,
            start=start,
        )
        learner = await update_trial(self.services, self.trial_id, "add_player", key, Learner, message)
        player = await run_in_threadpool(read_player, self.services, learner.player)
        return Reply(status=201, body=player, headers={"Location": f"/api/v1/players/{player.id}"})

    def _league(self) -> TrialSpec:
        """The trial with the new player, whose algorithm has its hyperparameters."""
        new = self.new
        own = new.model_dump(mode="json", include={"name", "role", "bot", "algorithm", "model"})
        with self.services.reads() as session:
            trial = get_trial(session, self.trial_id)
            player = check_player(own)
            if new.role.learns:
                choice = retuned(spec_of(trial), new.algorithm, new.hyperparameters)
                player = player.model_copy(update={"algorithm": choice})
            return with_player(session, trial, player)

    def _start(self) -> OwnStart | None:
        """What its initial weights are made for; None where it can share those of other players."""
        with self.services.reads() as session:
            trial = get_trial(session, self.trial_id)
            shared = initial_weights(session, trial)
        spec, new = spec_of(trial), self.new
        own = {"own_algorithm": new.algorithm is not None, "own_model": new.model is not None}
        if shared is not None and starts_alike(spec, **own):
            return None
        algorithm = algorithm_of(spec, new.algorithm, new.hyperparameters)
        return OwnStart(model=model_of(spec, new.model).component, algorithm=algorithm)


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
        check_hyperparameters(self.change, player.trial_id, player.algorithm, self.edit.hyperparameters or {})

    async def try_out(self) -> None:
        if self.edit.hyperparameters is None:
            return
        spec = await run_in_threadpool(self._league, self.edit.hyperparameters)
        if spec is None:
            return
        with problems_at("body"):
            await try_player(self.change, spec, len(spec.league.players) - 1, "player.change", tuned=True)

    def _league(self, hyperparameters: dict[str, Any]) -> TrialSpec | None:
        """The trial with the player as it will be; None for one that does not learn, which the workflow refuses."""
        player = read_player(self.services, self.player_id)
        if not player.role.learns:
            return None
        with self.services.reads() as session:
            trial = get_trial(session, player.trial_id)
            spec = spec_of(trial)
            changed = PlayerSpec(name=player.name, role=player.role).model_copy(
                update={
                    "algorithm": retuned(spec, player.algorithm, hyperparameters),
                    "model": None if player.model is None else model_of(spec, player.model),
                }
            )
            return with_player(session, trial, changed)

    async def send(self) -> Reply:
        player = await run_in_threadpool(read_player, self.services, self.player_id)
        message = PlayerChange(player=player.id, retire=self.edit.retire, hyperparameters=self.edit.hyperparameters)
        await update_trial(self.services, player.trial_id, "change_player", self.change.operation_id, Learner, message)
        changed = await run_in_threadpool(read_player, self.services, self.player_id)
        return Reply(body=changed, headers=etag(changed.revision))


def check_hyperparameters(
    change: ChangeCall, trial_id: str, algorithm: dict[str, Any] | None, hyperparameters: dict[str, Any]
) -> None:
    """Refuse hyperparameters that the player's algorithm does not take (None is the trial's), and names of code."""
    with change.services.reads() as session:
        trial = get_trial(session, trial_id)
    with problems_at("body.hyperparameters"):
        choice = retuned(spec_of(trial), algorithm, hyperparameters)
        files = [(each.field, each.name) for each in files_in_choice(choice, ())]
        check_files(files, change.services.settings.imports)
    code = [each for each in code_in_choice(choice, ()) if each.path[0] in hyperparameters and each.path[0] != "id"]
    require_code(change.principal, code, "body.hyperparameters")


def read_player(services: Services, player_id: str) -> Player:
    """The player as it is now."""
    with services.reads() as session:
        return Player.model_validate(reads.read_player(session, player_id))
