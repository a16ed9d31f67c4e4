"""A sweep's rows: the sweep under a lock, its spec, its trials, their values and decisions."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

from sqlalchemy import select
from sqlalchemy.orm import Session

from api.schemas.enums import SweepVerdict, TrialStatus
from api.store.core.errors import NotFound
from api.store.tables import Sweep, SweepDecision, SweepTrial, SweepValue, Trial
from league.sweeps import RungValue
from orchestrator.contracts.workflows import PAUSED_BY_OPERATOR
from orchestrator.spec.sweeps.sweep import SweepSpec


def lock_sweep(session: Session, sweep_id: str) -> Sweep:
    """The sweep under a FOR NO KEY UPDATE lock. Lock order: a sweep before its trials."""
    sweep = session.scalars(
        select(Sweep)
        .where(Sweep.id == sweep_id)
        .with_for_update(key_share=True)
        .execution_options(populate_existing=True)
    ).one_or_none()
    if sweep is None:
        raise NotFound(f"there is no sweep {sweep_id}")
    return sweep


def spec_of_sweep(sweep: Sweep) -> SweepSpec:
    """The sweep's spec; the trial in it is not checked again."""
    return SweepSpec.model_validate(sweep.spec)


def trial_name(sweep: str, number: int) -> str:
    """The name of a sweep's trial."""
    return f"{sweep}-{number:03d}"


@dataclass(frozen=True, kw_only=True)
class Member:
    """A trial of a sweep with its values and decisions, by rung."""

    entry: SweepTrial
    trial: Trial
    values: dict[int, SweepValue]
    decisions: dict[int, SweepDecision]

    @property
    def number(self) -> int:
        return self.entry.number

    @property
    def next_rung(self) -> int | None:
        """The rung that it trains for or waits at; None if it was stopped early or is complete."""
        rung = self.entry.first_rung
        while (decision := self.decisions.get(rung)) is not None:
            if decision.verdict is not SweepVerdict.GO_ON:
                return None
            rung += 1
        return rung

    @property
    def waits(self) -> bool:
        """Whether it has a value at its rung and no decision: it waits for others."""
        rung = self.next_rung
        return rung is not None and rung in self.values

    @property
    def is_paused(self) -> bool:
        """Whether it is paused or about to be, by its sweep or by a person."""
        return self.trial.status in (TrialStatus.PAUSED, TrialStatus.PAUSING)

    @property
    def takes_place(self) -> bool:
        """Whether it trains, or will when there is room. One that a person paused leaves its place to the others."""
        held = self.is_paused and self.trial.status_reason == PAUSED_BY_OPERATOR
        return self.next_rung is not None and not (self.waits or held or self.trial.status.is_final)

    @property
    def newest(self) -> SweepValue | None:
        """Its value at the highest rung that it reached."""
        return self.values[max(self.values)] if self.values else None

    @property
    def stopped_early(self) -> SweepDecision | None:
        """The decision that stopped it, if one did."""
        return next((each for each in self.decisions.values() if each.verdict is SweepVerdict.STOP), None)


def members_of(session: Session, sweep_id: str) -> list[Member]:
    """All trials of a sweep, by number."""
    values: dict[int, dict[int, SweepValue]] = {}
    for value in session.scalars(select(SweepValue).where(SweepValue.sweep_id == sweep_id).order_by(SweepValue.id)):
        values.setdefault(value.number, {})[value.rung] = value
    decisions: dict[int, dict[int, SweepDecision]] = {}
    for decision in session.scalars(select(SweepDecision).where(SweepDecision.sweep_id == sweep_id)):
        decisions.setdefault(decision.number, {})[decision.rung] = decision
    rows = session.execute(
        select(SweepTrial, Trial)
        .join(Trial, Trial.id == SweepTrial.trial_id)
        .where(SweepTrial.sweep_id == sweep_id)
        .order_by(SweepTrial.number)
        .execution_options(populate_existing=True)
    )
    return [
        Member(
            entry=entry,
            trial=trial,
            values=values.get(entry.number, {}),
            decisions=decisions.get(entry.number, {}),
        )
        for entry, trial in rows
    ]


def values_at(members: Sequence[Member], rung: int, *, bracket: int | None = None) -> list[SweepValue]:
    """The values at a rung, in the order in which they were recorded; of one bracket, if given."""
    found = [
        member.values[rung]
        for member in members
        if rung in member.values and (bracket is None or member.entry.bracket == bracket)
    ]
    return sorted(found, key=lambda value: value.id)


def rung_values(rows: Sequence[SweepValue]) -> list[RungValue]:
    """The same as the rules take them."""
    return [RungValue(trial=row.number, value=row.value) for row in rows]
