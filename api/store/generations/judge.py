"""Judges a generation once, in one transaction: snapshot, reset, a gate for a main's snapshot, a copy in a population.

See docs/decisions/store.md.
"""

from __future__ import annotations

from dataclasses import dataclass, replace

from sqlalchemy import select
from sqlalchemy.orm import Session

from api.schemas.enums import GateStatus
from api.store.core.commits import lock_trial
from api.store.core.decisions import Subject, find_decision, record_decision
from api.store.core.errors import Conflict
from api.store.core.events import NewEvent, append_events
from api.store.gates.lifecycle import enter_candidate
from api.store.payoffs.cells import load_payoff
from api.store.players.reset import reset_player
from api.store.players.roster import player_of, players_of, roster_of
from api.store.players.snapshot import take_snapshot
from api.store.players.versions import origin_version, present_version
from api.store.populations.copying import maybe_copy
from api.store.tables import Decision, Gate, Generation, ModelVersion, Player, Trial
from api.store.trials.spec import model_of, spec_of
from league.lifecycle import RESET, SNAPSHOT
from league.matchmaking import Member
from league.types import Decision as Verdict
from league.types import DecisionKind, PlayerId, Role, VersionId
from orchestrator.league_rules import GenerationRef, judge_reset, judge_snapshot
from orchestrator.spec.components import Choice


@dataclass(frozen=True, kw_only=True)
class Judged:
    """The judgement of a generation, the same for every delivery."""

    snapshot: str | None = None
    """The id of the historical player that was created."""
    reset: bool = False
    gate: str | None = None
    """A gate that was opened and has not started to play."""


def judge_generation(session: Session, trial_id: str, player_id: str, generation: int) -> Judged:
    """Apply the league's rules to a recorded generation, or find its judgement."""
    trial = lock_trial(session, trial_id)
    player = player_of(session, trial_id, player_id)
    subject = Subject(trial_id=trial_id, player_id=player_id, generation=generation)
    known = find_decision(session, subject, DecisionKind.SNAPSHOT)
    if known is not None:
        return _judged(session, subject, known)
    if player.generation != generation:
        raise Conflict(
            f"generation {generation} of {player.name} cannot be judged: the newest recorded is {player.generation}"
        )
    verdict = _snapshot_verdict(session, trial, player)
    if verdict.verdict != SNAPSHOT:
        version_id = _generation_version(session, player_id, generation)
        record_decision(session, replace(subject, version_id=version_id), verdict)
        copied = maybe_copy(session, trial, player, subject)
        append_events(session, [] if copied is None else [copied])
        return Judged()
    frozen, taken = take_snapshot(session, trial, player, subject, verdict)
    reset = _maybe_reset(session, trial, player, subject, frozen)
    gate, opened = _maybe_gate(session, trial, player, frozen)
    # a player that starts again has nothing to be judged by yet
    copied = maybe_copy(session, trial, player, subject) if reset is None else None
    changed = [event for event in (reset, copied) if event is not None]
    append_events(session, [taken, *changed, *opened])
    return Judged(snapshot=frozen.player_id, reset=reset is not None, gate=_to_be_run(gate))


def _judged(session: Session, subject: Subject, snapshot: Decision) -> Judged:
    """The judgement as it was first made."""
    if snapshot.verdict != SNAPSHOT:
        return Judged()
    version = session.get_one(ModelVersion, snapshot.version_id)
    reset = find_decision(session, subject, DecisionKind.RESET)
    gate = session.scalars(
        select(Gate).where(Gate.candidate_version_id == version.id).order_by(Gate.id).limit(1)
    ).one_or_none()
    return Judged(snapshot=version.player_id, reset=reset is not None and reset.verdict == RESET, gate=_to_be_run(gate))


def _to_be_run(gate: Gate | None) -> str | None:
    """The gate, if the judgement opened it and it has not started to play."""
    if gate is None or gate.status is not GateStatus.RUNNING or gate.pairs or gate.opened_after_id is not None:
        return None
    return gate.id


def _generation_version(session: Session, player_id: str, generation: int) -> str:
    return session.scalars(
        select(Generation.version_id).where(Generation.player_id == player_id, Generation.number == generation)
    ).one()


def _snapshot_verdict(session: Session, trial: Trial, player: Player) -> Verdict:
    league = spec_of(trial).league
    return judge_snapshot(
        league,
        learner=PlayerId(player.id),
        roster=roster_of(session, trial.id),
        payoff=load_payoff(session, trial, min_games=league.payoff.min_games, of_player=player.id),
        steps_since_snapshot=player.steps - player.steps_at_snapshot,
    )


def _maybe_reset(
    session: Session, trial: Trial, player: Player, subject: Subject, frozen: ModelVersion
) -> NewEvent | None:
    verdict = judge_reset(
        spec_of(trial).league,
        GenerationRef(
            trial_seed=trial.seed, learner=PlayerId(player.id), name=player.name, generation=player.generation
        ),
        roster=_same_kind(session, trial, player),
        snapshot=VersionId(frozen.id),
        trial_steps=trial.steps,
    )
    if verdict.verdict != RESET:
        record_decision(session, replace(subject, version_id=frozen.id), verdict)
        return None
    target = verdict.evidence["target"]
    past = None if target is None else present_version(session, target)
    source = origin_version(session, player) if past is None else past
    return reset_player(session, trial, player, source, subject, verdict)


def _same_kind(session: Session, trial: Trial, player: Player) -> list[Member]:
    """The roster without snapshots whose weights mean something else: of another model or algorithm."""

    spec = spec_of(trial)

    def kind(each: Player) -> tuple[Choice, str]:
        return model_of(spec, each.model), spec.algorithm.id if each.algorithm is None else each.algorithm["id"]

    other = {
        each.id for each in players_of(session, trial.id) if each.role is Role.HISTORICAL and kind(each) != kind(player)
    }
    return [member for member in roster_of(session, trial.id) if member.id not in other]


def _maybe_gate(
    session: Session, trial: Trial, player: Player, frozen: ModelVersion
) -> tuple[Gate | None, list[NewEvent]]:
    """Every snapshot of a main is a candidate, if the trial has a champion gate."""
    rule = spec_of(trial).league.champion_gate
    if rule is None or player.role is not Role.MAIN:
        return None, []
    return enter_candidate(session, trial, frozen, rule, alias=rule.alias)
