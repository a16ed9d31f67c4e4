"""Activities of probes."""

from __future__ import annotations

from sqlalchemy import Engine
from temporalio import activity

from api.activities.error_mapping import map_errors
from api.store.core.engine import session_factory
from api.store.probes.advance import advance_probe
from orchestrator.contracts import probes as contracts
from orchestrator.contracts.sweeps import TrialOrder, TrialToStart
from orchestrator.contracts.workflows import Mode


class ProbeActivities:
    """The store's part of every probe."""

    def __init__(self, engine: Engine) -> None:
        self._sessions = session_factory(engine)

    @activity.defn(name=contracts.advance_probe.name)
    def advance_probe(self, step: contracts.ProbeStep) -> contracts.ProbePlan:
        """Create the responders' trials, their games or the result, and say what to start and stop."""
        with map_errors(), self._sessions.begin() as session:
            found = advance_probe(session, step.probe, stop_reason=step.stop_reason, failure=step.failure)
            reason = f"its probe ends: {found.probe.status_reason or 'stopped'}"
            return contracts.ProbePlan(
                status=found.probe.status.value,
                over=found.over,
                trials=[TrialToStart(trial=trial.id, name=trial.name) for trial in found.start],
                orders=[TrialOrder(trial=trial.id, mode=Mode.NOW, reason=reason) for trial in found.stop],
                tournament=None if found.tournament is None else found.tournament.id,
                cancel_tournament=None if found.cancel is None else found.cancel.id,
            )
