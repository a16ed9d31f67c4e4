"""The points of a sweep's trials: by the grid, at random, or by TPE from the values so far."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from api.store.core.errors import Conflict
from api.store.sweeps.rows import Member
from api.store.sweeps.tpe import Told, ask
from league.sweeps import grid_points, random_point
from orchestrator.spec.sweeps.optuna_extra import optuna_problem
from orchestrator.spec.sweeps.sweep import SweepSpec


def next_point(spec: SweepSpec, members: Sequence[Member], number: int) -> dict[str, Any]:
    """The point of trial `number`. Of a grid and at random it depends on the number alone."""
    space = spec.dimensions
    if spec.drawn_by == "grid":
        return grid_points(space, number + 1)[number]
    if spec.drawn_by == "random":
        return random_point(space, seed=spec.seed, number=number)
    problem = optuna_problem()
    if problem:
        raise Conflict(problem)
    return ask(space, [_told(member) for member in members], seed=spec.seed, number=number)


def _told(member: Member) -> Told:
    newest = member.newest
    return Told(
        point=dict(member.entry.point),
        value=None if newest is None else newest.value,
        steps=0 if newest is None else newest.steps,
        ended=member.trial.status.is_final or member.next_rung is None,
    )
