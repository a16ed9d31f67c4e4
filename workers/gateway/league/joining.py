"""Lets a gateway process play for the league: its director, and the control port for crews and matches."""

from __future__ import annotations

import asyncio
import errno
from dataclasses import dataclass, field
from pathlib import Path

from orchestrator.storage.artifacts import ArtifactStore
from orchestrator.storage.recorded_games import RecordedGames
from workers.gateway.auth import tls_context
from workers.gateway.league.building import LeagueBuilder, runner_factory
from workers.gateway.league.director import LeagueDirector
from workers.gateway.league.overview import GatewayLoad
from workers.gateway.league.server import ControlServer
from workers.gateway.recording.recorder import GameRecorder
from workers.gateway.server import Gateway


@dataclass(frozen=True, kw_only=True)
class JoinLeague:
    """Plays what crews and matches ask for; see `workers.gateway.process.Build`."""

    artifacts: str
    key: str = field(repr=False)
    host: str = "127.0.0.1"
    port: int = 0
    """The control port of the first process; further ones take the next that is free. 0: any free."""
    tls_cert: Path | None = None
    tls_key: Path | None = None

    async def __call__(self, gateway: Gateway) -> None:
        """Give the gateway its director, and listen for crews."""
        director = LeagueDirector()
        recorder = GameRecorder(director, RecordedGames(self.artifacts))
        make_runner = recorder.runners(runner_factory(recorder, asyncio.get_running_loop()))
        director.withdraw = gateway.play(recorder, make_runner, director).withdraw
        gateway.at_stop(recorder.stop)
        load = GatewayLoad(gateway.metrics, gateway.clock)
        control = ControlServer(director, LeagueBuilder(ArtifactStore(self.artifacts)), self.key, load.described)
        gateway.at_stop(control.stop)
        gateway.ports["control"] = await self._listen(control, gateway.options.processes)

    async def _listen(self, control: ControlServer, processes: int) -> int:
        tls = tls_context(self.tls_cert, self.tls_key, "LANISTA_GATEWAY_CONTROL_TLS_CERT")
        for number in range(processes):
            try:
                return await control.start(self.host, self.port + number if self.port else 0, tls)
            except OSError as error:
                if error.errno != errno.EADDRINUSE or number == processes - 1:
                    raise
        raise AssertionError("unreachable: a gateway has at least one process")
