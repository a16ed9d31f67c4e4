"""Checks of a generation's task, and its progress."""

from __future__ import annotations

import math
from dataclasses import dataclass

from orchestrator.contracts.generations import GenerationTask, Topology
from orchestrator.spec.topology import NOT_ASYNCHRONOUS, resolve_topology
from workers.algorithms.contract import algorithm_class
from workers.crews.errors import BadTask
from workers.rollout.openings import OpeningRules


def check_task(task: GenerationTask) -> None:
    """Raise BadTask or BadOpenings if no crew can run the task, CatalogError if its algorithm is not known."""
    for name in ("steps", "tables", "rollout_actors", "trainers", "threads"):
        if getattr(task, name) < 1:
            raise BadTask(f"{name} must be at least 1, not {getattr(task, name)}")
    for opponent in task.opponents:
        if opponent.checkpoint is not None and opponent.bot is not None:
            raise BadTask(f"opponent {opponent.version} is both a checkpoint and a bot")
        if not opponent.probability >= 0.0:
            raise BadTask(f"opponent {opponent.version} has probability {opponent.probability}")
    total = math.fsum(task.shares)
    if not math.isclose(total, 1.0, abs_tol=1e-6):
        raise BadTask(f"the opponents' probabilities must sum to 1, they sum to {total}")
    taken = math.fsum(mate.probability for mate in task.mates)
    if any(mate.is_self or not mate.probability >= 0.0 for mate in task.mates) or taken > 1.0 + 1e-6:
        raise BadTask("mates need a checkpoint or a bot, and shares that sum to at most 1")
    _check_crew(task)
    OpeningRules(share=task.opening_share, plies=task.opening_plies)  # raises if the values are out of range


def _check_crew(task: GenerationTask) -> None:
    """Raise BadTask if the crew's processes contradict each other or the algorithm."""
    if task.trainers > 1 and task.topology == Topology.FUSED:
        raise BadTask(f"a fused crew has no separate trainers, but trainers is {task.trainers}; use split")
    if task.rollout_actors % task.trainers:
        raise BadTask(f"{task.rollout_actors} rollout actors cannot be shared by {task.trainers} trainers evenly")
    if algorithm_class(task.algorithm).restarts and topology_of(task) == Topology.ASYNCHRONOUS:
        raise BadTask(f"algorithm {task.algorithm.id!r}: {NOT_ASYNCHRONOUS}")


def topology_of(task: GenerationTask) -> Topology:
    """The topology of a crew that runs this task, with `auto` resolved."""
    asynchronous = algorithm_class(task.algorithm).asynchronous
    return Topology(resolve_topology(task.topology, task.trainers, asynchronous=asynchronous))


@dataclass(frozen=True, kw_only=True)
class Progress:
    """The progress of a generation."""

    steps: int
    target: int
    seconds: float
    """Since the crew was ready."""
    metrics: dict[str, float]
    """Means over the updates so far."""
    played_out: int = 0
    """Play-out steps at each table since training ended: not trained on, but progress."""
    earlier_steps: int = 0
    """Steps of earlier attempts, a part of `steps`."""

    @property
    def steps_per_second(self) -> float:
        return (self.steps - self.earlier_steps) / self.seconds if self.seconds > 0 else 0.0
