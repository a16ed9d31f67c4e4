"""Messages of sweeps: begin, advance, change the status, end."""

from __future__ import annotations

from dataclasses import dataclass, field
from datetime import timedelta

from orchestrator.contracts.queues import ActivityStub, Queue, before_all


def sweep_workflow_id(sweep: str) -> str:
    return f"sweep-{sweep}"


@dataclass(kw_only=True)
class SweepState:
    """All that a sweep's workflow carries from run to run; the rest is in the store."""

    sweep: str
    crews: int = 0
    """How many generations the cluster trains at once, as trials report it; 0 while unknown."""
    failure: str = ""
    """Why the sweep cannot go on, if so: its trials are being stopped."""


@dataclass(frozen=True, kw_only=True)
class SweepReport:
    """A report of a trial to its sweep: it recorded a generation that matters, or it ended."""

    trial: str
    steps: int = 0
    crews: int = 0
    ended: bool = False


@dataclass(frozen=True, kw_only=True)
class SweepStep:
    """Ask the store what a sweep should do next."""

    sweep: str
    crews: int = 0


@dataclass(frozen=True, kw_only=True)
class TrialToStart:
    """A trial whose workflow has to be started."""

    trial: str
    name: str


@dataclass(frozen=True, kw_only=True)
class TrialOrder:
    """An order to a trial of the sweep: the mode it should be in, and why."""

    trial: str
    mode: str
    reason: str


@dataclass(frozen=True, kw_only=True)
class SweepPlan:
    """What a sweep should do now. It is made from rows alone, so a plan that was lost is made again."""

    start: list[TrialToStart] = field(default_factory=list)
    orders: list[TrialOrder] = field(default_factory=list)
    over: bool = False
    """Every trial has ended, and no further one starts."""


@dataclass(frozen=True, kw_only=True)
class SweepChange:
    """The sweep's new status; a repeated delivery has no effect."""

    sweep: str
    status: str
    reason: str = ""
    order: str | None = None
    """The id of the update that asked for it, by which the API finds its effect."""


@dataclass(frozen=True, kw_only=True)
class SweepEnd:
    """Every trial has ended: set the final status, name the best trial, move the alias. A failure has a reason."""

    sweep: str
    failure: str = ""


@dataclass(frozen=True, kw_only=True)
class SweepEnded:
    """The final status."""

    status: str


advance_sweep = ActivityStub(
    name="advance_sweep",
    queue=Queue.STORE,
    message=SweepStep,
    result=SweepPlan,
    # the first use of optuna in a process imports it
    start_to_close=timedelta(minutes=1),
)
change_sweep = ActivityStub(
    name="change_sweep",
    queue=Queue.STORE,
    message=SweepChange,
    result=type(None),
    urgency=before_all,
    summary=lambda change: f"{change.status}: {change.reason}" if change.reason else change.status,
)
end_sweep = ActivityStub(name="end_sweep", queue=Queue.STORE, urgency=before_all, message=SweepEnd, result=SweepEnded)
