"""The interface of a host of actors; Ray (`ray_host.py`) or this process (`local_host.py`) implements it."""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Callable, Sequence
from typing import Any

from orchestrator.storage.artifacts import ArtifactStore
from workers.crews.actors import CrewActor
from workers.crews.plan import Bundle, CrewPlan

ShouldStop = Callable[[], bool]
"""Polled while the driver waits; True ends the generation."""
OnWaiting = Callable[[str], None]
"""Called repeatedly while a generation waits, with what for."""
ActorHandle = Any
"""Stands for an actor: `handle.method.remote(...)` starts a call, as Ray's handles do."""
Call = Any
"""A call that was started. It may be given to another call, in the place of its result."""

POLL_SECONDS = 0.1


class ActorHost(ABC):
    """Starts actors, waits for their calls and ends them."""

    nodes: frozenset[str] = frozenset()
    """Ids of the nodes that the actors run on; none where they run in this process."""

    @abstractmethod
    def reserve(self, plan: CrewPlan, should_stop: ShouldStop, on_waiting: OnWaiting) -> None:
        """Wait until there is room for all actors of the plan; raises CrewUnavailable where there will never be."""

    @abstractmethod
    def launch(
        self, kind: type[CrewActor], count: int, bundle: Bundle, plan: CrewPlan, store: ArtifactStore
    ) -> list[ActorHandle]:
        """Start this many actors, by rank, each with these resources."""

    @abstractmethod
    def wait(self, calls: Sequence[Call], seconds: float = POLL_SECONDS) -> tuple[list[Call], list[Call]]:
        """Wait for one of the calls to end, no longer than `seconds`; gives those that ended, and the others."""

    @abstractmethod
    def results(self, calls: Sequence[Call]) -> list[Any]:
        """The results of calls that have ended; raises the actor's own exception."""

    @abstractmethod
    def stop(self, actors: Sequence[ActorHandle], calls: Sequence[Call], seconds: float) -> bool:
        """Ask the actors to end their calls; gives whether these calls ended within `seconds`."""

    @abstractmethod
    def close(self, actors: Sequence[ActorHandle]) -> None:
        """End the actors and free what was reserved."""
