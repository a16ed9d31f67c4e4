"""A sweep driven through the store's activities alone, with training and games made up."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

from api.store.core.ids import new_id
from api.store.sweeps.create import create_sweep
from api.store.tables import Sweep, SweepDecision, SweepTrial, SweepValue
from orchestrator.contracts.sweeps import SweepEnd, SweepPlan, SweepStep
from orchestrator.contracts.trials import EnterPlayers, StatusChange, TrialBrief, TrialRequest
from orchestrator.spec.reading.sweep_loading import check_sweep
from tests.integration.league_store.driver import MAIN, RANDOM, STEPS, League, Store, league_file

TRIAL = league_file("self_play", [MAIN, RANDOM], champion_gate=None)
ASHA = {"method": "asha", "rungs": {"eta": 2, "first": STEPS}, "budget": {"steps": 4 * STEPS}}
RATE = {"algorithm.learning_rate": {"log_uniform": [1e-4, 1e-2]}}


@dataclass(frozen=True)
class Swept:
    """One sweep and its trials, by number."""

    store: Store
    id: str

    @classmethod
    def found(cls, store: Store, *, project: str | None = None, **options: Any) -> Swept:
        spec = check_sweep({"trial": TRIAL, "space": RATE, "parallel": 3, "trials": 3, **ASHA, **options})
        with store.sessions.begin() as session:
            return cls(store, create_sweep(session, project=project or new_id(), name="rates", spec=spec).id)

    @property
    def row(self) -> Sweep:
        return self.store.rows(Sweep, Sweep.id == self.id)[0]

    def advance(self, crews: int = 0) -> SweepPlan:
        """One plan, with the trials that it starts begun."""
        plan: SweepPlan = self.store("advance_sweep", SweepStep(sweep=self.id, crews=crews))
        for new in plan.start:
            brief: TrialBrief = self.store("begin_trial", TrialRequest(trial=new.trial))
            initial = brief.initial or self.store.weights("initial")
            self.store("enter_players", EnterPlayers(trial=new.trial, initial=initial))
            self.store("change_status", StatusChange(trial=new.trial, status="running"))
        return plan

    def entries(self) -> list[SweepTrial]:
        found = self.store.rows(SweepTrial, SweepTrial.sweep_id == self.id)
        return sorted(found, key=lambda entry: entry.number)

    def trial(self, number: int) -> League:
        return League(self.store, self.entries()[number].trial_id)

    def train(self, number: int, value: float, generations: int = 1) -> None:
        """Generations of the trial's main that end with this return."""
        self.trial(number).live("main", generations, metrics={"return_mean": value})

    def end_trial(self, number: int, status: str = "completed") -> None:
        self.store("change_status", StatusChange(trial=self.trial(number).trial, status=status, reason="its end"))

    def end(self) -> str:
        status: str = self.store("end_sweep", SweepEnd(sweep=self.id)).status
        return status

    def values(self) -> dict[tuple[int, int], float | None]:
        rows = self.store.rows(SweepValue, SweepValue.sweep_id == self.id)
        assert len(rows) == len({(row.number, row.rung) for row in rows})
        return {(row.number, row.rung): row.value for row in rows}

    def decisions(self) -> dict[tuple[int, int], str]:
        rows = self.store.rows(SweepDecision, SweepDecision.sweep_id == self.id)
        return {(row.number, row.rung): row.verdict.value for row in rows}
