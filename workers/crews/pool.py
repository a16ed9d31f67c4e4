"""A pool of warm crews, kept between generations.

See docs/decisions/crews.md.
"""

from __future__ import annotations

import math
import threading
import time
from collections.abc import Iterator, Sequence
from contextlib import ExitStack, contextmanager
from dataclasses import replace
from pathlib import Path

import structlog

from league.training_priority import Urgency
from orchestrator.contracts.generations import GenerationPlan, GenerationTask
from orchestrator.storage.artifacts import ArtifactStore
from orchestrator.tracing import spans
from workers.buffers.keeping import MovedBuffer
from workers.cluster.watch import ClusterWatch
from workers.crews.asynchronous import AsynchronousCrew
from workers.crews.crew import Crew
from workers.crews.errors import GenerationStopped
from workers.crews.fused import FusedCrew
from workers.crews.hosts.contract import POLL_SECONDS, OnWaiting, ShouldStop
from workers.crews.hosts.cpu_ledger import CpuLedger
from workers.crews.hosts.ray_host import RayHost
from workers.crews.plan import DEFAULT_BUFFER_BYTES, CrewPlan
from workers.crews.split import SplitCrew
from workers.gateway.league.access import GatewayAccess

log = structlog.get_logger()

GIVE_WAY_POLL_SECONDS = 1.0
"""How often idle crews are looked at that must give way."""
EVICT_AFTER_SECONDS = 1.0
"""A new crew that has waited this long for CPUs gets those of idle crews."""
BUFFER_PATIENCE_SECONDS = 600.0
"""How long a player waits for the crew that holds its buffer, and that another player uses."""


class CrewPool:
    """Lends crews by plan; thread-safe.

    An idle crew is closed where a new one needs its CPUs, where another driver of the same Ray cluster waits for CPUs,
    where its node is drained, and after `idle_seconds`.
    """

    def __init__(
        self,
        store: ArtifactStore,
        ledger: CpuLedger | None = None,
        max_idle: int = 1,
        idle_seconds: float = math.inf,
        buffer_bytes: int = DEFAULT_BUFFER_BYTES,
        data_folders: Sequence[Path] | None = None,
        gateways: GatewayAccess | None = None,
        cluster: ClusterWatch | None = None,
        autoscales: bool = False,
    ) -> None:
        """At most `max_idle` idle crews are kept, each for `idle_seconds`; `buffer_bytes` is for all crews together.

        Data sets are read from `data_folders` only; None: from anywhere. `gateways` play games that call in.
        `cluster` says which of Ray's nodes may be used; where Ray `autoscales`, a crew waits for nodes to come.
        """
        if max_idle < 1:
            raise ValueError(f"max_idle must be at least 1, not {max_idle}")
        self._store = store
        self._ledger = ledger or CpuLedger()
        self._max_idle = max_idle
        self._idle_seconds = idle_seconds
        self._buffer_bytes = buffer_bytes
        self._data_folders = None if data_folders is None else tuple(data_folders)
        self._gateways = gateways
        self.cluster = cluster
        self._autoscales = autoscales
        self._idle: list[Crew] = []
        self._lent: list[Crew] = []
        self._timers: dict[Crew, threading.Timer] = {}
        self._parked: dict[str, list[MovedBuffer | None]] = {}
        """Buffers of players whose crew was closed."""
        self._changed = threading.Condition()
        if cluster is not None:
            threading.Thread(target=self._give_way_forever, name="idle-crews", daemon=True).start()

    @contextmanager
    def crew(
        self,
        plan: CrewPlan,
        task: GenerationTask,
        should_stop: ShouldStop,
        on_waiting: OnWaiting = lambda _: None,
        urgency: int = Urgency.IN_STEP,
    ) -> Iterator[Crew]:
        """Lend a crew of this plan, preferably one that holds the player's buffer or the task's learner.

        Waits for CPUs, and for the crew that holds the player's buffer. A crew is taken back if it is still usable.
        """
        with ExitStack() as lent:
            with spans.span("get a crew") as span:
                self._wait_for_buffer(plan, task.player, should_stop, on_waiting)
                with spans.span("wait for CPUs"):
                    reserved = self._ledger.reserve(plan.cpus, should_stop, on_waiting, urgency, whose=_whose(task))
                    lent.enter_context(reserved)
                crew, warm = self._take(plan, task)
                lent.callback(self._give_back, crew)
                span.set(warm=warm)
                if not warm:
                    self._start(crew, should_stop, on_waiting)
                self._bring_buffer(task.player, crew)
            yield crew

    def close(self) -> None:
        """Close all idle crews."""
        for crew in self._remove_all_idle():
            crew.close()

    def fitting(self, plan: CrewPlan) -> int:
        """How many generations on crews of this plan can be under way at once."""
        return self._ledger.fitting(plan.cpus)

    def _wait_for_buffer(self, plan: CrewPlan, player: str, should_stop: ShouldStop, on_waiting: OnWaiting) -> None:
        """Until the crew that holds the player's buffer is idle: on another crew the buffer would start empty."""
        deadline = time.monotonic() + BUFFER_PATIENCE_SECONDS
        with self._changed:
            while any(crew.plan == plan and player in crew.buffered for crew in self._lent):
                if time.monotonic() > deadline:
                    return
                on_waiting("the crew that holds its buffer, which another generation uses")
                if should_stop():
                    raise GenerationStopped("stopped while it waited for the crew that holds its buffer")
                self._changed.wait(POLL_SECONDS)

    def _start(self, crew: Crew, should_stop: ShouldStop, on_waiting: OnWaiting) -> None:
        try:
            crew.start(should_stop, self._evicting_idle(on_waiting))
        except BaseException:
            crew.close()
            raise

    def _evicting_idle(self, on_waiting: OnWaiting) -> OnWaiting:
        """`on_waiting`, which also closes all idle crews once the new crew has waited EVICT_AFTER_SECONDS."""
        began = time.monotonic()

        def waiting(reason: str) -> None:
            on_waiting(reason)
            if time.monotonic() - began > EVICT_AFTER_SECONDS:
                for crew in self._remove_all_idle():
                    self._park(crew)

        return waiting

    def _take(self, plan: CrewPlan, task: GenerationTask) -> tuple[Crew, bool]:
        """An idle crew of the plan and True; or a new one and False, after closing idle crews whose CPUs it needs."""
        evicted: list[Crew] = []
        cpus = self._ledger.total
        with self._changed:
            evicted += [self._remove_idle(crew) for crew in list(self._idle) if not self._may_stay(crew)]
            fitting = [crew for crew in self._idle if crew.plan == plan]
            if fitting:
                crew = self._remove_idle(min(fitting, key=lambda crew: _preference(crew, task)))
            else:
                while self._idle and (len(self._idle) >= self._max_idle or self._held() > cpus):
                    evicted.append(self._remove_idle(min(self._idle, key=lambda crew: bool(crew.buffered))))
                crew = self._new(plan)
            self._lent.append(crew)
        for idle in evicted:
            self._park(idle)
        return crew, bool(fitting)

    def _bring_buffer(self, player: str, crew: Crew) -> None:
        """Give the crew the player's buffer if another crew has it, or had it when it was closed."""
        if player in crew.buffered:
            return
        with self._changed:
            holders = [other for other in (*self._idle, *self._lent) if player in other.buffered]
            moved = self._parked.pop(player, None)
        if holders:
            moved = holders[0].hand_over(player)
        if moved:
            crew.take_over(player, moved)

    def _park(self, crew: Crew) -> None:
        """Close a crew and keep its players' buffers, as files, for the crews after it."""
        lost = self.cluster.lost(crew.nodes) if self.cluster is not None else None
        if lost and crew.buffered:  # its actors would not answer before Ray itself gives the node up
            log.warning("replay buffers are lost with a node", players=sorted(crew.buffered), problem=lost)
        for player in sorted(crew.buffered) if crew.has_actors and not lost else ():
            self._parked[player] = crew.hand_over(player)
        crew.close()

    def _remove_all_idle(self) -> list[Crew]:
        with self._changed:
            return [self._remove_idle(crew) for crew in list(self._idle)]

    def _new(self, plan: CrewPlan) -> Crew:
        """A crew without actors; its processes share the memory for buffers with those of all other crews."""
        each = self._buffer_bytes // (self.fitting(plan) * plan.learners)
        plan = replace(plan, buffer_bytes=each, data_folders=self._data_folders, gateways=self._gateways)
        kind = AsynchronousCrew if plan.asynchronous else SplitCrew if plan.split else FusedCrew
        return kind(plan, self._store, RayHost(self.cluster, self._autoscales))

    def _held(self) -> float:
        return self._ledger.reserved + sum(crew.plan.cpus for crew in self._idle)

    def _give_back(self, crew: Crew) -> None:
        with self._changed:
            self._lent.remove(crew)
            self._changed.notify_all()
            if crew.has_actors and len(self._idle) < self._max_idle and self._may_stay(crew):
                self._add_idle(crew)
                return
        self._park(crew)

    def give_way(self) -> None:
        """Close idle crews whose nodes may no longer be used, and all of them if another train worker waits."""
        with self._changed:
            closed = [self._remove_idle(crew) for crew in list(self._idle) if not self._may_stay(crew)]
        for crew in closed:
            self._park(crew)

    def _give_way_forever(self) -> None:
        while True:
            time.sleep(GIVE_WAY_POLL_SECONDS)
            try:
                self.give_way()
            except Exception as error:  # what is left is tried again
                log.warning("an idle crew could not be closed", problem=str(error))

    def _may_stay(self, crew: Crew) -> bool:
        """Whether a crew may be kept for the next generation."""
        return self.cluster is None or (self.cluster.may_use(crew.nodes) and not self.cluster.others_wait())

    def _add_idle(self, crew: Crew) -> None:
        self._idle.append(crew)
        if math.isfinite(self._idle_seconds):
            timer = threading.Timer(self._idle_seconds, self._close_unused, [crew])
            timer.daemon = True
            self._timers[crew] = timer
            timer.start()

    def _remove_idle(self, crew: Crew) -> Crew:
        self._idle.remove(crew)
        timer = self._timers.pop(crew, None)
        if timer is not None:
            timer.cancel()
        return crew

    def _close_unused(self, crew: Crew) -> None:
        with self._changed:
            # a timer that had already fired when the crew was lent must not close it in its next idle time
            if self._timers.get(crew) is not threading.current_thread():
                return
            self._remove_idle(crew)
        self._park(crew)


def _preference(crew: Crew, task: GenerationTask) -> tuple[bool, bool, int]:
    """Least for the crew that holds the player's buffer, then the task's learner, then the fewest buffers of others."""
    wanted = task.checkpoint.sha256 if task.checkpoint is not None else None
    return task.player not in crew.buffered, crew.loaded_sha256 != wanted, len(crew.buffered)


def _whose(task: GenerationTask) -> str:
    """Whose generation it is, for those that wait for its CPUs."""
    if not isinstance(task, GenerationPlan):
        return ""
    return f"{task.player_name} of {task.trial_name}" if task.trial_name else task.player_name
