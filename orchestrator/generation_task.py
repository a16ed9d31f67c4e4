"""The task of a generation, as a trial file describes it."""

from __future__ import annotations

from league.types import CheckpointRef
from orchestrator.catalog import Component
from orchestrator.contracts.generations import GenerationTask, PlannedOpponent, ProcessResources, Topology
from orchestrator.spec import TrialSpec


def generation_task(
    spec: TrialSpec,
    *,
    player: str,
    version: str,
    checkpoint: CheckpointRef,
    model: Component,
    algorithm: Component,
    seed: int,
    steps: int,
    opponents: tuple[PlannedOpponent, ...],
    mates: tuple[PlannedOpponent, ...],
) -> GenerationTask:
    """The task of one player's next generation; everything not given is as the trial file says."""
    size = spec.generation
    return GenerationTask(
        player=player,
        version=version,
        checkpoint=checkpoint,
        opponents=opponents,
        mates=mates,
        game=spec.game.component,
        model=model,
        algorithm=algorithm,
        seed=seed,
        steps=steps,
        tables=size.tables,
        rollout_actors=size.rollout_actors,
        trainers=size.trainers,
        topology=Topology(size.topology),
        publish_every=size.publish_every,
        threads=size.threads,
        resources=ProcessResources(
            device=size.device,
            sampling_device=size.sampling_device,
            cpus=size.cpus,
            gpus=size.gpus,
            memory_mb=size.memory_mb,
            autocast=size.autocast,
        ),
        opening_share=size.openings.share,
        opening_plies=size.openings.plies,
        checkpoint_seconds=None if size.checkpoint_every is None else size.checkpoint_every.total_seconds(),
    )
