"""`generation`: the size of one generation, and its processes."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from typing import Annotated, Any, Literal

from pydantic import Field, ValidationInfo, field_validator

from orchestrator.spec.components import Choice
from orchestrator.spec.section import Contradiction, Section
from orchestrator.spec.topology import NOT_ASYNCHRONOUS, TopologyName, resolve_topology
from orchestrator.spec.values import WHOLE, Count, Duration, Positive, Processes, Share


class OpeningsSpec(Section):
    """Random first moves in training, which keep self-play from collapsing onto a few lines."""

    share: Share = Field(default=0.5, description="share of self-play games that start with random moves")
    plies: Count | None = Field(
        default=None, description="most random moves of a game; null: a quarter of its longest possible length"
    )


Device = Literal["auto", "cpu", "cuda"]
PartOfProcess = Annotated[float, Field(strict=True, gt=0, le=4096)]


class GenerationSpec(Section):
    """One unit of learning of one player; 10 to 60 seconds are a good length."""

    steps: Positive = Field(default=2_000_000, description="environment steps to sample and learn from")
    rollout_actors: Processes = Field(default=1, description="processes that play")
    tables: Annotated[int, Field(strict=True, ge=1, le=1_000_000), WHOLE] = Field(
        default=1024,
        description="games that each process plays at once; 64 or more fit 64 opponents, multiples of 64 evenly",
    )
    trainers: Processes = Field(
        default=1, description="training processes; only of the topologies split and asynchronous"
    )
    topology: TopologyName = Field(
        default="auto",
        description="fused: each process plays and learns; split: some play, some learn; asynchronous: split, and "
        "neither waits for the other; auto: asynchronous for impala, else split if trainers > 1, else fused",
    )
    publish_every: Positive = Field(
        default=1,
        description="updates between two publications of weights to the processes that play; only of the topology "
        "asynchronous, others publish each update",
    )
    threads: Processes = Field(
        default=1, description="threads of each process; results are reproducible only for the same number"
    )
    device: Device = Field(default="cpu", description="where models learn; auto: cuda where Ray has GPUs, else cpu")
    sampling_device: Device | None = Field(
        default=None, description="where models choose actions in rollouts; null: where they learn"
    )
    cpus: PartOfProcess | None = Field(
        default=None, description="CPUs that Ray reserves for each process, also a fraction; null: its threads"
    )
    gpus: PartOfProcess | None = Field(
        default=None, description="GPUs that Ray reserves for each process that uses cuda, also a fraction; null: 1"
    )
    memory_mb: Positive | None = Field(
        default=None, description="MB of memory that Ray reserves for each process; null: none"
    )
    autocast: Literal["bf16"] | None = Field(
        default=None, description="bf16: networks compute in bfloat16 in rollouts and updates; null: in float32"
    )
    openings: OpeningsSpec = Field(default=OpeningsSpec(), description="random first moves in training")
    checkpoint_every: Duration | None = Field(
        default=None,
        description="how often a long generation stores what it has done, as 5m, so that a lost attempt goes on from "
        "there; null: a lost attempt starts the generation again, and the result is exact",
    )

    @classmethod
    def contradictions(cls, given: Mapping[str, Any]) -> Iterable[Contradiction]:
        devices = (given.get("device", "cpu"), given.get("sampling_device"))
        if given.get("gpus") is not None and all(device in ("cpu", None) for device in devices):
            yield Contradiction(
                path=("gpus",), value=given["gpus"], reason="needs device or sampling_device cuda or auto"
            )

    def training_processes(self, algorithm: Choice) -> int:
        """The processes that learn in a crew of this algorithm; each has a buffer of its own."""
        return self.trainers if self._splits(algorithm) else self.rollout_actors

    def _splits(self, algorithm: Choice) -> bool:
        return resolve_topology(self.topology, self.trainers, asynchronous=algorithm.asynchronous) != "fused"

    def _is_asynchronous(self, algorithm: Choice) -> bool:
        return resolve_topology(self.topology, self.trainers, asynchronous=algorithm.asynchronous) == "asynchronous"

    def needed_gpus(self, algorithm: Choice) -> float:
        """The GPUs that a crew of this algorithm cannot do without; `auto` needs none."""
        split = self._splits(algorithm)
        learns, samples = (place == "cuda" for place in (self.device, self.sampling_device or self.device))
        trainers = self.trainers if split and learns else 0
        actors = self.rollout_actors if samples or (learns and not split) else 0
        return (trainers + actors) * (self.gpus or 1.0)

    def misfits(self, algorithm: Choice) -> Iterable[str]:
        """Why crews of this size and topology cannot train players of this algorithm."""
        tables = self.tables * self.rollout_actors
        if tables < algorithm.least_tables:
            yield (
                f"algorithm {algorithm.id} needs {algorithm.least_tables:,} tables, one for each member of its "
                f"population; {self.tables:,} tables of {self.rollout_actors:,} rollout_actors are {tables:,}"
            )
        if self.publish_every > 1 and not self._is_asynchronous(algorithm):
            yield (
                f"publish_every {self.publish_every} needs topology: asynchronous; with algorithm {algorithm.id} every "
                "update is published"
            )
        if self.topology == "asynchronous" and algorithm.restarts:
            yield f"algorithm {algorithm.id}: {NOT_ASYNCHRONOUS}"

    @field_validator("trainers")
    @classmethod
    def _share_actors_evenly(cls, trainers: int, info: ValidationInfo) -> int:
        actors = info.data.get("rollout_actors", trainers)
        if actors % trainers:
            raise ValueError(f"{actors} rollout_actors cannot be shared by {trainers} trainers evenly")
        return trainers
