"""The state that a session keeps for each name by which the game addresses an agent."""

from __future__ import annotations

from typing import Any

from workers.agents.agent import Agent
from workers.agents.drive import Drive
from workers.agents.serializers import Serializer
from workers.agents.shares import SharedWait
from workers.gateway.contract import Reply, StepKind


class Part:
    """What the game calls one agent: mostly one object, or several that get the same requests."""

    __slots__ = ("agents", "drives", "ended", "kind", "left", "name", "reply", "serializer", "tick", "turn", "value")

    def __init__(self, name: str, serializer: Serializer) -> None:
        self.name, self.serializer = name, serializer
        self.agents: list[Agent] = []
        self.drives: list[Drive] = []
        self.kind = StepKind.START
        self.reply: Reply | None = None
        """Of the request under way; None between requests."""
        self.left = 0
        """Agents that have not answered it."""
        self.value: Any = None
        self.tick = 0
        """Ticks so far, the present one included."""
        self.turn = 0
        """Requests after the start: values are shared between agents that have the same number."""
        self.ended = False

    def may_share(self, turn: int) -> bool:
        """Whether one of its agents can still share a value in its request of this number."""
        if self.ended or self.turn != turn:
            return self.turn < turn and not self.ended
        waiting = sum(isinstance(drive.waits_for, SharedWait) for drive in self.drives if not drive.closed)
        return self.reply is not None and self.left > waiting
