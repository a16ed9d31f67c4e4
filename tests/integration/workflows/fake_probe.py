"""A probe in memory: its one responder's trial is a league in memory."""

from __future__ import annotations

import uuid
from dataclasses import dataclass, field
from typing import Any

from temporalio import activity
from temporalio.exceptions import ApplicationError

from league.types import Role
from orchestrator.contracts import probes
from orchestrator.contracts.sweeps import TrialOrder, TrialToStart
from orchestrator.contracts.trials import Learner
from orchestrator.contracts.workflows import Mode
from tests.integration.workflows.fake_league import FakeLeague
from tests.integration.workflows.fake_sweep import FINAL


@dataclass
class FakeProbe:
    """Plans from what its one responder's trial did, as the store does."""

    league: FakeLeague
    probe: str = field(default_factory=lambda: uuid.uuid4().hex[:8])
    asked: list[probes.ProbeStep] = field(default_factory=list)
    broken: bool = False

    @activity.defn(name=probes.advance_probe.name)
    async def advance_probe(self, step: probes.ProbeStep) -> probes.ProbePlan:
        self.asked.append(step)
        if step.failure:
            return probes.ProbePlan(status="failed", over=True)
        if self.broken:
            raise ApplicationError("the version is gone", non_retryable=True)
        trial, last = self.league.trial, self.league.statuses[-1][0] if self.league.statuses else None
        if last in FINAL:
            return probes.ProbePlan(status="stopped" if step.stop_reason else "completed", over=True)
        if step.stop_reason:
            order = TrialOrder(trial=trial, mode=Mode.NOW, reason=step.stop_reason)
            return probes.ProbePlan(status="stopping", orders=[order])
        return probes.ProbePlan(status="running", trials=[TrialToStart(trial=trial, name="responder")])


def a_probe(**options: Any) -> FakeProbe:
    name = uuid.uuid4().hex[:8]
    league = FakeLeague(trial=f"responder-{name}", generation_seconds=0.02, **options)
    league.learners = [Learner(player=f"player-{name}", name="responder", role=Role.MAIN)]
    return FakeProbe(league)
