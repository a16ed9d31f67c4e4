"""What a serving gateway plays with: the director, the agents, the models, and the thread that follows the alias."""

from __future__ import annotations

import asyncio
import threading
from collections.abc import Callable
from dataclasses import dataclass
from functools import partial
from pathlib import Path
from typing import Any, Literal

import numpy as np
import structlog

from lanista.serving.code import CodeArchives
from lanista.serving.followed import Followed
from lanista.serving.follower import AliasFollower, Connect
from lanista.stack.errors import StackError
from orchestrator.storage.recorded_games import RecordedGames
from workers.agents.agent_set import AgentSet, load_agents
from workers.agents.generic import GenericAgent
from workers.agents.runner import AgentRunner
from workers.games.spaces import ActionLayout
from workers.gateway.contract import Model
from workers.gateway.models import BatchedModel
from workers.gateway.recording.recorder import KEPT, GameRecorder
from workers.gateway.server import Gateway
from workers.serving.comparison import Arm, CanaryReport
from workers.serving.director import ServingDirector
from workers.serving.inference_service import InferenceService, ServiceOptions
from workers.serving.metrics import serving_health, serving_series
from workers.serving.version_cache import VersionCache
from workers.serving.versions import ServedVersion, VersionRecord, load_version, searching

log = structlog.get_logger()


@dataclass(frozen=True, kw_only=True)
class ServeOptions:
    """What is served, and how."""

    followed: Followed
    cache: Path
    share: float = 0.1
    agent: str | None = None
    seats: tuple[int, ...] | None = None
    sampled: bool = False
    swap_sessions: bool = False
    backend: Literal["torch", "onnx"] = "torch"
    quantise: bool = False
    search: int | None = None
    """Simulations a decision, with the version's network; None: the network alone."""
    interval: float = 2.0
    service: ServiceOptions | None = None
    """The shared inference service; None: the gateway's own process decides."""
    dump_every: int | None = None
    """Every n-th session of a process is recorded; None: none."""
    dump_keep: int = KEPT
    artifacts: str = ""
    """Where recorded sessions are kept: the artifact store's URL."""
    service_name: str | None = None
    """The service that the first process has started, and the others join."""

    @property
    def dump(self) -> dict[str, int] | None:
        """Which sessions are recorded, as `game: dump` of a trial says it."""
        return None if self.dump_every is None else {"every": self.dump_every, "keep": self.dump_keep}


@dataclass(frozen=True)
class ServeBuild:
    """Gives a gateway what plays in it: see `workers.gateway.process.Build`. Every process of a gateway has its own."""

    connect: Connect
    options: ServeOptions

    async def __call__(self, gateway: Gateway) -> None:
        options, loop = self.options, asyncio.get_running_loop()
        models = Models(options, loop)
        director = ServingDirector(
            options.followed.label,
            models.make,
            seats=options.seats,
            swap_sessions=options.swap_sessions,
            dump=options.dump,
        )
        follower = AliasFollower(
            self.connect,
            options.followed,
            VersionCache(options.cache),
            InLoop(director, options.share, loop),
            models.load,
            interval=options.interval,
            code=CodeArchives(options.cache.parent / "code"),
        )
        await asyncio.to_thread(follower.begin)
        agents = serving_agents(options, director)

        self._play(gateway, director, agents, loop)
        gateway.metrics.more = partial(serving_series, director, follower.state)
        gateway.front.health = partial(serving_health, director, follower.state)
        stop = threading.Event()
        thread = threading.Thread(target=follower.run, args=(stop,), name="alias-follower", daemon=True)
        thread.start()

        async def end() -> None:
            stop.set()
            await asyncio.to_thread(thread.join)
            models.stop()

        gateway.at_stop(end)

    def _play(
        self, gateway: Gateway, director: ServingDirector, agents: AgentSet, loop: asyncio.AbstractEventLoop
    ) -> None:
        """Let sessions play, recorded where that is wanted."""
        if self.options.dump is None:
            gateway.play(director, lambda session, cast: AgentRunner(session, cast, agents, director, loop))
            return
        recorder = GameRecorder(director, RecordedGames(self.options.artifacts))
        gateway.play(
            recorder, recorder.runners(lambda session, cast: AgentRunner(session, cast, agents, recorder, loop))
        )
        gateway.at_stop(recorder.stop)


def join_ray() -> None:
    """Join the Ray cluster of RAY_ADDRESS, or the one on this machine."""
    import ray

    from workers.settings import WorkerSettings
    from workers.worker import connect_ray

    if ray.is_initialized():
        return
    settings = WorkerSettings.load()
    try:
        connect_ray(settings)
    except ConnectionError as error:
        raise StackError(f"RAY_ADDRESS={settings.ray_address!r}: no Ray cluster can be joined there: {error}") from None


class Models:
    """Loads versions and makes what decides for them."""

    def __init__(self, options: ServeOptions, loop: asyncio.AbstractEventLoop) -> None:
        self._options, self._loop = options, loop
        self._service: InferenceService | None = None
        if options.service is not None:
            join_ray()
            name = options.service_name
            self._service = InferenceService(options.service, name=name, join=name is not None)

    def load(self, data: bytes | bytearray, record: VersionRecord) -> ServedVersion:
        """Load a version and try it, in the follower's thread: what fails here never meets a request."""
        version = load_version(data, record)
        if self._options.backend == "onnx":
            from workers.serving.export.onnx_backend import on_onnx

            version, difference = on_onnx(version, quantise=self._options.quantise)
            log.info("serving.onnx", version=record.name, largest_difference=difference.largest, rows=difference.rows)
        if self._options.search is not None:
            version = searching(version, self._options.search)
        version.actor.act(_first_rows(version), None)
        if self._service is not None:
            self._service.put(version, data)
        return version

    def make(self, version: ServedVersion) -> Model:
        """See `MakeModel`."""
        if self._service is not None:
            return self._service.model(version, self._loop, sample=self._options.sampled)
        seed = int.from_bytes(np.random.default_rng().bytes(4), "big")
        greedy = not self._options.sampled
        return BatchedModel(version.actor, version.spec, version.record.name, greedy=greedy, seed=seed, loop=self._loop)

    def stop(self) -> None:
        """End the inference service, if this process has started it."""
        if self._service is not None:
            self._service.stop()


class InLoop:
    """Hands calls of the follower's thread to the event loop, and waits for what comes of them."""

    def __init__(self, director: ServingDirector, share: float, loop: asyncio.AbstractEventLoop) -> None:
        self._director, self._share, self._loop = director, share, loop

    def put(self, role: Arm, version: ServedVersion) -> None:
        """See `Serving`."""
        if role is Arm.CHAMPION:
            self._call(lambda: self._director.serve(version))
        else:
            self._call(lambda: self._director.serve_canary(version, self._share))

    def take_reports(self) -> list[CanaryReport]:
        """See `Serving`."""
        reports: list[CanaryReport] = self._call(self._director.take_reports)
        return reports

    def _call(self, step: Callable[[], Any]) -> Any:
        async def call() -> Any:
            return step()

        return asyncio.run_coroutine_threadsafe(call(), self._loop).result()


def serving_agents(options: ServeOptions, director: ServingDirector) -> AgentSet:
    """The agents of sessions: those that the options or the game of the served version name."""
    version = director.champion
    assert version is not None, "a version is served"
    return load_agents(options.agent or version.game.options.get("agent") or GenericAgent)


def _first_rows(version: ServedVersion) -> dict[str, Any]:
    """One row of zeros, to try a version with."""
    spec, layout = version.spec, ActionLayout(version.spec.action)
    rows = {f"obs/{name}" if name else "obs": part.zeros(1) for name, part in spec.observation_parts.items()}
    if layout.mask_width is not None:
        rows["legal"] = np.ones((1, layout.mask_width), np.bool_)
    states = version.actor.state_shapes.items()
    return rows | {name: np.zeros((1, *shape), np.float32) for name, shape in states}
