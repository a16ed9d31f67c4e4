"""Activities of tournaments: open, plan, record, rate, end."""

from __future__ import annotations

from pydantic import TypeAdapter
from sqlalchemy import Engine
from temporalio import activity

from api.activities.error_mapping import map_errors
from api.schemas.enums import TournamentPurpose, TournamentStatus
from api.schemas.events import PairingRetried
from api.store.core.engine import session_factory
from api.store.core.events import NewEvent, append_once
from api.store.evaluations.gauntlet import open_trial_evaluation
from api.store.evaluations.unfinished import unfinished_evaluations
from api.store.players.contenders import contender
from api.store.ratings.alpha_rank_nash import rate_field
from api.store.ratings.bradley_terry import fit_after_tournament
from api.store.ratings.online import rate_online_after_tournament
from api.store.tables import Tournament
from api.store.tournaments.lifecycle import end_tournament, lock_tournament
from api.store.tournaments.pairings import PlannedBatch, entrants_of_pairing, plan_pairings, record_pairing
from api.store.tournaments.results import spec_of_tournament
from api.store.tournaments.schedules import open_firing, record_failure
from api.store.tournaments.withdrawals import withdraw_damaged
from orchestrator.contracts import tournaments as contracts
from orchestrator.contracts.play import PlayRequest
from orchestrator.spec.game import GameChoice
from orchestrator.storage.artifacts import ArtifactStore
from orchestrator.storage.played_games import unpack_games

_GAME: TypeAdapter[GameChoice] = TypeAdapter(GameChoice)


class TournamentActivities:
    """The store's part of every tournament."""

    def __init__(self, engine: Engine, artifacts: ArtifactStore, *, stall_seconds: float) -> None:
        self._sessions = session_factory(engine)
        self._artifacts = artifacts
        self._stall_seconds = stall_seconds

    @activity.defn(name=contracts.open_scheduled_tournament.name)
    def open_scheduled_tournament(self, firing: contracts.Firing) -> contracts.Opened:
        """The tournament of one firing of a schedule."""
        with map_errors(), self._sessions.begin() as session:
            return contracts.Opened(tournament=open_firing(session, firing.schedule, firing.occasion).id)

    @activity.defn(name=contracts.open_trial_evaluation.name)
    def open_trial_evaluation(self, due: contracts.TrialEvaluation) -> contracts.Opened:
        """The field evaluation of a generation, unless the one before it still runs."""
        with map_errors(), self._sessions.begin() as session:
            tournament, reason = open_trial_evaluation(session, due.trial, due.player, due.generation)
        return contracts.Opened(tournament=tournament, reason=reason)

    @activity.defn(name=contracts.plan_pairings.name)
    def plan_pairings(self, request: contracts.TournamentRequest) -> contracts.TournamentPlan:
        """The pairings to play now, from the results so far."""
        with map_errors(), self._sessions.begin() as session:
            tournament, batches = plan_pairings(session, request.tournament)
            return contracts.TournamentPlan(
                status=tournament.status.value,
                pairings=[self._planned(tournament, batch) for batch in batches],
                at_once=spec_of_tournament(tournament).at_once,
            )

    @activity.defn(name=contracts.record_pairing.name)
    def record_pairing(self, report: contracts.PairingReport) -> None:
        """All games of a pairing in one transaction; a second delivery finds them there."""
        with map_errors():
            games = unpack_games(report.outcome, self._artifacts)
            with self._sessions.begin() as session:
                record_pairing(session, report.tournament, (report.round, report.pair), games)

    @activity.defn(name=contracts.note_pairing_setback.name)
    def note_pairing_setback(self, failed: contracts.FailedPairing) -> None:
        """Write an event that an attempt failed and will be retried."""
        with map_errors(), self._sessions.begin() as session:
            tournament = lock_tournament(session, failed.tournament, shared=True)
            first, second = entrants_of_pairing(session, tournament.id, (failed.round, failed.pair))
            payload = PairingRetried(
                tournament_id=tournament.id,
                name=tournament.name,
                round=failed.round,
                pair=failed.pair,
                first=first,
                second=second,
                failure=failed.failure,
                problem=failed.problem,
                tries=failed.tries,
                delay_seconds=failed.delay_seconds,
            )
            append_once(session, NewEvent(trial_id=tournament.trial_id, payload=payload), failed.key)

    @activity.defn(name=contracts.withdraw_damaged.name)
    def withdraw_damaged(self, pairing: contracts.DamagedPairing) -> None:
        """Withdraw the side of a pairing whose checkpoint is damaged."""
        with map_errors(), self._sessions.begin() as session:
            number = (pairing.round, pairing.pair)
            withdraw_damaged(session, self._artifacts, pairing.tournament, number, pairing.problem)

    @activity.defn(name=contracts.rate_tournament.name)
    def rate_tournament(self, request: contracts.TournamentRequest) -> None:
        """Fit the ratings of all policies that have played the game in the project, and of the tournament's field."""
        with map_errors():
            with self._sessions.begin() as session:
                fit_after_tournament(session, request.tournament)
            with self._sessions.begin() as session:
                rate_online_after_tournament(session, request.tournament)
            with self._sessions.begin() as session:
                rate_field(session, request.tournament)

    @activity.defn(name=contracts.end_tournament.name)
    def end_tournament(self, end: contracts.TournamentEnd) -> None:
        """End it: completed, cancelled or failed."""
        with map_errors(), self._sessions.begin() as session:
            end_tournament(session, end.tournament, TournamentStatus(end.status), end.reason)

    @activity.defn(name=contracts.end_evaluations.name)
    def end_evaluations(self, end: contracts.EvaluationsEnd) -> contracts.EvaluationsLeft:
        """Cancel unfinished target evaluations; with `now`, return the field evaluations whose workflows must end."""
        with map_errors():
            with self._sessions() as session:
                unplayed = unfinished_evaluations(session, end.trial, TournamentPurpose.TARGET_EVALUATION)
                gauntlets = unfinished_evaluations(session, end.trial, TournamentPurpose.FIELD_EVALUATION)
            for tournament in unplayed:
                with self._sessions.begin() as session:
                    end_tournament(session, tournament, TournamentStatus.CANCELLED, end.reason)
        return contracts.EvaluationsLeft(tournaments=gauntlets if end.now else [])

    @activity.defn(name=contracts.note_schedule_failure.name)
    def note_schedule_failure(self, failure: contracts.ScheduleFailure) -> None:
        """Record on the schedule why its last firing opened no tournament."""
        with map_errors(), self._sessions.begin() as session:
            record_failure(session, failure.schedule, failure.reason)

    def _planned(self, tournament: Tournament, batch: PlannedBatch) -> contracts.PlannedPairing:
        row = batch.pairing
        request = PlayRequest(
            trial=tournament.trial_id or "",
            occasion=f"tournament {tournament.id}, round {row.round}, pairing {row.pair}",
            game=_GAME.validate_python(tournament.spec["game"]).component,
            contenders=[contender(*side) for side in batch.contenders],
            pairs=batch.pairs,
            seed=row.seed,
            sampled=spec_of_tournament(tournament).sampled,
            opening_plies=batch.opening_plies,
            stall_seconds=self._stall_seconds,
        )
        return contracts.PlannedPairing(round=row.round, pair=row.pair, request=request)
