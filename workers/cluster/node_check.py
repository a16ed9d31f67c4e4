"""The check of a Ray node before it gets work: it must run the same Lanista and read the same artifacts."""

from __future__ import annotations

from importlib.metadata import version
from typing import Any

import ray
from ray.exceptions import RayError, RayTaskError
from ray.util.scheduling_strategies import NodeAffinitySchedulingStrategy

from league.types import CheckpointRef
from orchestrator.storage.artifacts import ArtifactError, ArtifactStore

PROBE = b"a Ray node reads this before it gets work"


def start_check(node_id: str, store: ArtifactStore, also: CheckpointRef | None = None) -> Any:
    """Start the check on the node; `also` is an artifact that it could not read before."""
    # put anew each time, because garbage collection removes what nothing refers to
    wanted = [store.put(PROBE, kind="probe"), *([] if also is None else [also])]
    place = NodeAffinitySchedulingStrategy(node_id, soft=False)
    remote: Any = ray.remote(num_cpus=0, max_retries=0)(_problem_here)
    return remote.options(scheduling_strategy=place).remote(store.root_url, wanted, version("lanista"))


def check_result(call: Any) -> str | None:
    """What a check that has ended found wrong; None: nothing."""
    try:
        found: str | None = ray.get(call)
    except RayTaskError as error:  # the node cannot import Lanista, or not this release
        return f"cannot run Lanista: {type(error.cause).__name__}: {error.cause}"
    except RayError as error:
        return f"cannot run a task: {str(error).splitlines()[0]}"
    return found


def _problem_here(artifacts: str, wanted: list[CheckpointRef], release: str) -> str | None:
    """Runs on the node."""
    if (here := version("lanista")) != release:
        return f"has Lanista {here}, and this train worker {release}"
    try:
        store = ArtifactStore(artifacts)
        for ref in wanted:
            store.verify(ref)
    except ArtifactError as error:
        return f"cannot read the artifacts: {error}"
    return None
