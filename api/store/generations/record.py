"""Records a generation in one transaction, exactly once, however often its outcome is delivered.

See docs/decisions/store.md.
"""

from __future__ import annotations

from dataclasses import replace
from typing import Any

from sqlalchemy import insert, select
from sqlalchemy.orm import Session

from api.schemas.enums import CommitKind, VersionOrigin
from api.schemas.events import GenerationRecorded
from api.store.checkpoints.garbage import keep_checkpoint
from api.store.core.commits import lock_trial, take_commit
from api.store.core.errors import Conflict, NotFound
from api.store.core.events import NewEvent, append_events
from api.store.core.ids import new_id
from api.store.generations.fair_share import note_cost
from api.store.generations.matchmaker_state import state_after
from api.store.generations.outcome import OpponentTally, RecordedGeneration, TrainedGeneration
from api.store.generations.plan import planned_evidence
from api.store.generations.turns import check_lead
from api.store.payoffs.cells import CellKey, Results, sum_by_cell, update_payoff
from api.store.players.versions import present_version
from api.store.populations.schedule import explored_metrics
from api.store.tables import Decision, Generation, LineupTally, Metric, ModelVersion, Player, ReturnTally, Tally, Trial
from league.types import LineupTally as LineupResults
from league.types import Stream
from orchestrator.storage.artifacts import ArtifactStore


def record_planned_generation(
    session: Session, artifacts: ArtifactStore, trained: TrainedGeneration, *, crews: int = 0
) -> RecordedGeneration:
    """Keep the checkpoint, advance the matchmaker's state and record the generation, or find it recorded.

    Raises NotYet while another player has to record first (see `check_lead`). Must be the last call of its transaction.
    """
    recorded = find_generation(session, trained.player_id, trained.generation)
    if recorded is not None:
        return recorded  # the file of an attempt that lost the race may have been collected
    if trained.plan_decision_id is None:
        raise Conflict(f"generation {trained.generation} does not name the plan that it followed")
    check_lead(session, trained, crews)  # needs no lock: the lead can only shrink meanwhile
    keep_checkpoint(session, artifacts, trained.checkpoint)
    evidence = planned_evidence(session, trained.plan_decision_id)
    state = state_after(session, evidence, trained.tallies)
    return record_generation(session, replace(trained, matchmaker_state=state))


def record_generation(session: Session, trained: TrainedGeneration) -> RecordedGeneration:
    """Record the generation, or find it recorded. Must be the last call of its transaction."""
    trial = lock_trial(session, trained.trial_id)
    recorded = find_generation(session, trained.player_id, trained.generation)
    if recorded is not None:
        return recorded
    player = _next_in_line(session, trained)
    commit = take_commit(session, trial, CommitKind.GENERATION)
    version = _add_version(session, player, trained, commit)
    _add_generation(session, trained, version, commit)
    explored = explored_metrics(trial, player, trained.hyperparameters)
    _add_results(session, trial, replace(trained, metrics={**trained.metrics, **explored}), version, commit)
    player.generation = trained.generation
    player.steps = version.steps
    trial.steps += trained.steps
    note_cost(trial, trained)
    result = RecordedGeneration(
        player_id=player.id,
        generation=trained.generation,
        commit=commit,
        version_id=version.id,
        version_number=version.number,
        sha256=trained.checkpoint.sha256,
        player_steps=player.steps,
        won=True,
    )
    append_events(session, [_event(trial, player, trained, result)])
    return result


def find_generation(session: Session, player_id: str, generation: int) -> RecordedGeneration | None:
    """The recorded outcome of a player's generation, if there is one."""
    row = session.execute(
        select(Generation, ModelVersion)
        .join(ModelVersion, ModelVersion.id == Generation.version_id)
        .where(Generation.player_id == player_id, Generation.number == generation)
    ).one_or_none()
    if row is None:
        return None
    recorded, version = row
    return RecordedGeneration(
        player_id=player_id,
        generation=generation,
        commit=recorded.commit,
        version_id=version.id,
        version_number=version.number,
        sha256=version.sha256,
        player_steps=version.steps,
        won=False,
    )


def _next_in_line(session: Session, trained: TrainedGeneration) -> Player:
    """The player, if this generation is its next one and started from its present version; else Conflict."""
    player = session.get(Player, trained.player_id, populate_existing=True)
    if player is None or player.trial_id != trained.trial_id:
        raise NotFound(f"there is no player {trained.player_id} in trial {trained.trial_id}")
    if trained.generation != player.generation + 1:
        raise Conflict(f"generation {trained.generation} of {player.name} cannot follow generation {player.generation}")
    present = present_version(session, player.id)
    if present is None or present.id != trained.parent_version_id:
        found = "none" if present is None else f"{present.id} (number {present.number})"
        raise Conflict(
            f"generation {trained.generation} of {player.name} started from version {trained.parent_version_id}, "
            f"but the player's present version is {found}"
        )
    return player


def _add_version(session: Session, player: Player, trained: TrainedGeneration, commit: int) -> ModelVersion:
    parent = session.get_one(ModelVersion, trained.parent_version_id)
    version = ModelVersion(
        id=new_id(),
        trial_id=trained.trial_id,
        player_id=player.id,
        number=parent.number + 1,
        origin=VersionOrigin.TRAINED,
        parent_id=parent.id,
        steps=player.steps + trained.steps,
        uri=trained.checkpoint.uri,
        sha256=trained.checkpoint.sha256,
        size=trained.checkpoint.size,
        commit=commit,
    )
    session.add(version)
    session.flush()
    return version


def _add_generation(session: Session, trained: TrainedGeneration, version: ModelVersion, commit: int) -> None:
    session.execute(
        insert(Generation).values(
            player_id=trained.player_id,
            number=trained.generation,
            trial_id=trained.trial_id,
            commit=commit,
            parent_version_id=trained.parent_version_id,
            version_id=version.id,
            plan_decision_id=trained.plan_decision_id,
            steps=trained.steps,
            games=trained.games,
            seed=trained.seed,
            attempt=trained.attempt,
            hyperparameters=trained.hyperparameters,
            matchmaker_state=trained.matchmaker_state,
            started_at=trained.started_at,
            finished_at=trained.finished_at,
        )
    )


def _add_results(
    session: Session, trial: Trial, trained: TrainedGeneration, version: ModelVersion, commit: int
) -> None:
    at = {"trial_id": trial.id, "commit": commit}
    # an opponent may have been drawn without finishing a game
    played = [tally for tally in trained.tallies if tally.games != 0]
    if played:
        session.execute(insert(Tally), [at | _tally_row(tally, version.id) for tally in played])
        update_payoff(session, trial, commit, _payoff_batch(session, trained.player_id, played))
    if trained.returns is not None:
        returns = trained.returns
        session.execute(
            insert(ReturnTally).values(
                version_id=version.id,
                stream=Stream.TRAINING,
                games=returns.games,
                mean=returns.mean,
                deviations=returns.deviations,
                **at,
            )
        )
    if trained.lineups:
        rows = [at | _lineup_row(tally, version.id, trained.parent_version_id) for tally in trained.lineups]
        session.execute(insert(LineupTally), rows)
    of_generation = {"trial_id": trial.id, "player_id": trained.player_id, "generation": trained.generation}
    metrics = [
        {"name": name, "value": value, "steps": version.steps, **of_generation}
        for name, value in trained.metrics.items()
    ]
    decisions = [
        {
            "kind": verdict.kind,
            "verdict": verdict.verdict,
            "reason": verdict.reason,
            "evidence": verdict.evidence,
            "version_id": version.id,
            "commit": commit,
            **of_generation,
        }
        for verdict in trained.decisions
    ]
    if metrics:
        session.execute(insert(Metric), metrics)
    if decisions:
        session.execute(insert(Decision), decisions)


def _tally_row(tally: OpponentTally, learner_version_id: str) -> dict[str, object]:
    seat, opponent_seat = tally.seating
    return {
        "learner_version_id": learner_version_id,
        "opponent_version_id": tally.opponent_version_id,
        "seat": seat,
        "opponent_seat": opponent_seat,
        "stream": Stream.TRAINING,
        **_results(tally).columns,
    }


def _lineup_row(tally: LineupResults, version_id: str, parent_id: str) -> dict[str, Any]:
    """The learner is named by the version that the generation made, as in its other tallies."""
    returns = tally.returns
    opponent = tally.opponent
    return {
        "version_id": version_id,
        "lineup": [version_id if member == parent_id else member for member in tally.lineup],
        "opponent_version_id": version_id if opponent == parent_id else opponent,
        "seat": tally.seat,
        "opponent_seat": tally.opponent_seat,
        "games": tally.games,
        "wins": tally.wins,
        "draws": tally.draws,
        "losses": tally.losses,
        "returns": returns.mean * returns.games if returns else tally.earned.own if tally.earned else None,
        "opponent_returns": None if returns or tally.earned is None else tally.earned.other,
    }


def _results(tally: OpponentTally) -> Results:
    return Results(wins=tally.wins, draws=tally.draws, losses=tally.losses, earned=tally.earned)


def _payoff_batch(session: Session, player_id: str, tallies: list[OpponentTally]) -> dict[CellKey, Results]:
    opponents = {tally.opponent_version_id for tally in tallies}
    query = select(ModelVersion.id, ModelVersion.player_id).where(ModelVersion.id.in_(opponents))
    player_of = dict(session.execute(query).all())
    return sum_by_cell(
        (
            CellKey(
                stream=Stream.TRAINING,
                player_id=player_id,
                opponent_id=player_of[tally.opponent_version_id],
                seat=tally.seating[0],
                opponent_seat=tally.seating[1],
            ),
            _results(tally),
        )
        for tally in tallies
    )


def _event(trial: Trial, player: Player, trained: TrainedGeneration, result: RecordedGeneration) -> NewEvent:
    payload = GenerationRecorded(
        player_id=player.id,
        player=player.name,
        generation=result.generation,
        commit=result.commit,
        version_id=result.version_id,
        steps=trained.steps,
        player_steps=result.player_steps,
        games=trained.games,
        payoff_revision=trial.payoff_revision,
    )
    return NewEvent(trial_id=trial.id, payload=payload)
