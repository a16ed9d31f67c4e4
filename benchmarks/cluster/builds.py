"""Which build of the train workers served a league, as the histories of its workflows in Temporal tell."""

from __future__ import annotations

import asyncio
from collections import Counter
from collections.abc import Collection, Iterable, Mapping, Sequence
from dataclasses import dataclass
from datetime import UTC, datetime
from itertools import pairwise
from typing import Any

from temporalio.api.enums.v1 import PendingActivityState
from temporalio.api.history.v1 import HistoryEvent
from temporalio.api.workflow.v1 import PendingActivityInfo
from temporalio.client import Client

from benchmarks.stacks.cluster_stack import TEMPORAL_PORT, ClusterStack
from orchestrator.contracts import Queue
from orchestrator.temporal.identity import parse_identity

TRAIN_QUEUES = (Queue.TRAIN, Queue.PLAY, Queue.INTERACTIVE)


@dataclass(frozen=True, kw_only=True)
class Served:
    """One activity of a queue of the train workers that has ended."""

    activity: str
    host: str
    started: datetime
    ended: datetime


@dataclass(frozen=True, kw_only=True)
class Phase:
    """A part of a row, until the next one begins."""

    name: str
    began: datetime

    @classmethod
    def now(cls, name: str) -> Phase:
        """One that begins at this moment."""
        return cls(name=name, began=datetime.now(UTC))


def phase_of(moment: datetime, phases: Sequence[Phase]) -> str:
    """The phase in which this moment lies; phases are in order, and the first also has what was before."""
    return [phases[0], *(phase for phase in phases[1:] if phase.began <= moment)][-1].name


def count_by_phase(
    served: Iterable[Served], builds: Mapping[str, str], phases: Sequence[Phase]
) -> dict[str, dict[str, dict[str, int]]]:
    """How many activities each build started in each phase. `builds`: that of each host; others go by their host."""
    counts: dict[str, dict[str, Counter[str]]] = {phase.name: {} for phase in phases}
    for each in served:
        of_build = counts[phase_of(each.started, phases)].setdefault(builds.get(each.host, each.host), Counter())
        of_build[each.activity] += 1
    return {
        phase: {build: dict(sorted(names.items())) for build, names in sorted(of.items())}
        for phase, of in counts.items()
    }


def check_builds(done: Mapping[str, Mapping[str, Mapping[str, int]]], allowed: Sequence[Collection[str]]) -> None:
    """RuntimeError where in one of the phases another build than the allowed ones served, or none trained."""
    for (phase, by_build), builds in zip(done.items(), allowed, strict=True):
        if others := by_build.keys() - set(builds):
            raise RuntimeError(f"{phase}: {', '.join(sorted(others))} served, besides {', '.join(sorted(builds))}")
        if not any("train_generation" in names for names in by_build.values()):
            raise RuntimeError(f"{phase}: no generation was trained")


def longest_gaps(commits: Mapping[str, Sequence[datetime]], phases: Sequence[Phase]) -> dict[str, float]:
    """The longest time between two commits of one player in each phase: that in which the later one was made."""
    longest: dict[str, float] = {}
    for moments in commits.values():
        for before, after in pairwise(sorted(moments)):
            name, seconds = phase_of(after, phases), (after - before).total_seconds()
            longest[name] = max(longest.get(name, 0.0), round(seconds, 1))
    return {phase.name: longest[phase.name] for phase in phases if phase.name in longest}


def commit_moments(stack: ClusterStack, trial: str) -> dict[str, list[datetime]]:
    """When the generations of each player were recorded, in order."""
    found = stack.rows(
        "SELECT p.name, g.recorded_at FROM generations g JOIN players p ON p.id = g.player_id "
        "WHERE g.trial_id = %s ORDER BY g.recorded_at",
        trial,
    )
    moments: dict[str, list[datetime]] = {}
    for name, recorded in found:
        moments.setdefault(str(name), []).append(recorded)
    return moments


def served(stack: ClusterStack, since: datetime) -> list[Served]:
    """What train workers began since then and ended, by the beginning."""
    return asyncio.run(_served(stack, since))


def under_way(stack: ClusterStack, host: str) -> int:
    """How many activities run on this host at the moment."""
    return asyncio.run(_under_way(stack, host))


async def _served(stack: ClusterStack, since: datetime) -> list[Served]:
    client = await _connect(stack)
    found: list[Served] = []
    async for run in client.list_workflows():
        if run.close_time is not None and run.close_time < since:
            continue
        handle = client.get_workflow_handle(run.id, run_id=run.run_id)
        found += ended_activities([event async for event in handle.fetch_history_events()])
    return sorted((each for each in found if each.started >= since), key=lambda each: each.started)


def ended_activities(events: Iterable[HistoryEvent]) -> list[Served]:
    """The activities of train workers that completed or failed in one history."""
    scheduled: dict[int, str] = {}
    started: dict[int, HistoryEvent] = {}
    found = []
    for event in events:
        if event.HasField("activity_task_scheduled_event_attributes"):
            order = event.activity_task_scheduled_event_attributes
            if order.task_queue.name in TRAIN_QUEUES:
                scheduled[event.event_id] = order.activity_type.name
        elif event.HasField("activity_task_started_event_attributes"):
            started[event.activity_task_started_event_attributes.scheduled_event_id] = event
        elif (ended := _scheduled_by(event)) in scheduled and ended in started:
            begun = started[ended]
            identity = begun.activity_task_started_event_attributes.identity
            found.append(
                Served(
                    activity=scheduled[ended],
                    host=parse_identity(identity).host,
                    started=_moment(begun),
                    ended=_moment(event),
                )
            )
    return found


def _scheduled_by(event: HistoryEvent) -> int:
    """The number of the order that this event ends; 0 for other events."""
    for kind in ("completed", "failed", "timed_out", "canceled"):
        if event.HasField(field := f"activity_task_{kind}_event_attributes"):  # type: ignore[arg-type]
            return int(getattr(event, field).scheduled_event_id)
    return 0


async def _under_way(stack: ClusterStack, host: str) -> int:
    client = await _connect(stack)
    count = 0
    async for run in client.list_workflows("ExecutionStatus = 'Running'"):
        told: Any = (await client.get_workflow_handle(run.id, run_id=run.run_id).describe()).raw_description
        count += sum(_runs_on(each, host) for each in told.pending_activities)
    return count


def _runs_on(activity: PendingActivityInfo, host: str) -> bool:
    started = activity.state == PendingActivityState.PENDING_ACTIVITY_STATE_STARTED
    return started and parse_identity(activity.last_worker_identity).host == host


async def _connect(stack: ClusterStack) -> Client:
    return await Client.connect(f"{stack.control.address}:{TEMPORAL_PORT}")


def _moment(event: HistoryEvent) -> datetime:
    return event.event_time.ToDatetime(tzinfo=UTC)
