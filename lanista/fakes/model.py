"""A fake model: random legal actions, or those of a script, behind a real gateway and one's own agent."""

from __future__ import annotations

import asyncio
import signal
from collections import Counter
from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from typing import Any

import numpy as np
from numpy.typing import NDArray

from lanista.fakes.scripts import BadScript
from orchestrator.spec import TrialFile
from workers.agents.agent_set import AgentSet, load_agents
from workers.agents.runner import AgentRunner
from workers.games.names import make_game
from workers.games.protocol import GameSpec
from workers.games.spaces import ActionLayout
from workers.gateway.contract import Cast, Episode, SeatCast, SessionResult
from workers.gateway.models import BatchedModel
from workers.gateway.options import GatewayOptions
from workers.gateway.server import Gateway
from workers.inference.actor import Columns, Rate

FUNCTIONS = ("act",)
"""What a script may define: act(rows, rng), whose rows are columns by name; it returns one action a row."""


class FakeActor:
    """Draws actions uniformly from those that are legal."""

    state_shapes: Mapping[str, tuple[int, ...]] = {}

    def __init__(self, spec: GameSpec, script: Mapping[str, Callable[..., Any]] | None = None) -> None:
        self._layout = ActionLayout(spec.action)
        self._act = (script or {}).get("act")
        self._rng = np.random.default_rng()

    def act(self, rows: Columns, draws: NDArray[np.float32] | None, explore: Rate = 0.0) -> Columns:
        """See `Actor`."""
        count = len(next(iter(rows.values())))
        if self._act is None:
            actions = self._layout.draw(self._rng.random((count, self._layout.width)), rows.get("legal"))
        else:
            actions = np.asarray(self._act(dict(rows), self._rng), self._layout.dtype)
            if actions.shape != (count, *self._layout.shape):
                raise BadScript(f"act() returned shape {actions.shape}; it must be {(count, *self._layout.shape)}")
        zeros = np.zeros(count, np.float32)
        return {"action": actions, "log_prob": zeros, "value": zeros}


@dataclass(slots=True)
class FakeCasting:
    """A director whose models are all the fake one, and which counts what comes out."""

    spec: GameSpec
    model: BatchedModel
    outside: frozenset[int] = frozenset()
    """Seats that the game plays by itself."""
    learning: bool = True
    started: int = 0
    finished_sessions: int = 0
    ticks: int = 0
    returns: NDArray[np.float64] = field(init=False)
    """Summed, by seat."""
    rows: int = 0
    columns: dict[str, str] = field(default_factory=dict)
    """What episodes hold: types and shapes by name."""
    aborts: Counter[str] = field(default_factory=Counter)
    metrics: dict[str, float] = field(default_factory=dict)

    def __post_init__(self) -> None:
        self.returns = np.zeros(self.spec.seats)

    def cast(self, session: str, ticket: str) -> Cast:
        """See `Director`."""
        self.started += 1
        learning = self.learning and bool(session)
        seats = [
            SeatCast("outside", None) if seat in self.outside else SeatCast("fake", self.model, learning=learning)
            for seat in range(self.spec.seats)
        ]
        return Cast(self.spec, seats, seed=self.started, info={"purpose": "training" if learning else "serving"})

    def episode(self, cast: Cast, episode: Episode) -> None:
        """See `Director`."""
        self.rows += len(episode.columns["action"])
        self.columns = {name: f"{column.dtype}{list(column.shape[1:])}" for name, column in episode.columns.items()}

    def finished(self, cast: Cast, result: SessionResult) -> None:
        """See `Director`."""
        self.finished_sessions += 1
        self.ticks += result.ticks
        self.returns += result.returns
        self.metrics.update(result.metrics)

    def aborted(self, cast: Cast, session: str, reason: str) -> None:
        """See `Director`."""
        self.aborts[reason] += 1


def remote_game(trial: TrialFile) -> tuple[GameSpec, AgentSet]:
    """Spaces and agents of a trial whose game calls in."""
    component = trial.game.component
    game = make_game(component.id, 1, **dict(component.options))
    if component.id != "remote":
        raise BadScript(f"the trial's game is {component.id}; a fake model is for games that call in (id: remote)")
    length = component.options.get("episode_length")
    return game.spec, load_agents(component.options["agent"], episode_length=length)


async def serve(
    spec: GameSpec,
    agents: AgentSet,
    options: GatewayOptions,
    on_ready: Callable[[Gateway, FakeCasting], None],
    *,
    script: Mapping[str, Callable[..., Any]],
    outside: frozenset[int] = frozenset(),
) -> None:
    """Let one's agents play with the fake model until SIGINT or SIGTERM."""
    loop = asyncio.get_running_loop()
    casting = FakeCasting(spec, BatchedModel(FakeActor(spec, script), spec, "fake"), outside)
    async with Gateway(options) as gateway:
        gateway.play(casting, lambda session, cast: AgentRunner(session, cast, agents, casting, loop))
        await gateway.listen()
        for number in (signal.SIGINT, signal.SIGTERM):
            loop.add_signal_handler(number, gateway.end)
        on_ready(gateway, casting)
        await gateway.wait()
