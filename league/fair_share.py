"""Fair share: how trials divide scarce crews, by the priorities of trials and projects, and how quotas are kept.

See docs/decisions/crews.md.
"""

from __future__ import annotations

import math
from collections.abc import Collection, Mapping
from dataclasses import dataclass
from datetime import timedelta

from league.training_priority import Urgency

LEAST_WEIGHT, MOST_WEIGHT = 0.001, 1000.0
"""What Temporal takes as the weight of a task."""
KEPT_COST = 0.8
"""The part of the cost so far in the new one, after each generation."""
PLACE_PATIENCE = timedelta(seconds=60)
"""How long a free place of a project's quota is kept for the trial whose turn it is."""


@dataclass(frozen=True, kw_only=True)
class TrialDemand:
    """A running trial that competes for crews."""

    project: str
    priority: float = 1.0
    project_priority: float = 1.0
    cost: float | None = None
    """CPU seconds of one of its generations; None while it has recorded none."""


def shares(demands: Mapping[str, TrialDemand]) -> dict[str, float]:
    """The share of the crews that each trial is due; together 1.

    Projects divide the crews by their priorities, and the trials of a project divide its part by theirs: a project
    gets no more by starting more trials, and a trial no more by having more players.
    """
    of_project = {each.project: each.project_priority for each in demands.values()}
    whole = math.fsum(of_project.values())
    inside: dict[str, float] = dict.fromkeys(of_project, 0.0)
    for each in demands.values():
        inside[each.project] += each.priority
    return {
        trial: each.project_priority / whole * each.priority / inside[each.project] for trial, each in demands.items()
    }


def queue_weight(trial: str, demands: Mapping[str, TrialDemand]) -> float:
    """The trial's weight in the queue of generations: its share, divided by what one of its generations costs.

    Both are relative to the mean of all trials. Without the cost, a trial of long generations would get more time than
    its share. A trial that has recorded none yet counts as average.
    """
    if trial not in demands:
        return 1.0
    known = [each.cost for each in demands.values() if each.cost]
    mean = math.fsum(known) / len(known) if known else 1.0
    cost = (demands[trial].cost or mean) / mean
    return min(MOST_WEIGHT, max(LEAST_WEIGHT, shares(demands)[trial] * len(demands) / cost))


def updated_cost(cost: float | None, cpu_seconds: float) -> float:
    """What a generation of the trial costs, after one of this many CPU seconds."""
    return cpu_seconds if cost is None else KEPT_COST * cost + (1 - KEPT_COST) * cpu_seconds


def queue_priority(urgency: Urgency, competing: int) -> Urgency:
    """A player's urgency orders the queue only where its trial has the crews to itself.

    The queue serves by priority first and by weight within a priority: a player behind in its trial would otherwise go
    before the players of all others.
    """
    return urgency if competing <= 1 else Urgency.IN_STEP


@dataclass(frozen=True, kw_only=True)
class QuotaStanding:
    """A running trial of a project with a quota."""

    priority: float = 1.0
    wants: bool
    """Whether a learner of it has no generation under way."""
    since_begun: timedelta
    """How long ago it last began a generation, or started."""
    place_free: timedelta
    """How long the place may have been free for it."""


def takes_place_after(trial: str, standings: Mapping[str, QuotaStanding]) -> str | None:
    """The trial that takes the next free place of the project's quota before this one; None if it is this one's turn.

    The place is due to the trial that has waited longest, counted by its priority: with priorities 3 and 1, three
    generations of the first follow one of the second.
    """
    own = standings[trial]
    ahead = {
        name: other.since_begun * other.priority
        for name, other in standings.items()
        if name != trial and other.wants and other.place_free <= PLACE_PATIENCE
    }
    first = max(ahead, key=lambda name: ahead[name], default=None)
    return None if first is None or ahead[first] <= own.since_begun * own.priority else first


def quota_used_up(under_way: int, quota: int | None) -> bool:
    """Whether no further generation may begin beside those under way."""
    return quota is not None and under_way >= quota


def smallest(limits: Collection[int | None]) -> int | None:
    """The smallest of several limits; None where there is none."""
    return min((limit for limit in limits if limit is not None), default=None)
