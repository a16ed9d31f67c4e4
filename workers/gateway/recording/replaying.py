"""Replays a recorded game into its agent: the same steps, the recorded decisions; the replies are compared."""

from __future__ import annotations

import asyncio
import json
from collections import deque
from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from typing import Any
from typing import cast as cast_to

import numpy as np
from numpy.typing import NDArray

from workers.agents.agent_set import AgentSet
from workers.agents.runner import AgentRunner
from workers.games.remote import declared_spec
from workers.gateway.contract import Cast, Episode, Model, Refused, SeatCast, SessionResult, Step, StepKind
from workers.gateway.rpc.arrays import decode_batch
from workers.gateway.rpc.generated import gamecore_pb2
from workers.gateway.rpc.generated import recording_pb2 as pb
from workers.gateway.rpc.statuses import code_number

REPLY_SECONDS = 30.0
"""An agent that has not answered for this long is given up."""
SHOWN = 200
"""Characters of a reply in a report."""

_KINDS = {gamecore_pb2.StepKind.Value(f"STEP_KIND_{kind.name}"): kind for kind in StepKind}


@dataclass(frozen=True, kw_only=True)
class ReplayDifference:
    """Something that went otherwise than in the recorded game."""

    tick: int
    agent: str
    what: str
    """`reply`, `observation` or `result`."""
    recorded: str
    found: str


@dataclass(kw_only=True)
class ReplayReport:
    """How a replay went."""

    session: str
    ticks: int = 0
    replies: int = 0
    """Replies that were compared."""
    decisions: int = 0
    differences: list[ReplayDifference] = field(default_factory=list)


async def replay_game(game: pb.RecordedGame, agents: AgentSet) -> ReplayReport:
    """Play the recorded steps against these agents."""
    return await _Replay(game, agents).run()


class _Replay:
    def __init__(self, game: pb.RecordedGame, agents: AgentSet) -> None:
        self._game = game
        self.report = ReplayReport(session=game.session)
        self._agent = ""
        self._returns: list[float] | None = None
        models = _models(game, self._observed)
        nothing = cast_to(Model, _RecordedDecisions([], self._observed))
        cast = Cast(
            spec=declared_spec(json.loads(game.spec)),
            seats=[
                SeatCast(name=name, model=models.get(("", seat), nothing) if name else None)
                for seat, name in enumerate(game.players)
            ],
            seed=game.seed,
            info=json.loads(game.info),
        )
        for seat, learning in zip(cast.seats, game.learning, strict=False):
            seat.learning = learning
        cast.models = {name: model for (name, _), model in models.items() if name}
        self._runner = AgentRunner(game.session, cast, agents, self, asyncio.get_running_loop())
        self._replies: dict[str, asyncio.Future[bytes | Refused]] = {}

    async def run(self) -> ReplayReport:
        for event in self._game.events:
            match event.WhichOneof("kind"):
                case "step":
                    self._step(event.step)
                case "reply":
                    if not await self._compare(event.reply):
                        break
        if not self._game.cut and self._returns is not None:
            recorded = list(self._game.returns)
            if recorded and not np.allclose(recorded, self._returns):
                self._differs("result", str(recorded), str(self._returns))
        return self.report

    def _step(self, step: pb.RecordedStep) -> None:
        self.report.ticks += step.kind == gamecore_pb2.STEP_KIND_TICK
        answer = self._replies[step.agent] = asyncio.get_running_loop().create_future()
        self._runner.step(
            Step(self._game.session, _KINDS[step.kind], step.body, step.agent),
            lambda found: None if answer.done() else answer.set_result(found),
        )

    async def _compare(self, recorded: pb.RecordedReply) -> bool:
        """Wait for the reply that was recorded here; False where none comes, so that the replay ends."""
        self._agent = recorded.agent
        waiting = self._replies.pop(recorded.agent, None)
        if waiting is None:
            return True
        try:
            found = await asyncio.wait_for(waiting, REPLY_SECONDS)
        except TimeoutError:
            self._differs("reply", _shown(recorded), f"none within {REPLY_SECONDS:g} s")
            return False
        self.report.replies += 1
        refused = isinstance(found, Refused)
        same = refused == recorded.HasField("refusal") and (
            code_number(found) == recorded.refusal.code if isinstance(found, Refused) else found == recorded.body
        )
        if not same:
            self._differs("reply", _shown(recorded), found.text if isinstance(found, Refused) else _text(found))
        return True

    def _observed(self, recorded: Mapping[str, NDArray[Any]], found: Mapping[str, NDArray[Any]]) -> None:
        self.report.decisions += 1
        for name in recorded.keys() | found.keys():
            one, two = recorded.get(name), found.get(name)
            if one is None or two is None or one.shape != two.shape or not np.allclose(one, two, equal_nan=True):
                self._differs("observation", f"{name}: {_numbers(one)}", f"{name}: {_numbers(two)}")
                return

    def _differs(self, what: str, recorded: str, found: str) -> None:
        self.report.differences.append(
            ReplayDifference(tick=self.report.ticks, agent=self._agent, what=what, recorded=recorded, found=found)
        )

    # The director of the session

    def cast(self, session: str, ticket: str) -> Cast:
        raise Refused(409, "a replay has one session")

    def episode(self, cast: Cast, episode: Episode) -> None:
        pass

    def finished(self, cast: Cast, result: SessionResult) -> None:
        self._returns = result.returns.tolist()

    def aborted(self, cast: Cast, session: str, reason: str) -> None:
        pass


Observed = Callable[[Mapping[str, NDArray[Any]], Mapping[str, NDArray[Any]]], None]


@dataclass(frozen=True)
class _RecordedActor:
    """Tells the recurrent state of a recorded model."""

    state_shapes: Mapping[str, tuple[int, ...]]

    def act(self, rows: Any, draws: Any, explore: Any = 0.0) -> Any:
        raise NotImplementedError("recorded decisions are given one by one")


class _RecordedDecisions:
    """A model that decides what it decided in the recorded game, in the same order."""

    version, update = "recorded", 0

    def __init__(self, decisions: list[tuple[dict[str, Any], dict[str, Any]]], observed: Observed) -> None:
        first = decisions[0][0] if decisions else {}
        shapes = {name: rows.shape[1:] for name, rows in first.items() if name.partition("/")[0] == "state"}
        self.actor = _RecordedActor(shapes)
        self._decisions, self._observed = deque(decisions), observed

    def submit(
        self, rows: dict[str, NDArray[Any]], decided: Callable[[dict[str, NDArray[Any]] | Exception], None]
    ) -> None:
        if self._decisions:
            recorded, columns = self._decisions.popleft()
            self._observed(recorded, rows)
            answer: dict[str, NDArray[Any]] | Exception = {name: column.copy() for name, column in columns.items()}
        else:
            answer = LookupError("the agent asks for more decisions than were recorded")
        asyncio.get_running_loop().call_soon(decided, answer)


def _models(game: pb.RecordedGame, observed: Observed) -> dict[tuple[str, int], Model]:
    """By name and seat; those of seats have no name."""
    found: dict[tuple[str, int], list[Any]] = {}
    for event in game.events:
        if event.WhichOneof("kind") == "decision":
            decision = event.decision
            pair = decode_batch(decision.rows, "rows"), decode_batch(decision.columns, "columns")
            found.setdefault((decision.model, decision.seat), []).append(pair)
    return {key: cast_to(Model, _RecordedDecisions(decisions, observed)) for key, decisions in found.items()}


def _shown(reply: pb.RecordedReply) -> str:
    return reply.refusal.text if reply.HasField("refusal") else _text(reply.body)


def _text(body: bytes) -> str:
    """Bytes as people read them."""
    shown = body[:SHOWN]
    try:
        text = shown.decode()
    except UnicodeDecodeError:
        text = shown.hex(" ")
    return text + (" ..." if len(body) > SHOWN else "")


def _numbers(array: NDArray[Any] | None) -> str:
    return "none" if array is None else np.array2string(array, threshold=12, precision=4, separator=", ")
