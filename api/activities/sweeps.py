"""Activities of sweeps: advance, change the status, end."""

from __future__ import annotations

from sqlalchemy import Engine
from temporalio import activity

from api.activities.error_mapping import map_errors
from api.schemas.enums import SweepStatus
from api.store.core.engine import session_factory
from api.store.sweeps.advance import advance_sweep
from api.store.sweeps.status import change_sweep, end_sweep
from orchestrator.contracts import sweeps as contracts


class SweepActivities:
    """The store's part of every sweep."""

    def __init__(self, engine: Engine) -> None:
        self._sessions = session_factory(engine)

    @activity.defn(name=contracts.advance_sweep.name)
    def advance_sweep(self, step: contracts.SweepStep) -> contracts.SweepPlan:
        """Record values, decide, create trials, and say what to start and order."""
        with map_errors(), self._sessions.begin() as session:
            found = advance_sweep(session, step.sweep, crews=step.crews)
            return contracts.SweepPlan(
                start=[contracts.TrialToStart(trial=trial.id, name=trial.name) for trial in found.start],
                orders=[
                    contracts.TrialOrder(trial=order.trial_id, mode=order.mode, reason=order.reason)
                    for order in found.orders
                ],
                over=found.over,
            )

    @activity.defn(name=contracts.change_sweep.name)
    def change_sweep(self, change: contracts.SweepChange) -> None:
        """Change the sweep's status. Setting the present status again changes nothing."""
        with map_errors(), self._sessions.begin() as session:
            status = SweepStatus(change.status)
            change_sweep(session, change.sweep, status, change.reason or None, order=change.order)

    @activity.defn(name=contracts.end_sweep.name)
    def end_sweep(self, end: contracts.SweepEnd) -> contracts.SweepEnded:
        """Set the final status, name the best trial, and move the alias."""
        with map_errors(), self._sessions.begin() as session:
            return contracts.SweepEnded(status=end_sweep(session, end.sweep, end.failure))
