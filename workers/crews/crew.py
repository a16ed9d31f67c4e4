"""The driver's side of a crew: it reserves CPUs, starts Ray actors, waits for their calls and ends them.

See docs/decisions/crews.md.
"""

from __future__ import annotations

import math
import time
from abc import ABC, abstractmethod
from collections.abc import Callable, Sequence
from dataclasses import replace
from typing import Any

import ray
import structlog
from ray.exceptions import RayError
from ray.util.placement_group import PlacementGroup, placement_group, placement_group_table, remove_placement_group
from ray.util.scheduling_strategies import PlacementGroupSchedulingStrategy

from league.types import CheckpointRef
from orchestrator.artifacts import ArtifactStore
from orchestrator.contracts.generations import GenerationOutcome, GenerationTask
from workers.algorithms.contract import algorithm_class, parse_options
from workers.algorithms.metrics import MetricMeans
from workers.buffers.keeping import MovedBuffer
from workers.crews.actors import CrewActor
from workers.crews.calls import CallTimer, call_results
from workers.crews.errors import GenerationStopped
from workers.crews.messages import StoredBuffer
from workers.crews.placement import check_capacity
from workers.crews.plan import Bundle, CrewPlan
from workers.crews.results import game_metrics, lineup_tallies, single_team_returns, tallies
from workers.crews.task import Progress
from workers.games.remote import REMOTE
from workers.rollout.tally import Counts

log = structlog.get_logger()

OnProgress = Callable[[Progress], None]
"""Called after every call to the actors."""
ShouldStop = Callable[[], bool]
"""Polled while the driver waits; True ends the generation."""
OnWaiting = Callable[[str], None]
"""Called while a generation waits, with what for."""
"""Called repeatedly while the crew waits for CPUs."""
PlayOut = Callable[[int], Sequence[Any]]
"""Starts a call that plays up to this many steps, on every actor that samples."""
ActorHandle = Any
"""A Ray actor handle; Ray's types do not know its methods."""

POLL_SECONDS = 0.1
CAPACITY_CHECK_SECONDS = 1.0
"""How often a crew that waits for CPUs checks whether Ray's nodes could still hold it."""
FIRST_POLL_SECONDS = 0.005
"""Where CPUs are free, Ray creates a placement group within some milliseconds."""
STOP_GRACE_SECONDS = 0.6
"""How long calls under way may take to end after a stop; then their actors are killed."""
_BESIDE = "beside"
"""Ray's concurrency group of calls that run while another call is under way."""
EXACT = "exact"
"""The metric of generations that remember or do not wait: 1 if another run from the same checkpoint would be the same,
0 where a buffer is not part of the checkpoint, sampling is asynchronous, or games call in. Others, which are exact,
have none."""


class Crew(ABC):
    """Ray actors owned by this process: they die with it."""

    def __init__(self, plan: CrewPlan, store: ArtifactStore) -> None:
        self.plan = plan
        self._store = store
        self._actors: list[ActorHandle] = []
        self._placement: PlacementGroup | None = None
        self._should_stop: ShouldStop = lambda: False
        self._learner_loaded = False
        self.loaded_sha256: str | None = None
        """Hash of the checkpoint that the training actors hold; None while that is unknown."""
        self._loaded_algorithm = ""
        self.buffered: set[str] = set()
        """The players whose buffers its actors hold between generations."""
        self._remembers = False

    def start(self, should_stop: ShouldStop, on_waiting: OnWaiting) -> None:
        """Wait for CPUs, then start the actors and wait until they are set up."""
        self._should_stop = should_stop
        self._check_capacity()
        self._reserve_cpus(on_waiting)
        self._start_actors()

    @abstractmethod
    def _start_actors(self) -> None:
        """Launch the actors on the reserved CPUs and wait until they are set up."""

    @property
    @abstractmethod
    def _training_actors(self) -> list[ActorHandle]:
        """The actors that train, by rank."""

    @abstractmethod
    def _generation(self, task: GenerationTask, on_progress: OnProgress) -> GenerationOutcome:
        """Run the task on actors that are set up."""

    def run(self, task: GenerationTask, on_progress: OnProgress, should_stop: ShouldStop) -> GenerationOutcome:
        """Run one generation. The crew can be used again afterwards while it has actors."""
        self._should_stop = should_stop
        self._learner_loaded = (
            task.checkpoint is not None
            and task.checkpoint.sha256 == self.loaded_sha256
            and task.algorithm.id == self._loaded_algorithm  # another algorithm may keep other networks and optimisers
        )
        self.loaded_sha256, self._loaded_algorithm = None, task.algorithm.id
        try:
            plays = algorithm_class(task.algorithm).plays
            done = self._generation(task, on_progress) if plays else self._offline_generation(task, on_progress)
        except GenerationStopped:
            raise
        except Exception:
            # After an error in one actor the others may wait for it forever.
            self.close()
            raise
        self.loaded_sha256 = done.checkpoint.sha256
        if self._remembers:
            self.buffered.add(task.player)
        return done

    def hand_over(self, player: str) -> list[MovedBuffer | None]:
        """Give up a player's buffer, one part a training actor; may be called while the crew trains another player."""
        self.buffered.discard(player)
        try:
            return list(ray.get([actor.hand_over.remote(player) for actor in self._training_actors]))
        except RayError as error:  # what the actors held is lost with them
            log.warning("a player's buffer is lost with its crew", player=player, problem=str(error))
            return []

    def take_over(self, player: str, moved: Sequence[MovedBuffer | None]) -> None:
        """Hold the buffer that another crew has given up; a crew of another size cannot, and the player starts anew."""
        actors = self._training_actors
        if len(actors) == len(moved):
            parts = [(actor, part) for actor, part in zip(actors, moved, strict=True) if part is not None]
            ray.get([actor.take_over.remote(player, part) for actor, part in parts])
            self.buffered.add(player)

    @property
    def has_actors(self) -> bool:
        """Whether its actors are still running."""
        return bool(self._actors)

    def close(self) -> None:
        """Kill the actors and release their CPUs."""
        for actor in self._actors:
            ray.kill(actor, no_restart=True)
        self._actors = []
        if self._placement is not None:
            remove_placement_group(self._placement)
            self._placement = None

    def _reserve_cpus(self, on_waiting: OnWaiting) -> None:
        """Wait until Ray reserves everything for all actors at once: two crews with half each would deadlock."""
        self._placement = placement_group(self.plan.bundles)
        pause, checked = FIRST_POLL_SECONDS, time.monotonic()
        while placement_group_table(self._placement).get("state") != "CREATED":
            on_waiting("Ray to start its processes")
            if self._should_stop():
                raise GenerationStopped("stopped while it waited for CPUs")
            if time.monotonic() - checked >= CAPACITY_CHECK_SECONDS:
                # Ray waits forever for a placement group that no node can hold.
                self._check_capacity()
                checked = time.monotonic()
            time.sleep(pause)
            pause = min(2 * pause, POLL_SECONDS)

    def _launch(self, kind: type[CrewActor], count: int, bundle: Bundle) -> list[ActorHandle]:
        assert self._placement is not None, "CPUs are reserved before actors are launched"
        # A restarted actor would have lost its state: the generation is run again instead.
        strategy = PlacementGroupSchedulingStrategy(self._placement)
        options: dict[str, Any] = {
            "num_cpus": bundle["CPU"],
            "num_gpus": bundle.get("GPU", 0),
            "memory": bundle.get("memory", 0),
            "max_restarts": 0,
            "concurrency_groups": {_BESIDE: 1},
            "scheduling_strategy": strategy,
        }
        remote: Any = ray.remote(**options)(kind)
        actors = [remote.remote(self.plan, self._store, rank) for rank in range(count)]
        self._actors += actors
        return actors

    def _check_capacity(self) -> None:
        check_capacity(self.plan, [node["Resources"] for node in ray.nodes() if node["Alive"]])

    def _connect_all_reduce(self, actors: Sequence[ActorHandle]) -> None:
        if len(actors) < 2:
            return
        members = self._wait([actor.member.remote() for actor in actors])
        for shared_memory in (True, False):
            rendezvous = self._wait([actors[0].host_all_reduce.remote(members, shared_memory)])[0]
            problems = self._wait([actor.join_all_reduce.remote(rendezvous) for actor in actors])
            if not any(problems):
                break
            log.warning("processes of a crew cannot share memory; gradients go over gloo", problems=problems)

    def _wait(self, refs: Sequence[Any]) -> list[Any]:
        """The results of these calls; polls for a stop meanwhile, and raises what a call raised."""
        self._wait_only(refs)
        return call_results(refs)

    def _wait_only(self, refs: Sequence[Any]) -> None:
        """Wait for these calls but do not fetch their results; raises what a call raised."""
        waiting = list(refs)
        while waiting:
            if self._should_stop():
                self._stop(waiting)
            ready, waiting = ray.wait(waiting, timeout=POLL_SECONDS, fetch_local=False)
            # A failed call is raised at once: the others may wait for it forever.
            call_results(ready)

    def _stop(self, waiting: Sequence[Any]) -> None:
        """Ask the updates under way to end, kill the actors if they are late, and raise.

        Killed actors lose the players' buffers that they hold, so they are asked first.
        """
        asked = [actor.stop.options(concurrency_group=_BESIDE).remote() for actor in self._training_actors]
        calls = [*waiting, *asked]
        _, late = ray.wait(calls, num_returns=len(calls), timeout=STOP_GRACE_SECONDS)
        if late:
            self.close()
        raise GenerationStopped(f"stopped on request; the crew was {'killed' if late else 'kept'}")

    def _play_out(self, on_progress: OnProgress, done: Progress, play_out: PlayOut, steps: int) -> None:
        """Play the counted games to their end, `steps` steps a call; every call is reported as progress."""
        played = 0
        while any(self._wait(play_out(steps))):
            played += steps
            on_progress(replace(done, played_out=played))

    def _save(self, trainers: Sequence[ActorHandle], steps: int) -> tuple[CheckpointRef, dict[str, float]]:
        """End the generation on all training actors; gives the checkpoint, and the metric `exact` of a buffer."""
        stored: list[StoredBuffer] = self._wait([trainer.store_buffer.remote() for trainer in trainers])
        saved: CheckpointRef = self._wait([trainers[0].save.remote(steps, stored)])[0]
        self._wait([trainer.finish.remote(steps, saved) for trainer in trainers[1:]])
        exact = stored[0].exact
        self._remembers = exact is not None
        return saved, {} if exact is None else {EXACT: float(exact)}

    def _offline_generation(self, task: GenerationTask, on_progress: OnProgress) -> GenerationOutcome:
        """Learn from a data set: no game is played, and the steps are the rows that each update draws."""
        trainers, left = self._training_actors, self._updates(task)
        self._wait_only([trainer.prepare.remote(task, not self._learner_loaded) for trainer in trainers])
        per_update = parse_options(task.algorithm).rollout_steps * self.plan.tables * self.plan.rollout_actors
        steps, means, timer = 0, MetricMeans(), CallTimer()
        while left:
            updates = min(timer.next_units, left)
            for part in self._wait([trainer.learn.remote(updates) for trainer in trainers]):
                means.merge(part)
            timer.returned(updates)
            left, steps = left - updates, steps + updates * per_update
            on_progress(Progress(steps=steps, target=task.steps, seconds=timer.seconds, metrics=means.values()))
        metrics = means.values() | {"steps_per_second": steps / timer.seconds}
        saved, exact = self._save(trainers, steps)
        return self._result(task, saved, steps, [], metrics | exact)

    def _updates(self, task: GenerationTask) -> int:
        """The updates that the task's steps make, rounded up."""
        rollout_steps = parse_options(task.algorithm).rollout_steps
        return math.ceil(task.steps / (rollout_steps * self.plan.tables * self.plan.rollout_actors))

    def _result(
        self, task: GenerationTask, ref: CheckpointRef, steps: int, counts: Sequence[Counts], metrics: dict[str, float]
    ) -> GenerationOutcome:
        return GenerationOutcome(
            checkpoint=ref,
            steps=steps,
            tallies=tallies(task, counts),
            lineups=lineup_tallies(task, counts),
            returns=single_team_returns(counts),
            metrics=metrics | game_metrics(counts) | ({EXACT: 0.0} if counts and task.game.id == REMOTE else {}),
        )
