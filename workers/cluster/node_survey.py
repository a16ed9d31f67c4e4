"""What one Ray node is asked: its release of Lanista, its clock, and what it can reach."""

from __future__ import annotations

import time
from collections.abc import Mapping, Sequence
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass, field
from importlib.metadata import version
from typing import Any

import ray
from ray.exceptions import GetTimeoutError, RayError, RayTaskError
from ray.util.scheduling_strategies import NodeAffinitySchedulingStrategy

from league.types import CheckpointRef
from orchestrator.clock_skew import Skew, measure_skew
from orchestrator.storage.artifacts import ArtifactError, ArtifactStore
from workers.cluster.node_check import PROBE
from workers.cluster.reachability import Address, connection_problem

ANSWER_SECONDS = 60.0
"""A Ray process may have to start for the answer."""
CLOCK_READINGS = 3
_AT_ONCE = 32


@dataclass(frozen=True, kw_only=True)
class NodeReport:
    """What a node answered."""

    release: str = ""
    skew: Skew | None = None
    """Of its clock against the train worker's."""
    faults: tuple[str, ...] = ()
    unreached: Mapping[str, str] = field(default_factory=dict)
    """Why a target cannot be reached, by the target's name; those that can be are left out."""


@dataclass(frozen=True, kw_only=True)
class Found:
    """What runs on the node finds there."""

    release: str
    artifacts: str | None
    unreached: dict[str, str]


class NodeSurveyor:
    """Asks Ray nodes; the survey's tests have another."""

    def __init__(self, store: ArtifactStore) -> None:
        self._store = store

    def ask_here(self, targets: Mapping[str, Address]) -> NodeReport:
        """The same of this process's own node, without Ray."""
        return NodeReport(release=version("lanista"), skew=Skew(0.0, 0.0), unreached=_unreached(targets))

    def ask(self, node_id: str, targets: Mapping[str, Address], *, works: bool) -> NodeReport:
        """Ask the node, which takes a second or more. `works`: it runs crews, and so must run Lanista."""
        place = NodeAffinitySchedulingStrategy(node_id, soft=False)

        def on_node(remote: Any, *arguments: Any) -> Any:
            call = remote.options(scheduling_strategy=place).remote(*arguments)
            try:
                return ray.get(call, timeout=ANSWER_SECONDS)
            except GetTimeoutError:
                ray.cancel(call, force=True)
                raise

        try:
            found: Found = on_node(_look, dict(targets), *(self._to_read() if works else ("", [])))
            # the process that answered is still warm, so these calls are quick
            skew = measure_skew(lambda: on_node(_clock), times=CLOCK_READINGS)
        except RayTaskError as error:
            cause = error.cause
            return NodeReport(faults=(f"cannot run Lanista: {type(cause).__name__}: {cause}",) if works else ())
        except GetTimeoutError:
            return NodeReport(faults=(f"runs no task within {ANSWER_SECONDS:g} s",))
        except RayError as error:
            return NodeReport(faults=(f"cannot run a task: {str(error).splitlines()[0]}",))
        faults = () if found.artifacts is None else (f"cannot read the artifacts: {found.artifacts}",)
        return NodeReport(release=found.release, skew=skew, faults=faults, unreached=found.unreached)

    def _to_read(self) -> tuple[str, Sequence[CheckpointRef]]:
        try:
            # put anew each time, because garbage collection removes what nothing refers to
            return self._store.root_url, [self._store.put(PROBE, kind="probe")]
        except ArtifactError:  # an outage of the store says nothing about the node
            return "", []


@ray.remote(num_cpus=0, max_retries=0)
def _clock() -> float:
    """Runs on the node."""
    return time.time()


@ray.remote(num_cpus=0, max_retries=0)
def _look(targets: dict[str, Address], artifacts: str, wanted: Sequence[CheckpointRef]) -> Found:
    """Runs on the node."""
    problem = None
    try:
        for ref in wanted:
            ArtifactStore(artifacts).verify(ref)
    except ArtifactError as error:
        problem = str(error)
    return Found(release=version("lanista"), artifacts=problem, unreached=_unreached(targets))


def _unreached(targets: Mapping[str, Address]) -> dict[str, str]:
    if not targets:
        return {}
    with ThreadPoolExecutor(min(_AT_ONCE, len(targets))) as threads:
        problems = threads.map(connection_problem, targets.values())
    return {name: problem for name, problem in zip(targets, problems, strict=True) if problem is not None}
