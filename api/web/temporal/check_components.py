"""Checks a trial's own components before it starts: a worker that has the code imports them, the API must not."""

from __future__ import annotations

import asyncio
from collections.abc import Iterator
from dataclasses import dataclass

from temporalio.client import Client

from api.web.live.cluster_status import ClusterStatus
from api.web.problems import ProblemError
from api.web.temporal.ask_worker import ask
from orchestrator.catalog import BUILT_IN, Component, Kind, resolve
from orchestrator.contracts.interactive import ComponentCheck, check_component
from orchestrator.contracts.queues import Queue
from orchestrator.spec import TrialSpec

Path = tuple[str | int, ...]


@dataclass(frozen=True, kw_only=True)
class UnusableComponent:
    """A component that cannot be used: where the trial file names it, its name, and why not."""

    path: Path
    name: str
    problem: str


@dataclass(frozen=True, kw_only=True)
class ComponentsChecked:
    """The result of the check."""

    unusable: list[UnusableComponent]
    not_checked: str | None = None
    """Why nothing was checked; None where it was, or where there is nothing to check."""


async def check_components(temporal: Client, cluster: ClusterStatus, spec: TrialSpec) -> ComponentsChecked:
    """Have a train worker import every component of the trial that is not built in."""
    wanted = list(own_components(spec))
    if not wanted:
        return ComponentsChecked(unusable=[])
    polled = (await cluster.task_queues()).value
    if polled is None or not any(worker.queue is Queue.INTERACTIVE for worker in polled.workers):
        return ComponentsChecked(unusable=[], not_checked="not checked: no train worker")
    try:
        verdicts = await asyncio.gather(*(ask(temporal, check_component, check) for _, check in wanted))
    except ProblemError as refusal:
        return ComponentsChecked(unusable=[], not_checked=f"not checked: {refusal.detail}")
    return ComponentsChecked(
        unusable=[
            UnusableComponent(path=path, name=check.component.id, problem=verdict.problem)
            for (path, check), verdict in zip(wanted, verdicts, strict=True)
            if not verdict.usable
        ]
    )


def own_components(spec: TrialSpec) -> Iterator[tuple[Path, ComponentCheck]]:
    """Components by import path or of another package, and games with options (such as a name of OpenSpiel's)."""
    for path, kind, component in _named(spec):
        built_in = resolve(kind, component.id).entry.source == BUILT_IN
        if not built_in or (kind is Kind.GAME and component.options):
            yield path, ComponentCheck(kind=kind, component=component)


def _named(spec: TrialSpec) -> Iterator[tuple[Path, Kind, Component]]:
    yield ("game", "id"), Kind.GAME, spec.game.component
    yield ("model", "id"), Kind.MODEL, spec.model.component
    yield ("algorithm", "id"), Kind.ALGORITHM, spec.algorithm.component
    yield ("league", "preset"), Kind.MATCHMAKER, Component(id=spec.league.preset)
    for number, player in enumerate(spec.league.players):
        if player.bot is not None:
            yield ("league", "players", number, "bot"), Kind.BOT, Component(id=player.bot)
