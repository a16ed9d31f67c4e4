"""The measured side: a gateway with an agent and a perceptron of 128 x 128 in its process. Orders come on stdin."""

from __future__ import annotations

import argparse
import asyncio
import json
import sys
import time
from typing import Any

import numpy as np
import torch

from benchmarks.gateway.stages import StageClock, watch_stages
from lanista.agents import Agent
from workers.agents.agent_set import load_agents
from workers.agents.runner import AgentRunner
from workers.games.protocol import GameSpec
from workers.gateway import models
from workers.gateway.contract import Cast, Episode, SeatCast, SessionResult
from workers.gateway.limits import GatewayLimits
from workers.gateway.models import BatchedModel
from workers.gateway.options import GatewayOptions
from workers.gateway.process import settle_memory
from workers.gateway.server import Gateway
from workers.inference.policy import Policy
from workers.models.mlp import Mlp

INPUTS, ACTIONS, HIDDEN = 32, 8, (128, 128)


class ArrayAgent(Agent):
    """Observations are 32 numbers of float32, replies one byte."""

    serializer = "raw"

    async def on_tick(self, data: Any) -> Any:
        action = await self.forward(np.frombuffer(data, np.float32))
        return bytes((action,))


def make_actor(seed: int) -> Policy:
    """The model that is served."""
    torch.manual_seed(seed)
    return Policy(Mlp(observation_shape=(INPUTS,), actions=ACTIONS, hidden=HIDDEN).eval())


class Serving:
    """A director that casts one model into the only seat, as `lanista serve` does."""

    def __init__(self) -> None:
        self.spec = GameSpec(id="bench", seats=1, max_steps=1 << 30, observation_shape=(INPUTS,), actions=ACTIONS)
        self.model = BatchedModel(make_actor(0), self.spec, "0")
        self.finished_sessions = self.aborted_sessions = 0

    def cast(self, session: str, ticket: str) -> Cast:
        return Cast(self.spec, [SeatCast("champion", self.model)], info={"purpose": "serving"})

    def episode(self, cast: Cast, episode: Episode) -> None:
        raise AssertionError("nobody learns here")

    def finished(self, cast: Cast, result: SessionResult) -> None:
        self.finished_sessions += 1

    def aborted(self, cast: Cast, session: str, reason: str) -> None:
        self.aborted_sessions += 1


class Orders:
    """What the benchmark asks of the server, one line of JSON each."""

    def __init__(self, gateway: Gateway, serving: Serving, clock: StageClock | None) -> None:
        self.gateway, self.serving, self.clock = gateway, serving, clock

    async def take(self, order: dict[str, Any]) -> dict[str, Any]:
        """Carry one out; its answer."""
        if order["do"] == "swap":
            return await self._swap(order["count"], order["seconds"])
        if order["do"] == "single":
            models.MOST_ROWS = 1 if order["on"] else 1024
        model = self.serving.model
        answer = {
            "cpu_s": time.process_time(),
            "rows": model.rows,
            "batches": model.batches,
            "sessions": self.gateway.metrics.sessions,
            "aborted": self.serving.aborted_sessions,
        }
        return answer if self.clock is None else {**answer, "stages": self.clock.take()}

    async def _swap(self, count: int, seconds: float) -> dict[str, Any]:
        actors = [make_actor(seed) for seed in range(2)]
        for number in range(1, count + 1):
            self.serving.model.swap(actors[number % 2], str(number), number)
            await asyncio.sleep(seconds / count)
        return {"swaps": count}


async def serve(stages: bool, grpc: bool) -> None:
    """Print the ports, then answer orders until stdin ends."""
    loop = asyncio.get_running_loop()
    serving, agents = Serving(), load_agents(ArrayAgent)
    limits = GatewayLimits(session_seconds=600)
    options = GatewayOptions(http_port=0, tcp_port=0, grpc_port=0 if grpc else None, limits=limits)
    async with Gateway(options) as gateway:
        gateway.play(serving, lambda session, cast: AgentRunner(session, cast, agents, serving, loop))
        await gateway.listen()
        settle_memory(gateway)
        reader = asyncio.StreamReader()
        await loop.connect_read_pipe(lambda: asyncio.StreamReaderProtocol(reader), sys.stdin)
        orders = Orders(gateway, serving, watch_stages() if stages else None)
        print(json.dumps(gateway.ports), flush=True)
        while line := await reader.readline():
            print(json.dumps(await orders.take(json.loads(line))), flush=True)


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--stages", action="store_true")
    parser.add_argument("--grpc", action="store_true")
    given = parser.parse_args()
    torch.set_num_threads(1)
    from uvloop import new_event_loop

    with asyncio.Runner(loop_factory=new_event_loop) as runner:
        runner.run(serve(given.stages, given.grpc))


if __name__ == "__main__":
    main()
