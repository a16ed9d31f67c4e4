"""Early stopping: whether a trial goes on beyond a rung, from the recorded values at that rung and nothing else."""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

from league.errors import InvalidInput

GO_ON, STOP, COMPLETE = "go_on", "stop", "complete"


@dataclass(frozen=True, kw_only=True)
class RungValue:
    """A trial's value at a rung; larger is better. None: it had none, which counts as the worst."""

    trial: int
    """The trial's number in the sweep."""
    value: float | None

    @property
    def key(self) -> float:
        """Larger is better; a missing value and NaN are the worst."""
        return -math.inf if self.value is None or math.isnan(self.value) else self.value


@dataclass(frozen=True, kw_only=True)
class RungVerdict:
    """Whether a trial goes on beyond a rung, why, and the numbers it is based on."""

    trial: int
    verdict: str
    reason: str
    evidence: dict[str, Any]


def rank_of(values: Sequence[RungValue], trial: int) -> int:
    """The trial's rank, from 1; of equal values the one recorded first is ahead."""
    order = sorted(range(len(values)), key=lambda place: (-values[place].key, place))
    ranks = {values[place].trial: rank for rank, place in enumerate(order, start=1)}
    if trial not in ranks:
        raise InvalidInput(f"trial {trial} has no value at this rung")
    return ranks[trial]


def judge_asha(values: Sequence[RungValue], *, eta: int, rung: int) -> RungVerdict:
    """Asynchronous successive halving: the newest of the values goes on if it is in the best 1 / eta so far.

    Nothing waits for trials that have not arrived. The best so far always goes on, so the first one does.
    """
    newest = values[-1]
    return _verdict(values, newest, keep=max(1, len(values) // eta), rung=rung, rule=f"the best 1/{eta} so far")


def judge_halving(values: Sequence[RungValue], *, eta: int, rung: int) -> list[RungVerdict]:
    """Successive halving: all values of a bracket at a rung are known, and the best 1 / eta of them go on."""
    keep = max(1, len(values) // eta)
    return [_verdict(values, one, keep=keep, rung=rung, rule=f"the best 1/{eta} of its bracket") for one in values]


def judge_last(values: Sequence[RungValue], *, rung: int) -> RungVerdict:
    """The last rung: the newest of the values is complete."""
    newest = values[-1]
    rank = rank_of(values, newest.trial)
    reason = f"its budget is used up; {_shown(newest.value)} is number {rank} of {len(values)} so far"
    return RungVerdict(
        trial=newest.trial, verdict=COMPLETE, reason=reason, evidence=_evidence(values, newest, rank, rung, len(values))
    )


def _verdict(values: Sequence[RungValue], one: RungValue, *, keep: int, rung: int, rule: str) -> RungVerdict:
    rank = rank_of(values, one.trial)
    goes_on = rank <= keep
    stands = f"{_shown(one.value)} is number {rank} of {len(values)} at rung {rung}"
    reason = f"{stands}; {rule}, {keep}, {'go' if keep > 1 else 'goes'} on"
    return RungVerdict(
        trial=one.trial,
        verdict=GO_ON if goes_on else STOP,
        reason=reason,
        evidence=_evidence(values, one, rank, rung, keep),
    )


def _evidence(values: Sequence[RungValue], one: RungValue, rank: int, rung: int, keep: int) -> dict[str, Any]:
    return {
        "rung": rung,
        "value": one.value,
        "rank": rank,
        "of": len(values),
        "keep": keep,
        "values": [[each.trial, each.value] for each in values],
    }


def _shown(value: float | None) -> str:
    return "no value" if value is None else f"{value:.4g}"
