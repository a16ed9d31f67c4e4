"""The crew plan: what a crew of actors is built for, and what Ray reserves for it."""

from __future__ import annotations

from dataclasses import dataclass, field, replace
from pathlib import Path

from orchestrator.catalog import Component
from orchestrator.contracts.generations import GenerationTask, ProcessResources, Topology
from workers.crews.task import topology_of
from workers.gateway.league.access import GatewayAccess

DEFAULT_BUFFER_BYTES = 1 << 30

Bundle = dict[str, float]
"""Ray's resources of one process: CPU, and GPU and memory where it needs them."""


@dataclass(frozen=True, kw_only=True)
class CrewPlan:
    """Game, model and size of a crew. A warm crew serves every task with the same plan.

    The algorithm and its options are the task's: players that differ in them share warm crews.
    """

    game: Component
    model: Component
    tables: int
    rollout_actors: int
    trainers: int
    threads: int
    split: bool
    asynchronous: bool = False
    """Whether the two sides of a split crew do not wait for each other."""
    resources: ProcessResources = field(default_factory=ProcessResources)
    buffer_bytes: int = field(default=DEFAULT_BUFFER_BYTES, compare=False)
    """Memory for players' buffers in each training process; what exceeds it is spilled to files."""
    data_folders: tuple[Path, ...] | None = field(default=None, compare=False)
    """The folders that data sets may be read from; None: any."""

    gateways: GatewayAccess | None = field(default=None, compare=False)
    """Where games that call in are played; None: nowhere."""

    @property
    def processes(self) -> int:
        return self.rollout_actors + (self.trainers if self.split else 0)

    @property
    def cpus(self) -> float:
        """The CPUs that Ray must have free for the crew."""
        return sum(bundle["CPU"] for bundle in self.bundles)

    @property
    def learners(self) -> int:
        """The processes that train the model and all-reduce their gradients."""
        return self.trainers if self.split else self.rollout_actors

    @property
    def rollout_bundle(self) -> Bundle:
        """The resources of a process that samples; in a fused crew it trains too."""
        uses = {self.resources.samples_on} if self.split else {self.resources.samples_on, self.resources.device}
        return self._bundle(cuda="cuda" in uses)

    @property
    def trainer_bundle(self) -> Bundle:
        """The resources of a process that trains; in a fused crew it samples too."""
        return self._bundle(cuda=self.resources.device == "cuda") if self.split else self.rollout_bundle

    @property
    def bundles(self) -> list[Bundle]:
        """The resources of every process."""
        trainers = [self.trainer_bundle] * self.trainers if self.split else []
        return trainers + [self.rollout_bundle] * self.rollout_actors

    def on_cluster(self, gpus: float) -> CrewPlan:
        """The plan with `auto` resolved for a cluster with this many GPUs."""
        given = self.resources
        chosen = "cuda" if gpus >= (given.gpus or 1.0) else "cpu"
        learns_on = chosen if given.device == "auto" else given.device
        samples_on = chosen if given.samples_on == "auto" else given.samples_on
        return replace(self, resources=replace(given, device=learns_on, sampling_device=samples_on))

    def _bundle(self, *, cuda: bool) -> Bundle:
        given = self.resources
        bundle: Bundle = {"CPU": given.cpus or float(self.threads)}
        if cuda:
            bundle["GPU"] = given.gpus or 1.0
        if given.memory_mb:
            bundle["memory"] = float(given.memory_mb << 20)
        return bundle


def crew_plan(task: GenerationTask) -> CrewPlan:
    """The plan of a crew that can run this task."""
    topology = topology_of(task)
    return CrewPlan(
        game=task.game,
        model=task.model,
        tables=task.tables,
        rollout_actors=task.rollout_actors,
        trainers=task.trainers,
        threads=task.threads,
        split=topology != Topology.FUSED,
        asynchronous=topology == Topology.ASYNCHRONOUS,
        resources=task.resources,
    )
