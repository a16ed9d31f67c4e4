"""Trains generations on Ray, and makes the initial weights of a trial."""

from __future__ import annotations

import time
from collections.abc import Sequence
from dataclasses import replace
from pathlib import Path

import structlog
from temporalio import activity
from temporalio.exceptions import ApplicationError

from league.types import CheckpointRef
from orchestrator.contracts.generations import GenerationOutcome, GenerationPlan, train_generation
from orchestrator.contracts.trials import InitialWeightsRequest, make_initial_weights
from orchestrator.storage.artifacts import ArtifactError, ArtifactStore
from workers.activities.failures import map_errors
from workers.activities.gamecores import GamecorePatience, GamecoreWatch
from workers.activities.progress_watch import ProgressWatch
from workers.checkpoints import CheckpointError
from workers.crews.errors import GenerationStopped
from workers.crews.generation import run_generation
from workers.crews.partial import concerns
from workers.crews.plan import crew_plan
from workers.crews.pool import CrewPool
from workers.crews.task import Progress
from workers.gateway.league.access import GatewayAccess
from workers.initial_weights import initial_weights

log = structlog.get_logger()


class TrainingActivities:
    """Runs generations with warm crews."""

    def __init__(self, store: ArtifactStore, crews: CrewPool, gateways: GatewayAccess | None = None) -> None:
        """`gateways` play games that call in."""
        self._store = store
        self._crews = crews
        self._gateways = gateways
        self._patience = GamecorePatience()

    @activity.defn(name=train_generation.name, no_thread_cancel_exception=True)
    def train_generation(self, plan: GenerationPlan) -> GenerationOutcome:
        """Train one generation. A pure function of the plan, so lost and repeated attempts do no harm."""
        started_at, began = time.time(), time.monotonic()
        with GamecoreWatch(self._gateways, plan.game, self._patience.of(plan.player), plan.version) as gamecores:
            watch = ProgressWatch(plan.stall_seconds, "steps", gamecores)
            try:
                outcome = self._train(plan, watch)
            except ApplicationError as error:
                raise watch.with_steps(error) from error.__cause__
            finally:
                self._patience.ended(plan.player, waited=watch.lacked_gamecores)
        crews = self._crews.fitting(crew_plan(plan))
        finished_at = started_at + time.monotonic() - began  # the clock may have been set back meanwhile
        return replace(outcome, started_at=started_at, finished_at=finished_at, crews=crews)

    def _train(self, plan: GenerationPlan, watch: ProgressWatch) -> GenerationOutcome:

        def on_progress(now: Progress) -> None:
            watch.record(
                now.steps,
                extra_progress=now.played_out,
                target=now.target,
                steps_per_second=now.steps_per_second,
                metrics=now.metrics,
            )

        def run(plan: GenerationPlan) -> GenerationOutcome:
            watch.goes_on_from(plan.resume)
            return run_generation(
                plan,
                store=self._store,
                progress=on_progress,
                should_stop=watch.should_stop,
                on_waiting=watch.waiting,
                crews=self._crews,
                urgency=plan.urgency,
                on_partial=watch.stored,
            )

        with map_errors():
            watch.wait_for_gamecores()
            try:
                try:
                    return run(plan)
                except (ArtifactError, CheckpointError) as error:
                    if not concerns(plan.resume, error):
                        raise
                    log.warning("a mid-generation checkpoint cannot be read; starting again", problem=str(error))
                return run(replace(plan, resume=None))
            except GenerationStopped:
                raise watch.stop_error() from None


class WeightsActivities:
    """Makes initial weights; needs torch but no Ray."""

    def __init__(self, store: ArtifactStore, folders: Sequence[Path] = ()) -> None:
        """`folders` are those in which a request may name a file."""
        self._store = store
        self._folders = folders

    @activity.defn(name=make_initial_weights.name)
    def make_initial_weights(self, request: InitialWeightsRequest) -> CheckpointRef:
        """Random weights from the trial's seed, or the weights of a file, checked against the model."""
        with map_errors():
            return initial_weights(self._store, request, self._folders)
