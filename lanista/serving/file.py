"""Serves a file of weights, such as `lanista try` writes: no API and no alias takes part."""

from __future__ import annotations

import asyncio
import hashlib
from dataclasses import dataclass
from functools import partial
from pathlib import Path

from lanista.client.code_packing import code_folders
from lanista.serving.follower import FollowerState
from lanista.serving.server import Models, ServeOptions, serving_agents
from lanista.training.source import make_importable
from workers.agents.runner import AgentRunner
from workers.gateway.contract import Cast, Runner
from workers.gateway.server import Gateway
from workers.serving.director import ServingDirector
from workers.serving.metrics import serving_health, serving_series
from workers.serving.versions import VersionRecord

NOT_FOLLOWED = "a file is served: no alias is followed"


@dataclass(frozen=True)
class ServeFile:
    """Gives a gateway what plays in it: see `workers.gateway.process.Build`. Every process of a gateway has its own."""

    path: Path
    options: ServeOptions

    async def __call__(self, gateway: Gateway) -> None:
        loop = asyncio.get_running_loop()
        make_importable(code_folders(None))
        models = Models(self.options, loop)
        director = ServingDirector(self.path.name, models.make, seats=self.options.seats)
        data = self.path.read_bytes()
        record = VersionRecord(id="", name=self.path.name, sha256=hashlib.sha256(data).hexdigest())
        director.serve(await asyncio.to_thread(models.load, data, record))
        agents = serving_agents(self.options, director)

        def make_runner(session: str, cast: Cast) -> Runner:
            return AgentRunner(session, cast, agents, director, loop)

        gateway.play(director, make_runner)
        state = FollowerState(problem=NOT_FOLLOWED)
        gateway.metrics.more = partial(serving_series, director, state)
        gateway.front.health = partial(serving_health, director, state)

        async def end() -> None:
            models.stop()

        gateway.at_stop(end)
