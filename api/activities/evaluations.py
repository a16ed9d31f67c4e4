"""Activities of evaluations: a main against the trial's target, and NashConv in small games."""

from __future__ import annotations

from dataclasses import asdict

from sqlalchemy import Engine
from temporalio import activity

from api.activities.error_mapping import map_errors
from api.store.core.engine import session_factory
from api.store.evaluations.nash_conv import mixtures_to_measure, record_nash_conv
from api.store.evaluations.target import evaluation_tournament, plan_evaluation, record_evaluation
from api.store.players.contenders import contender
from api.store.ratings.bradley_terry import fit_after_tournament
from api.store.ratings.online import rate_online_after_tournament
from api.store.tables import Trial
from api.store.trials.spec import spec_of
from orchestrator.contracts import nash_conv as nash_conv_contracts
from orchestrator.contracts import play as contracts
from orchestrator.storage.artifacts import ArtifactStore
from orchestrator.storage.played_games import unpack_games


class EvaluationActivities:
    """The store's part of an evaluation."""

    def __init__(self, engine: Engine, artifacts: ArtifactStore, *, stall_seconds: float) -> None:
        self._sessions = session_factory(engine)
        self._artifacts = artifacts
        self._stall_seconds = stall_seconds

    @activity.defn(name=contracts.plan_evaluation.name)
    def plan_evaluation(self, key: contracts.EvaluationKey) -> contracts.PlayRequest:
        """The rating games of a generation against the target, the same for every delivery."""
        with map_errors(), self._sessions.begin() as session:
            evaluation = plan_evaluation(session, key.trial, key.player, key.generation)
            settings = evaluation.tournament.spec
            return contracts.PlayRequest(
                trial=key.trial,
                occasion=evaluation.tournament.name,
                game=spec_of(evaluation.trial).game.component,
                contenders=[contender(player, version) for player, version in evaluation.contenders],
                pairs=settings["pairs"],
                seed=evaluation.pairing.seed,
                sampled=settings["sampled"],
                opening_plies=settings["opening_plies"],
                stall_seconds=self._stall_seconds,
            )

    @activity.defn(name=contracts.record_evaluation.name)
    def record_evaluation(self, report: contracts.EvaluationReport) -> contracts.TargetState:
        """Record the games once, fit the ratings, and return the win rate."""
        with map_errors():
            games = unpack_games(report.outcome, self._artifacts)
            with self._sessions.begin() as session:
                measured = record_evaluation(session, report.trial, report.player, report.generation, games)
                held = evaluation_tournament(session, report.trial, report.player, report.generation)
            # a separate transaction, because the fit locks the matches against inserts
            with self._sessions.begin() as session:
                fit_after_tournament(session, held)
            with self._sessions.begin() as session:
                rate_online_after_tournament(session, held)
        return contracts.TargetState(**asdict(measured))

    @activity.defn(name=nash_conv_contracts.plan_nash_conv.name)
    def plan_nash_conv(self, key: contracts.EvaluationKey) -> nash_conv_contracts.NashConvRequest:
        """The policies that are measured after a generation."""
        with map_errors(), self._sessions.begin() as session:
            found = mixtures_to_measure(session, key.trial, key.player, key.generation)
            return nash_conv_contracts.NashConvRequest(
                trial=key.trial,
                player=key.player,
                generation=key.generation,
                game=spec_of(session.get_one(Trial, key.trial)).game.component,
                mixtures=[
                    nash_conv_contracts.PolicyMixture(
                        metric=mixture.metric,
                        contenders=[contender(player, version) for player, version in mixture.members],
                        weights=list(mixture.weights),
                    )
                    for mixture in found
                ],
            )

    @activity.defn(name=nash_conv_contracts.record_nash_conv.name)
    def record_nash_conv(self, report: nash_conv_contracts.NashConvReport) -> nash_conv_contracts.NashConvRecorded:
        """Record the values as metrics of the generation, once; every delivery gets those that are recorded."""
        with map_errors(), self._sessions.begin() as session:
            recorded = record_nash_conv(session, report.player, report.generation, report.values)
        return nash_conv_contracts.NashConvRecorded(values=recorded)
