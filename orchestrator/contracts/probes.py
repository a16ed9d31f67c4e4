"""Messages of probes: what to start next, and the end."""

from __future__ import annotations

from dataclasses import dataclass, field

from orchestrator.contracts.queues import ActivityStub, Queue
from orchestrator.contracts.sweeps import TrialOrder, TrialToStart


def probe_workflow_id(probe: str) -> str:
    return f"probe-{probe}"


@dataclass(kw_only=True)
class ProbeState:
    """All that a probe's workflow carries from run to run; the rest is in the store."""

    probe: str
    cancelled: bool = False
    """Its workflow was cancelled: the probe is being stopped."""
    failure: str = ""
    """Why no plan can be made, if so."""


@dataclass(frozen=True, kw_only=True)
class ProbeStep:
    """Ask the store what a probe should do next; with a reason to stop, it ends early."""

    probe: str
    stop_reason: str = ""
    failure: str = ""
    """Why the probe cannot go on, if so: it ends as failed."""


@dataclass(frozen=True, kw_only=True)
class ProbePlan:
    """What a probe should do now. It is made from rows alone, so a plan that was lost is made again."""

    status: str
    over: bool = False
    trials: list[TrialToStart] = field(default_factory=list)
    orders: list[TrialOrder] = field(default_factory=list)
    tournament: str | None = None
    """The tournament whose workflow has to be started."""
    cancel_tournament: str | None = None


advance_probe = ActivityStub(name="advance_probe", queue=Queue.STORE, message=ProbeStep, result=ProbePlan)
