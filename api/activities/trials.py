"""Activities of a trial: start, status, players, events and garbage collection."""

from __future__ import annotations

from dataclasses import replace
from datetime import timedelta

import structlog
from sqlalchemy import Engine
from sqlalchemy.orm import Session
from temporalio import activity

from api.activities.error_mapping import map_errors
from api.schemas.enums import PlayerStatus, TrialStatus
from api.schemas.events import EventPayload, GateRetried, read_event
from api.store.checkpoints.garbage import collect_garbage, keep_checkpoint
from api.store.checkpoints.pruning import BackupUnderWay, Retention, prune_checkpoints
from api.store.core.commits import lock_trial
from api.store.core.engine import session_factory
from api.store.core.errors import Conflict
from api.store.core.events import NewEvent, append_once
from api.store.matches.pruning import prune_matches
from api.store.players.roster import add_player, change_player, enter_players, players_of
from api.store.players.versions import present_version
from api.store.players.weights import initial_weights
from api.store.tables import Gate, Player, Project, Trial
from api.store.trials.expected_workflows import judged_generation
from api.store.trials.names import first_name
from api.store.trials.reads import require_trial
from api.store.trials.rungs import rung_steps
from api.store.trials.spec import model_of, own_algorithm, spec_of
from api.store.trials.started import mark_started
from api.store.trials.status import change_status
from orchestrator.contracts import trials as contracts
from orchestrator.league_rules import starts_alike
from orchestrator.spec import TrialSpec
from orchestrator.spec.values import is_id
from orchestrator.storage.artifacts import ArtifactStore

log = structlog.get_logger()

MATCHES_OF_A_RUN = 50_000
"""Pruned when a trial ends, within the time limit of the activity; the others go when the next one ends."""


class TrialActivities:
    """The store's part of a trial."""

    def __init__(
        self,
        engine: Engine,
        artifacts: ArtifactStore,
        *,
        garbage_age: timedelta,
        retention: Retention | None = None,
        moves_age: timedelta | None = None,
    ) -> None:
        self._sessions = session_factory(engine)
        self._artifacts = artifacts
        self._garbage_age, self._retention, self._moves_age = garbage_age, retention, moves_age

    @activity.defn(name=contracts.begin_trial.name)
    def begin_trial(self, request: contracts.TrialRequest) -> contracts.TrialBrief:
        """Mark the trial's workflow as started and return what it needs to run the trial."""
        with map_errors(), self._sessions.begin() as session:
            mark_started(session, request.trial)
            return _brief(session, lock_trial(session, request.trial))

    @activity.defn(name=contracts.enter_players.name)
    def enter_players(self, entry: contracts.EnterPlayers) -> None:
        """Give every player without a version its first one."""
        with map_errors(), self._sessions.begin() as session:
            for weights in {ref.uri: ref for ref in (entry.initial, *entry.own.values())}.values():
                keep_checkpoint(session, self._artifacts, weights)
            enter_players(session, entry.trial, entry.initial, entry.own)

    @activity.defn(name=contracts.change_status.name)
    def change_status(self, change: contracts.StatusChange) -> None:
        """Change the trial's status. Setting the present status again changes nothing."""
        with map_errors(), self._sessions.begin() as session:
            change_status(session, change.trial, _status(change.status), change.reason or None, order=change.order)

    @activity.defn(name=contracts.add_player.name)
    def add_player(self, addition: contracts.AddPlayer) -> contracts.Learner:
        """Add a player to a running league."""
        with map_errors(), self._sessions.begin() as session:
            if addition.initial is not None:
                keep_checkpoint(session, self._artifacts, addition.initial)
            player = add_player(
                session,
                addition.trial,
                addition.key,
                name=addition.name,
                role=addition.role,
                bot=addition.bot,
                hyperparameters=addition.hyperparameters,
                algorithm=addition.algorithm,
                model=addition.model,
                initial=addition.initial,
            )
            return _learner(player)

    @activity.defn(name=contracts.change_player.name)
    def change_player(self, change: contracts.ChangePlayer) -> contracts.Learner:
        """Retire or retune a player."""
        with map_errors(), self._sessions.begin() as session:
            player = change_player(
                session, change.trial, change.player, retire=change.retire, hyperparameters=change.hyperparameters
            )
            return _learner(player)

    @activity.defn(name=contracts.note_event.name)
    def note_event(self, event: contracts.TrialEvent) -> None:
        """Write an event of the trial, once for each key."""
        with map_errors(), self._sessions.begin() as session:
            require_trial(session, event.trial)
            payload = _with_names(session, read_event(event.type, event.payload))
            append_once(session, NewEvent(trial_id=event.trial, payload=payload), event.key)

    @activity.defn(name=contracts.collect_garbage.name)
    def collect_garbage(self, request: contracts.TrialRequest) -> contracts.GarbageReport:
        """Give up what retention does not keep, and remove old files that no version refers to."""
        with map_errors():
            if self._retention is not None:
                try:
                    prune_checkpoints(self._sessions, self._retention)
                except BackupUnderWay as later:
                    log.info("nothing is pruned now", reason=str(later))
            if self._moves_age is not None:
                prune_matches(self._sessions, self._moves_age, at_most=MATCHES_OF_A_RUN)
            collected = collect_garbage(self._sessions, self._artifacts, older_than=self._garbage_age)
        return contracts.GarbageReport(files=len(collected.uris), bytes=collected.bytes_freed)


def _status(word: str) -> TrialStatus:
    try:
        return TrialStatus(word)
    except ValueError:
        raise Conflict(f"there is no trial status {word!r}; allowed: {', '.join(TrialStatus)}") from None


def _brief(session: Session, trial: Trial) -> contracts.TrialBrief:
    spec = spec_of(trial)
    until, limit = spec.budget.until, spec.budget.wall_clock
    source = spec.initial_weights
    return contracts.TrialBrief(
        trial=trial.id,
        name=f"{session.get_one(Project, trial.project_id).name}.{first_name(trial)}",  # the folder of its charts stays
        game=spec.game.component,
        model=spec.model.component,
        seed=trial.seed,
        learners=[
            replace(_learner(player), generation=judged_generation(session, player.id, player.generation))
            for player in players_of(session, trial.id)
            if player.role.learns and player.status is PlayerStatus.ACTIVE
        ],
        initial=initial_weights(session, trial),
        # a version's weights are in the store already; only a file must still be fetched
        initial_source=None if source is None or is_id(source) else source,
        start_paused=spec.start == "paused",
        steps=trial.steps,
        budget_steps=spec.budget.steps,
        wall_clock_seconds=None if limit is None else limit.total_seconds(),
        target=None if until is None else contracts.Target(opponent=until.opponent, win_rate=until.win_rate),
        evaluate_every=spec.evaluation.every_generations,
        nash_conv=spec.evaluation.nash_conv,
        over=trial.status.is_final,
        algorithm=spec.algorithm.component,
        own_starts=_own_starts(session, trial, spec),
        gated=spec.league.champion_gate is not None,
        sweep=trial.sweep_id or "",
        rungs=rung_steps(session, trial),
    )


def _own_starts(session: Session, trial: Trial, spec: TrialSpec) -> list[contracts.OwnStart]:
    """What else initial weights are made for, with the players that wait for them."""
    named = {player.name for player in spec.league.members if player.weights is not None}
    found: list[contracts.OwnStart] = []
    for player in players_of(session, trial.id):
        waits = player.role.learns and player.name not in named and present_version(session, player.id) is None
        own = {"own_algorithm": player.algorithm is not None, "own_model": player.model is not None}
        if not waits or starts_alike(spec, **own):
            continue
        model, algorithm = model_of(spec, player.model).component, own_algorithm(trial, player)
        same = next((each for each in found if (each.model, each.algorithm) == (model, algorithm)), None)
        if same is None:
            found.append(contracts.OwnStart(model=model, algorithm=algorithm, players=[player.id]))
        else:
            same.players.append(player.id)
    return found


def _with_names(session: Session, payload: EventPayload) -> EventPayload:
    """The payload with the names that the workflow does not know."""
    gate = session.get(Gate, payload.gate_id) if isinstance(payload, GateRetried) and payload.gate_id else None
    return payload if gate is None else payload.model_copy(update={"alias": gate.alias})


def _learner(player: Player) -> contracts.Learner:
    return contracts.Learner(player=player.id, name=player.name, role=player.role, generation=player.generation)
