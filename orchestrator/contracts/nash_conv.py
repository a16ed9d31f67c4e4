"""Messages about NashConv: how far a league is from equilibrium in a game that is small enough."""

from __future__ import annotations

from dataclasses import dataclass
from datetime import timedelta

from orchestrator.catalog import Component
from orchestrator.contracts.play import Contender, EvaluationKey
from orchestrator.contracts.queues import RETRY_FEW_TIMES, ActivityStub, Queue

OF_PLAYER = "nash_conv"
"""The metric of a player's newest version."""
OF_MIXTURE = "nash_conv_mixture"
"""The metric of a pool's mixture: one of its members is drawn for each game."""


@dataclass(frozen=True, kw_only=True)
class PolicyMixture:
    """Policies of which one is drawn for each game, and the metric that it is measured as."""

    metric: str
    contenders: list[Contender]
    weights: list[float]


@dataclass(frozen=True, kw_only=True)
class NashConvRequest:
    """What to measure after a generation of a player."""

    trial: str
    player: str
    generation: int
    game: Component
    mixtures: list[PolicyMixture]


@dataclass(frozen=True, kw_only=True)
class NashConvReport:
    """NashConv by metric, to be recorded."""

    trial: str
    player: str
    generation: int
    values: dict[str, float]


@dataclass(frozen=True, kw_only=True)
class NashConvRecorded:
    """The metrics that the generation has now."""

    values: dict[str, float]


plan_nash_conv = ActivityStub(
    name="plan_nash_conv",
    queue=Queue.STORE,
    message=EvaluationKey,
    result=NashConvRequest,
    start_to_close=timedelta(seconds=60),
)
compute_nash_conv = ActivityStub(
    name="compute_nash_conv",
    queue=Queue.INTERACTIVE,  # seconds at most, and it must not wait behind hours of games
    message=NashConvRequest,
    result=NashConvReport,
    start_to_close=timedelta(seconds=60),
    retry=RETRY_FEW_TIMES,
    summary=lambda request: f"NashConv after generation {request.generation}",
)
record_nash_conv = ActivityStub(
    name="record_nash_conv", queue=Queue.STORE, message=NashConvReport, result=NashConvRecorded
)
