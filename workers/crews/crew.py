"""The driver's side of a crew: it has its actors started, waits for their calls and ends them.

See docs/decisions/crews.md.
"""

from __future__ import annotations

import math
from abc import ABC, abstractmethod
from collections.abc import Callable, Sequence
from dataclasses import replace
from typing import Any

import structlog

from league.types import CheckpointRef
from orchestrator.contracts.generations import GenerationOutcome, GenerationTask
from orchestrator.storage.artifacts import ArtifactStore
from orchestrator.tracing import spans
from workers.algorithms.contract import algorithm_class, parse_options
from workers.algorithms.metrics import MetricMeans
from workers.buffers.keeping import MovedBuffer
from workers.crews.actors import CrewActor
from workers.crews.call_timer import CallTimer
from workers.crews.errors import CrewLost, GenerationStopped
from workers.crews.hosts.contract import ActorHandle, ActorHost, OnWaiting, ShouldStop
from workers.crews.messages import StoredBuffer
from workers.crews.part_spans import record_parts
from workers.crews.partial import EXACT, OnPartial, PartialGenerations
from workers.crews.plan import Bundle, CrewPlan
from workers.crews.results import game_metrics, lineup_tallies, single_team_returns, tallies
from workers.crews.task import Progress
from workers.games.remote import REMOTE
from workers.rollout.tally import Counts

log = structlog.get_logger()

OnProgress = Callable[[Progress], None]
"""Called after every call to the actors."""
PlayOut = Callable[[int], Sequence[Any]]
"""Starts a call that plays up to this many steps, on every actor that samples."""
STOP_GRACE_SECONDS = 0.6
"""How long calls under way may take to end after a stop; then their actors are killed."""


class Crew(ABC):
    """Actors that train generations of one plan, one after the other."""

    def __init__(self, plan: CrewPlan, store: ArtifactStore, host: ActorHost) -> None:
        self.plan = plan
        self._store = store
        self._host = host
        self._actors: list[ActorHandle] = []
        self._should_stop: ShouldStop = lambda: False
        self._learner_loaded = False
        self.loaded_sha256: str | None = None
        """Hash of the checkpoint that the training actors hold; None while that is unknown."""
        self._loaded_algorithm = ""
        self.buffered: set[str] = set()
        """The players whose buffers its actors hold between generations."""
        self._remembers = False
        self._partials: PartialGenerations

    def start(self, should_stop: ShouldStop, on_waiting: OnWaiting) -> None:
        """Wait for CPUs, then start the actors and wait until they are set up."""
        self._should_stop = should_stop
        with spans.span("reserve CPUs"):
            self._host.reserve(self.plan, should_stop, on_waiting)
        with spans.span("start actors"):
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

    def run(
        self,
        task: GenerationTask,
        on_progress: OnProgress,
        should_stop: ShouldStop,
        on_partial: OnPartial | None = None,
    ) -> GenerationOutcome:
        """Run one generation. The crew can be used again afterwards while it has actors.

        With `on_partial`, a long generation stores partial checkpoints as often as the task says.
        """
        self._should_stop = should_stop
        partials = self._partials = PartialGenerations(self._store, task, on_partial)
        whole, earlier = task, partials.earlier_steps
        task = partials.rest(task, self._updates(task), self._update_steps(task))

        def tell(now: Progress) -> None:
            on_progress(replace(now, steps=earlier + now.steps, target=whole.steps, earlier_steps=earlier))

        self._learner_loaded = (
            task.checkpoint is not None
            and task.checkpoint.sha256 == self.loaded_sha256
            and task.algorithm.id == self._loaded_algorithm  # another algorithm may keep other networks and optimisers
        )
        self.loaded_sha256, self._loaded_algorithm = None, task.algorithm.id
        try:
            with spans.span("crew"):
                plays = algorithm_class(task.algorithm).plays
                done = self._generation(task, tell) if plays else self._offline_generation(task, tell)
                self._trace_parts()
        except GenerationStopped:
            raise
        except Exception:
            # After an error in one actor the others may wait for it forever.
            self.close()
            raise
        self.loaded_sha256 = done.checkpoint.sha256
        if self._remembers:
            self.buffered.add(task.player)
        return partials.finish(done)

    def _trace_parts(self) -> None:
        if not spans.tracing():
            return
        try:
            record_parts(self._wait([actor.part_times.remote() for actor in self._actors]))
        except CrewLost as error:  # the generation is stored
            log.warning("the parts of a generation are not traced", problem=str(error))

    def hand_over(self, player: str) -> list[MovedBuffer | None]:
        """Give up a player's buffer, one part a training actor; may be called while the crew trains another player."""
        self.buffered.discard(player)
        try:
            return self._host.results([actor.hand_over.remote(player) for actor in self._training_actors])
        except Exception as error:  # what the actors held is lost with them
            log.warning("a player's buffer is lost with its crew", player=player, problem=str(error))
            return []

    def take_over(self, player: str, moved: Sequence[MovedBuffer | None]) -> None:
        """Hold the buffer that another crew has given up; a crew of another size cannot, and the player starts anew."""
        actors = self._training_actors
        if len(actors) == len(moved):
            parts = [(actor, part) for actor, part in zip(actors, moved, strict=True) if part is not None]
            self._host.results([actor.take_over.remote(player, part) for actor, part in parts])
            self.buffered.add(player)

    @property
    def nodes(self) -> frozenset[str]:
        """Ids of Ray's nodes that it runs on."""
        return self._host.nodes

    @property
    def has_actors(self) -> bool:
        """Whether its actors are still running."""
        return bool(self._actors)

    def close(self) -> None:
        """End the actors and release their CPUs."""
        self._host.close(self._actors)
        self._actors = []

    def _launch(self, kind: type[CrewActor], count: int, bundle: Bundle) -> list[ActorHandle]:
        actors = self._host.launch(kind, count, bundle, self.plan, self._store)
        self._actors += actors
        return actors

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
        return self._host.results(refs)

    def _wait_only(self, refs: Sequence[Any]) -> None:
        """Wait for these calls but do not fetch their results; raises what a call raised."""
        waiting = list(refs)
        while waiting:
            if self._should_stop():
                self._stop(waiting)
            ready, waiting = self._host.wait(waiting)
            # A failed call is raised at once: the others may wait for it forever.
            self._host.results(ready)

    def _stop(self, waiting: Sequence[Any]) -> None:
        """Ask the updates under way to end, kill the actors if they are late, and raise.

        Killed actors lose the players' buffers that they hold, so they are asked first.
        """
        late = not self._host.stop(self._training_actors, waiting, STOP_GRACE_SECONDS)
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

    def _save_partial(
        self,
        task: GenerationTask,
        updates: int,
        steps: int,
        metrics: dict[str, float],
        sampling: Sequence[ActorHandle],
    ) -> None:
        """Store what the generation has done after so many updates; no call may be under way at these actors."""
        trainers = self._training_actors
        counts = self._wait([actor.counts.remote() for actor in sampling])
        stored: list[StoredBuffer] = self._wait([trainer.store_buffer.remote() for trainer in trainers])
        saved: CheckpointRef = self._wait([trainers[0].save_partial.remote(steps, stored)])[0]
        self._wait([trainer.continue_from.remote(saved) for trainer in trainers])
        self._partials.write(self._result(task, saved, steps, counts, metrics), updates)

    def _offline_generation(self, task: GenerationTask, on_progress: OnProgress) -> GenerationOutcome:
        """Learn from a data set: no game is played, and the steps are the rows that each update draws."""
        trainers, whole = self._training_actors, self._updates(task)
        left = whole
        self._wait_only([trainer.prepare.remote(task, not self._learner_loaded) for trainer in trainers])
        per_update = self._update_steps(task)
        steps, means, timer = 0, MetricMeans(), CallTimer()
        while left:
            updates = min(timer.next_units, left)
            for part in self._wait([trainer.learn.remote(updates) for trainer in trainers]):
                means.merge(part)
            timer.returned(updates)
            left, steps = left - updates, steps + updates * per_update
            on_progress(Progress(steps=steps, target=task.steps, seconds=timer.seconds, metrics=means.values()))
            if left and self._partials.due:
                self._save_partial(task, whole - left, steps, means.values(), [])
        metrics = means.values() | {"steps_per_second": steps / timer.seconds}
        saved, exact = self._save(trainers, steps)
        return self._result(task, saved, steps, [], metrics | exact)

    def _updates(self, task: GenerationTask) -> int:
        """The updates that the task's steps make, rounded up."""
        return math.ceil(task.steps / self._update_steps(task))

    def _update_steps(self, task: GenerationTask) -> int:
        """The steps of one update, random opening moves included."""
        return parse_options(task.algorithm).rollout_steps * self.plan.tables * self.plan.rollout_actors

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
