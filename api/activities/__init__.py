"""Activities of the store worker. They translate messages to calls of `api.store`, which has the SQL."""

from __future__ import annotations

from collections.abc import Callable
from datetime import timedelta
from typing import Any

from sqlalchemy import Engine

from api.activities.evaluations import EvaluationActivities
from api.activities.gates import GateActivities
from api.activities.generations import GenerationActivities
from api.activities.probes import ProbeActivities
from api.activities.sweeps import SweepActivities
from api.activities.system import SystemCheckActivities
from api.activities.tournaments import TournamentActivities
from api.activities.trials import TrialActivities
from api.store.checkpoints.pruning import Retention
from orchestrator.storage.artifacts import ArtifactStore

__all__ = [
    "EvaluationActivities",
    "GateActivities",
    "GenerationActivities",
    "SweepActivities",
    "SystemCheckActivities",
    "TournamentActivities",
    "TrialActivities",
    "store_activities",
]

STALL_SECONDS = 120.0
GARBAGE_AGE = timedelta(hours=1)


def store_activities(
    engine: Engine,
    artifacts: ArtifactStore,
    *,
    stall_seconds: float = STALL_SECONDS,
    garbage_age: timedelta = GARBAGE_AGE,
    retention: Retention | None = None,
    moves_age: timedelta | None = None,
) -> list[Callable[..., Any]]:
    """Every activity of the store queue, to be registered with a worker."""
    system = SystemCheckActivities(engine)
    trials = TrialActivities(engine, artifacts, garbage_age=garbage_age, retention=retention, moves_age=moves_age)
    generations = GenerationActivities(engine, artifacts, stall_seconds=stall_seconds)
    gates = GateActivities(engine, artifacts, stall_seconds=stall_seconds)
    evaluations = EvaluationActivities(engine, artifacts, stall_seconds=stall_seconds)
    tournaments = TournamentActivities(engine, artifacts, stall_seconds=stall_seconds)
    sweeps = SweepActivities(engine)
    probes = ProbeActivities(engine)
    return [
        system.check_store,
        trials.begin_trial,
        trials.enter_players,
        trials.change_status,
        trials.add_player,
        trials.change_player,
        trials.note_event,
        trials.collect_garbage,
        generations.plan_generation,
        generations.record_generation,
        generations.judge_generation,
        generations.roll_back,
        gates.gate_brief,
        gates.record_gate_batch,
        gates.judge_gate_probe,
        gates.stop_gate,
        gates.end_gates,
        evaluations.plan_evaluation,
        evaluations.record_evaluation,
        evaluations.plan_nash_conv,
        evaluations.record_nash_conv,
        tournaments.open_scheduled_tournament,
        tournaments.open_trial_evaluation,
        tournaments.plan_pairings,
        tournaments.record_pairing,
        tournaments.note_pairing_setback,
        tournaments.withdraw_damaged,
        tournaments.rate_tournament,
        tournaments.end_tournament,
        tournaments.end_evaluations,
        tournaments.note_schedule_failure,
        sweeps.advance_sweep,
        sweeps.change_sweep,
        sweeps.end_sweep,
        probes.advance_probe,
    ]
