"""Recording a generation: one transaction, exactly once, whoever delivers its outcome and however often."""

from __future__ import annotations

from sqlalchemy import insert, select
from sqlalchemy.orm import Session

from api.schemas.enums import CommitKind, VersionOrigin
from api.store.core.commits import lock_trial, take_commit
from api.store.core.errors import Conflict, NotFound
from api.store.core.events import NewEvent, append_events
from api.store.core.ids import new_id
from api.store.generations.outcome import GenerationOutcome, OpponentTally, RecordedGeneration
from api.store.payoffs.cells import CellKey, Results, summed, update_payoff
from api.store.players.versions import present_version
from api.store.tables import Decision, Generation, Metric, ModelVersion, Player, ReturnTally, Tally, Trial
from league.types import Stream


def record_generation(session: Session, outcome: GenerationOutcome) -> RecordedGeneration:
    """Record the outcome, or find it recorded. Runs in the caller's transaction and must be its last act."""
    trial = lock_trial(session, outcome.trial_id)
    recorded = find_generation(session, outcome.player_id, outcome.generation)
    if recorded is not None:
        return recorded
    player = _next_in_line(session, outcome)
    commit = take_commit(session, trial, CommitKind.GENERATION)
    version = _add_version(session, player, outcome, commit)
    _add_generation(session, outcome, version, commit)
    _add_results(session, trial, outcome, version, commit)
    player.generation = outcome.generation
    player.steps = version.steps
    trial.steps += outcome.steps
    result = RecordedGeneration(
        player_id=player.id,
        generation=outcome.generation,
        commit=commit,
        version_id=version.id,
        version_number=version.number,
        sha256=outcome.checkpoint.sha256,
        player_steps=player.steps,
        won=True,
    )
    append_events(session, [_event(trial, player, outcome, result)])
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


def _next_in_line(session: Session, outcome: GenerationOutcome) -> Player:
    """The player, if this generation is the one that comes next and grew from its present version."""
    player = session.get(Player, outcome.player_id, populate_existing=True)
    if player is None or player.trial_id != outcome.trial_id:
        raise NotFound(f"there is no player {outcome.player_id} in trial {outcome.trial_id}")
    if outcome.generation != player.generation + 1:
        raise Conflict(f"generation {outcome.generation} of {player.name} cannot follow generation {player.generation}")
    present = present_version(session, player.id)
    if present is None or present.id != outcome.parent_version_id:
        found = "none" if present is None else f"{present.id} (number {present.number})"
        raise Conflict(
            f"generation {outcome.generation} of {player.name} grew from version {outcome.parent_version_id}, "
            f"but the player's present version is {found}"
        )
    return player


def _add_version(session: Session, player: Player, outcome: GenerationOutcome, commit: int) -> ModelVersion:
    parent = session.get_one(ModelVersion, outcome.parent_version_id)
    version = ModelVersion(
        id=new_id(),
        trial_id=outcome.trial_id,
        player_id=player.id,
        number=parent.number + 1,
        origin=VersionOrigin.TRAINED,
        parent_id=parent.id,
        steps=player.steps + outcome.steps,
        uri=outcome.checkpoint.uri,
        sha256=outcome.checkpoint.sha256,
        size=outcome.checkpoint.size,
        commit=commit,
    )
    session.add(version)
    session.flush()
    return version


def _add_generation(session: Session, outcome: GenerationOutcome, version: ModelVersion, commit: int) -> None:
    session.execute(
        insert(Generation).values(
            player_id=outcome.player_id,
            number=outcome.generation,
            trial_id=outcome.trial_id,
            commit=commit,
            parent_version_id=outcome.parent_version_id,
            version_id=version.id,
            plan_decision_id=outcome.plan_decision_id,
            steps=outcome.steps,
            games=outcome.games,
            seed=outcome.seed,
            attempt=outcome.attempt,
            hyperparameters=outcome.hyperparameters,
            matchmaker_state=outcome.matchmaker_state,
            started_at=outcome.started_at,
            finished_at=outcome.finished_at,
        )
    )


def _add_results(
    session: Session, trial: Trial, outcome: GenerationOutcome, version: ModelVersion, commit: int
) -> None:
    at = {"trial_id": trial.id, "commit": commit}
    # an opponent may have been drawn without a game being finished
    played = [tally for tally in outcome.tallies if tally.games != 0]
    if played:
        session.execute(insert(Tally), [at | _tally_row(tally, version.id) for tally in played])
        update_payoff(session, trial, commit, _payoff_batch(session, outcome.player_id, played))
    if outcome.returns is not None:
        returns = outcome.returns
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
    of_generation = {"trial_id": trial.id, "player_id": outcome.player_id, "generation": outcome.generation}
    metrics = [
        {"name": name, "value": value, "steps": version.steps, **of_generation}
        for name, value in outcome.metrics.items()
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
        for verdict in outcome.decisions
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


def _results(tally: OpponentTally) -> Results:
    return Results(wins=tally.wins, draws=tally.draws, losses=tally.losses, earned=tally.earned)


def _payoff_batch(session: Session, player_id: str, tallies: list[OpponentTally]) -> dict[CellKey, Results]:
    opponents = {tally.opponent_version_id for tally in tallies}
    query = select(ModelVersion.id, ModelVersion.player_id).where(ModelVersion.id.in_(opponents))
    player_of = dict(session.execute(query).all())
    return summed(
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


def _event(trial: Trial, player: Player, outcome: GenerationOutcome, result: RecordedGeneration) -> NewEvent:
    return NewEvent(
        type="generation.recorded",
        trial_id=trial.id,
        payload={
            "player_id": player.id,
            "player": player.name,
            "generation": result.generation,
            "commit": result.commit,
            "version_id": result.version_id,
            "steps": outcome.steps,
            "player_steps": result.player_steps,
            "games": outcome.games,
            "payoff_revision": trial.payoff_revision,
        },
    )
