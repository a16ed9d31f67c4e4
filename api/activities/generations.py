"""Activities of a generation: plan, record, judge, and roll back from a damaged checkpoint."""

from __future__ import annotations

from dataclasses import replace
from datetime import UTC, datetime

from sqlalchemy import Engine
from sqlalchemy.orm import Session
from temporalio import activity

from api.activities.error_mapping import map_errors
from api.store.checkpoints.rollback import PlannedVersions, roll_back
from api.store.core.engine import session_factory
from api.store.generations.fair_share import running_demands
from api.store.generations.judge import judge_generation
from api.store.generations.outcome import OpponentTally, TrainedGeneration
from api.store.generations.plan import (
    ChosenOpponent,
    FollowedPlan,
    PlannedGeneration,
    followed_plan,
    plan_generation,
    recorded_plan,
)
from api.store.generations.recent import recent_generations
from api.store.generations.record import record_planned_generation
from api.store.players.weights import checkpoint_of, weights_of
from api.store.tables import ModelVersion, Trial
from api.store.trials.spec import model_of, spec_of
from league.fair_share import queue_priority, queue_weight
from league.training_priority import Urgency, urgency
from league.types import PlayerId
from orchestrator.contracts import generations as contracts
from orchestrator.generation_task import generation_task
from orchestrator.storage.artifacts import ArtifactStore


class GenerationActivities:
    """The store's part of every generation."""

    def __init__(self, engine: Engine, artifacts: ArtifactStore, *, stall_seconds: float) -> None:
        self._sessions = session_factory(engine)
        self._artifacts = artifacts
        self._stall_seconds = stall_seconds

    @activity.defn(name=contracts.plan_generation.name)
    def plan_generation(self, key: contracts.GenerationKey) -> contracts.GenerationPlan:
        """The opponents and the checkpoint to continue from: the same plan for every delivery.

        Only its place in the queue is computed again.
        """
        with map_errors(), self._sessions.begin() as session:
            planned = plan_generation(session, key.trial, key.player, key.generation, key.attempt, crews=key.crews)
            demands = running_demands(session)
            turn = urgency(PlayerId(key.player), recent_generations(session, planned.trial))
            plan = _plan(key, planned, self._stall_seconds, queue_priority(turn, len({key.trial, *demands})))
            return replace(plan, weight=queue_weight(key.trial, demands))

    @activity.defn(name=contracts.record_generation.name)
    def record_generation(self, report: contracts.GenerationReport) -> contracts.Recorded:
        """Record the outcome in one transaction; the first delivery wins and every delivery gets its result.

        An outcome that would lead players that share its crews too far is retried after their next record.
        """
        with map_errors(), self._sessions.begin() as session:
            trained = _trained(report, _followed_plan(session, report))
            recorded = record_planned_generation(session, self._artifacts, trained, crews=report.outcome.crews)
            trial = session.get_one(Trial, report.trial)
            version = session.get_one(ModelVersion, recorded.version_id)
            return contracts.Recorded(
                commit=recorded.commit,
                version=version.id,
                checkpoint=weights_of(version),
                player_steps=recorded.player_steps,
                trial_steps=trial.steps,
                committed_at=version.created_at.timestamp(),
            )

    @activity.defn(name=contracts.judge_generation.name)
    def judge_generation(self, key: contracts.GenerationKey) -> contracts.Judgement:
        """Apply the rules for snapshot, reset and gate to the generation."""
        with map_errors(), self._sessions.begin() as session:
            judged = judge_generation(session, key.trial, key.player, key.generation)
        return contracts.Judgement(snapshot=judged.snapshot, reset=judged.reset, gate=judged.gate)

    @activity.defn(name=contracts.roll_back.name, no_thread_cancel_exception=True)
    def roll_back(self, rollback: contracts.Rollback) -> None:
        """Handle the damaged checkpoints of a generation: roll back, retire or avoid."""
        with map_errors(), self._sessions.begin() as session:
            plan = recorded_plan(session, rollback.trial, rollback.player, rollback.generation, rollback.attempt)
            planned = PlannedVersions(
                trial_id=rollback.trial,
                player_id=rollback.player,
                generation=rollback.generation,
                own=plan.version,
                opponents=tuple(chosen.version for chosen in (*plan.opponents, *plan.mates)),
            )
            heartbeat = activity.heartbeat if activity.in_activity() else lambda: None
            roll_back(session, self._artifacts, planned, problem=rollback.problem, heartbeat=heartbeat)


def _plan(
    key: contracts.GenerationKey, planned: PlannedGeneration, stall_seconds: float, turn: Urgency
) -> contracts.GenerationPlan:
    spec = spec_of(planned.trial)
    task = generation_task(
        spec,
        player=key.player,
        version=planned.version.id,
        checkpoint=weights_of(planned.version),
        model=model_of(spec, planned.player.model).component,
        algorithm=planned.algorithm,
        seed=planned.seed,
        steps=planned.steps,
        opponents=tuple(_opponent(chosen, key.player) for chosen in planned.opponents),
        mates=tuple(_opponent(chosen, key.player) for chosen in planned.mates),
    )
    return contracts.GenerationPlan(
        **vars(task),
        trial=key.trial,
        player_name=planned.player.name,
        trial_name=planned.trial.name,
        generation=key.generation,
        attempt=key.attempt,
        decision=planned.decision,
        stall_seconds=stall_seconds,
        urgency=turn,
    )


def _opponent(chosen: ChosenOpponent, learner: str) -> contracts.PlannedOpponent:
    live = chosen.player.id == learner
    return contracts.PlannedOpponent(
        player=chosen.player.id,
        version=chosen.version.id,
        probability=chosen.probability,
        checkpoint=None if live else checkpoint_of(chosen.version),
        bot=chosen.player.bot,
        player_name=chosen.player.name,
    )


def _followed_plan(session: Session, report: contracts.GenerationReport) -> FollowedPlan:
    """The plan that the training followed: recorded by the store, or sent along by an earlier release."""
    sent = report.plan
    if sent is None:
        return followed_plan(session, report.trial, report.player, report.generation, report.attempt)
    return FollowedPlan(decision=sent.decision, version_id=sent.version, seed=sent.seed, algorithm=sent.algorithm)


def _trained(report: contracts.GenerationReport, plan: FollowedPlan) -> TrainedGeneration:
    outcome = report.outcome
    tallies = tuple(
        OpponentTally(
            opponent_version_id=tally.opponent,
            seat=tally.seat,
            opponent_seat=tally.opponent_seat,
            wins=tally.wins,
            draws=tally.draws,
            losses=tally.losses,
            earned=tally.earned,
        )
        for tally in outcome.tallies
    )
    return TrainedGeneration(
        trial_id=report.trial,
        player_id=report.player,
        generation=report.generation,
        parent_version_id=plan.version_id,
        checkpoint=outcome.checkpoint,
        steps=outcome.steps,
        games=int(outcome.metrics.get("games", sum(tally.games for tally in tallies))),
        seed=plan.seed,
        started_at=datetime.fromtimestamp(outcome.started_at, UTC),
        # older workers took both from a clock that may have been set back in between
        finished_at=datetime.fromtimestamp(max(outcome.started_at, outcome.finished_at), UTC),
        attempt=report.tries,
        plan_decision_id=plan.decision,
        tallies=tallies,
        returns=outcome.returns,
        lineups=tuple(outcome.lineups),
        metrics=outcome.metrics,
        hyperparameters={"id": plan.algorithm.id, **plan.algorithm.options},
    )
