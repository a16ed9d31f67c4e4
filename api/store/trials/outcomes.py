"""What became of failures: made good by a later success, lost for good, or still open."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from datetime import UTC, datetime

from sqlalchemy import select, tuple_
from sqlalchemy.orm import Session

from api.schemas.enums import PlayerStatus
from api.schemas.events import (
    CheckpointDamaged,
    EvaluationRecorded,
    ScheduleFailed,
    TournamentWithdrawn,
    TrialStalled,
    TrialStatusChanged,
    WorkflowRestarted,
)
from api.schemas.events.retries import EvaluationDropped, EvaluationRetried, PairingRetried, WeightsRetried
from api.schemas.failures import FailureOutcome, RecordedFailure
from api.store.tables import Event, Gate, GateBatch, Generation, ModelVersion, Pairing, Player, Tournament, Trial

LOST = {
    TournamentWithdrawn.KIND: "withdrawn from the tournament",
    EvaluationDropped.KIND: "a later version is measured instead",
    ScheduleFailed.KIND: "no tournament was opened at this time",
    TrialStatusChanged.KIND: "the trial failed",
}
"""Kinds of failures after which nothing is tried again, and why."""
PLAYER_RETIRED = "player retired"
Key = tuple[object, ...]
Moments = dict[Key, list[datetime]]


def with_outcomes(session: Session, trial_id: str, failures: Sequence[RecordedFailure]) -> list[RecordedFailure]:
    """The failures of a trial, each with its outcome."""
    successes = _successes(session, trial_id, failures)
    ended = _ended_subjects(session, trial_id, failures)
    return [_with_outcome(each, successes.get(_key(each), []), ended) for each in failures]


def _with_outcome(failure: RecordedFailure, successes: Iterable[datetime], ended: dict[str, str]) -> RecordedFailure:
    lost = PLAYER_RETIRED if failure.verdict == "retired" else LOST.get(failure.type)
    after = next((at for at in successes if at >= failure.at), None)
    if failure.type == WorkflowRestarted.KIND:
        after = failure.at  # told when it was started again
    if lost is None and after is not None:
        recovered = {"outcome": FailureOutcome.RECOVERED, "recovered_at": after.astimezone(UTC)}
        return failure.model_copy(update=recovered)
    subjects = (failure.gate_id, failure.tournament_id, failure.player_id, "")
    lost = lost or next((ended[each] for each in subjects if each is not None and each in ended), None)
    outcome = FailureOutcome.OPEN if lost is None else FailureOutcome.LOST
    return failure.model_copy(update={"outcome": outcome, "outcome_reason": lost})


def _key(failure: RecordedFailure) -> Key:
    """What must succeed after the failure: the same generation, evaluation or pairing, or any batch of the gate."""
    if failure.type == CheckpointDamaged.KIND:
        return failure.type, failure.version_id
    if failure.type in (WeightsRetried.KIND, TrialStalled.KIND):
        return (failure.type,)
    if failure.type == PairingRetried.KIND:
        return failure.type, failure.tournament_id, failure.round, failure.pair
    if failure.gate_id:
        return "gate", failure.gate_id
    kind = failure.type if failure.type == EvaluationRetried.KIND else "generation"
    return kind, failure.player_id, failure.generation


def _successes(session: Session, trial_id: str, failures: Sequence[RecordedFailure]) -> Moments:
    """When what failed succeeded, in order."""
    by_kind = {kind: [each for each in failures if each.type == kind] for kind in {each.type for each in failures}}
    found = _recorded(session, failures) | _played(session, failures)
    if avoided := [each for each in by_kind.get(CheckpointDamaged.KIND, []) if each.version_id]:
        found |= _replaced(session, avoided)
    if pairings := by_kind.get(PairingRetried.KIND):
        found |= _pairings(session, pairings)
    if evaluations := by_kind.get(EvaluationRetried.KIND):
        found |= _evaluated(session, trial_id, evaluations)
    for kind in (WeightsRetried.KIND, TrialStalled.KIND):
        if kind in by_kind:
            next_ones = (_next_recorded(session, trial_id, each.at) for each in by_kind[kind])
            found[(kind,)] = sorted({at for at in next_ones if at is not None})
    return found


def _recorded(session: Session, failures: Sequence[RecordedFailure]) -> Moments:
    numbers = {(each.player_id, each.generation) for each in failures if each.player_id and each.generation}
    query = select(Generation.player_id, Generation.number, Generation.recorded_at).where(
        tuple_(Generation.player_id, Generation.number).in_(numbers)
    )
    rows = session.execute(query.order_by(Generation.recorded_at)).all() if numbers else ()
    return _by_key((("generation", player, number), at) for player, number, at in rows)


def _played(session: Session, failures: Sequence[RecordedFailure]) -> Moments:
    gates = {each.gate_id for each in failures if each.gate_id}
    query = select(GateBatch.gate_id, GateBatch.created_at).where(GateBatch.gate_id.in_(gates))
    rows = session.execute(query.order_by(GateBatch.created_at)).all() if gates else ()
    return _by_key((("gate", gate), at) for gate, at in rows)


def _replaced(session: Session, avoided: Sequence[RecordedFailure]) -> Moments:
    """When the players of damaged versions had a newer one."""
    damaged = select(ModelVersion.id, ModelVersion.player_id, ModelVersion.number).where(
        ModelVersion.id.in_({each.version_id for each in avoided})
    )
    of_player = damaged.subquery()
    rows = session.execute(
        select(of_player.c.id, ModelVersion.created_at)
        .join(ModelVersion, ModelVersion.player_id == of_player.c.player_id)
        .where(ModelVersion.number > of_player.c.number)
        .order_by(ModelVersion.number)
    )
    return _by_key(((CheckpointDamaged.KIND, version), at) for version, at in rows)


def _pairings(session: Session, failures: Sequence[RecordedFailure]) -> Moments:
    keys = {(each.tournament_id, each.round, each.pair) for each in failures}
    columns = (Pairing.tournament_id, Pairing.round, Pairing.pair)
    rows = session.execute(select(*columns, Pairing.played_at).where(tuple_(*columns).in_(keys)))
    return _by_key(((PairingRetried.KIND, *key), at) for *key, at in rows if at is not None)


def _evaluated(session: Session, trial_id: str, failures: Sequence[RecordedFailure]) -> Moments:
    player, generation = Event.payload["player_id"].astext, Event.payload["generation"].as_integer()
    rows = session.execute(
        select(player, generation, Event.created_at)
        .where(Event.trial_id == trial_id, Event.type == EvaluationRecorded.KIND)
        .where(Event.id > min(each.id for each in failures), player.in_({each.player_id for each in failures}))
        .order_by(Event.id)
    )
    return _by_key(((EvaluationRetried.KIND, of, number), at) for of, number, at in rows)


def _next_recorded(session: Session, trial_id: str, since: datetime) -> datetime | None:
    """When the trial's next generation was recorded: its weights were made, and it stands still no more."""
    query = select(Generation.recorded_at).where(Generation.trial_id == trial_id, Generation.recorded_at >= since)
    return session.scalar(query.order_by(Generation.commit).limit(1))


def _ended_subjects(session: Session, trial_id: str, failures: Sequence[RecordedFailure]) -> dict[str, str]:
    """What is over, so that nothing of it is tried again: gates, tournaments and players by id, "" for the trial."""
    gates = {each.gate_id for each in failures if each.gate_id}
    tournaments = {each.tournament_id for each in failures if each.tournament_id}
    players = {each.player_id for each in failures if each.player_id}
    decided = select(Gate.id).where(Gate.id.in_(gates), Gate.finished_at.is_not(None))
    closed = select(Tournament.id).where(Tournament.id.in_(tournaments), Tournament.finished_at.is_not(None))
    retired = select(Player.id).where(Player.id.in_(players), Player.status == PlayerStatus.RETIRED)
    found = dict.fromkeys(session.scalars(decided), "the gate ended")
    found |= dict.fromkeys(session.scalars(closed), "the tournament ended")
    found |= dict.fromkeys(session.scalars(retired), PLAYER_RETIRED)
    status = session.scalar(select(Trial.status).where(Trial.id == trial_id))
    return found | ({"": f"the trial is {status.value}"} if status is not None and status.is_final else {})


def _by_key(rows: Iterable[tuple[Key, datetime]]) -> Moments:
    found: Moments = {}
    for key, at in rows:
        found.setdefault(key, []).append(at)
    return found
