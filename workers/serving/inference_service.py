"""A shared inference service: replicas that Ray hosts, on other nodes or on GPUs, get ticks in batches of arrays.

A Ray call costs about a millisecond, so a gateway sends what has arrived since its last calls as one array. Requests
name their version, so that weights are swapped while older requests are still under way. Recurrent states travel in the
rows and stay with the session: a replica remembers nothing, and a batch that a dying replica did not answer is sent to
another. Replicas are not detached: they end with the process that made them.

See docs/decisions/serving.md.
"""

from __future__ import annotations

import asyncio
import os
import threading
import time
import weakref
from collections import Counter
from collections.abc import Callable
from dataclasses import dataclass
from typing import Any
from uuid import uuid4

import numpy as np
import ray
import structlog
import torch
from numpy.typing import NDArray
from ray.exceptions import RayActorError, RayError

from orchestrator.storage.artifacts import ArtifactStore
from orchestrator.user_code.code_importing import import_archives_from
from workers.games.spaces import ActionLayout
from workers.inference.actor import Actor, Columns
from workers.serving.batching import Arrays, DynamicBatcher, join, row_count, split
from workers.serving.versions import ServedVersion, VersionRecord, load_version

log = structlog.get_logger()

DRAWS = "draws"
"""The column of uniform numbers, for requests whose actions are sampled."""
CALLS_PER_REPLICA = 2
"""Calls under way to one replica: while it computes one batch, the next is on its way."""
NAMESPACE = "lanista-serving"
RESTART_LOOK = 0.2
"""Seconds between two looks at a replica that Ray starts again."""
GIVE_UP_AFTER = 30.0
"""Seconds after which rows that no replica answered are refused."""

Decided = Callable[[Arrays | Exception], None]


@dataclass(frozen=True, kw_only=True)
class ServiceOptions:
    """How many replicas, on what, and how they group requests."""

    replicas: int = 1
    cpus: float = 1.0
    gpus: float = 0.0
    threads: int = 1
    max_rows: int = 256
    max_delay: float = 0.001
    artifacts: str = ""
    """Where replicas fetch own code from: a folder or URL that every node reaches."""

    @property
    def device(self) -> str:
        return "cuda" if self.gpus else "cpu"


class NotLoaded(Exception):
    """A replica does not have the version: it was started again."""


class InferenceReplica:
    """One process of the service. Ray hosts it; nothing here calls Ray."""

    def __init__(self, options: ServiceOptions) -> None:
        torch.set_num_threads(options.threads)
        if options.artifacts:
            import_archives_from(ArtifactStore(options.artifacts))  # own code is imported from its archive
        self._options = options
        self._batchers: dict[str, DynamicBatcher] = {}
        self._users: dict[str, set[str]] = {}

    async def put(self, user: str, key: str, record: VersionRecord, data: bytes | bytearray) -> None:
        """Load a version for a gateway; requests for others are answered meanwhile."""
        self._users.setdefault(key, set()).add(user)
        if key not in self._batchers:
            version = await asyncio.to_thread(load_version, data, record, self._options.device)
            self._batchers[key] = DynamicBatcher(
                _runner(version), max_rows=self._options.max_rows, max_delay=self._options.max_delay
            )

    async def drop(self, user: str, key: str) -> None:
        """A gateway no longer plays with a version: forget it with the last one that did."""
        users = self._users.get(key, set())
        users.discard(user)
        if not users:
            self._users.pop(key, None)
            self._batchers.pop(key, None)

    async def act(self, key: str, rows: Columns) -> Arrays:
        """Decide for rows of one version."""
        if key not in self._batchers:
            raise NotLoaded(f"version {key} is not loaded here; loaded: {', '.join(self._batchers) or 'none'}")
        return await self._batchers[key].act(rows)

    async def pid(self) -> int:
        """The process id."""
        return os.getpid()

    async def stats(self) -> dict[str, dict[str, int]]:
        """Requests, rows and batches by version."""
        return {
            key: {"requests": each.stats.requests, "rows": each.stats.rows, "batches": each.stats.batches}
            for key, each in self._batchers.items()
        }


def _runner(version: ServedVersion) -> Callable[[Arrays], Columns]:
    def run(rows: Arrays) -> Columns:
        draws = rows.pop(DRAWS, None)
        return version.actor.act(rows, draws)

    return run


class _Slot:
    """A replica and how many calls are under way to it."""

    def __init__(self, actor: Any) -> None:
        self.actor = actor
        self.calls = 0
        self.ready = True


class InferenceService:
    """Replicas owned by the process that starts them. `put` and `stop` may block; `ServiceModel` never does.

    With a `name`, other processes of the same Ray cluster may `join` them.
    """

    def __init__(self, options: ServiceOptions, *, name: str | None = None, join: bool = False) -> None:
        self.options = options
        self.restarts = 0
        """How often a replica that died was loaded again."""
        self._user = uuid4().hex
        self._versions: dict[str, tuple[VersionRecord, bytes | bytearray]] = {}
        self._models: Counter[str] = Counter()
        """How many models were, or will be, made of each version: a rollback may put one again."""
        self._lock = threading.RLock()  # reentrant: garbage collection may drop a version inside `put`
        self._owner, self._stopped = not join, False
        self._slots = [_Slot(_replica(options, name, number, join)) for number in range(options.replicas)]

    def put(self, version: ServedVersion, data: bytes | bytearray) -> None:
        """Load a version on every replica; returns when all have it. Make one `model` of it afterwards."""
        key = version.record.sha256
        with self._lock:
            self._models[key] += 1
            self._versions[key] = version.record, data
        kept = ray.put(data)
        calls = [slot.actor.put.remote(self._user, key, version.record, kept) for slot in self._slots]
        for call in calls:
            try:
                ray.get(call)
            except RayActorError:  # a restarted replica loads all versions again
                log.warning("serving.replica_died", version=version.record.name)

    def model(self, version: ServedVersion, loop: asyncio.AbstractEventLoop, *, sample: bool = False) -> ServiceModel:
        """What decides for a version that was `put`; the version is dropped when nothing holds the model any more."""
        made = ServiceModel(self, version, loop, sample=sample)
        weakref.finalize(made, self._drop, version.record.sha256)
        return made

    def free_slot(self) -> _Slot | None:
        """The replica with the fewest calls under way; None where all have enough."""
        free = [slot for slot in self._slots if slot.ready and slot.calls < CALLS_PER_REPLICA]
        return min(free, key=lambda slot: slot.calls, default=None)

    def lost(self, slot: _Slot) -> None:
        """A replica died: Ray starts it again, and a thread loads its versions."""
        if slot.ready and not self._stopped:
            slot.ready = False
            threading.Thread(target=self._load_again, args=(slot,), daemon=True).start()

    def stats(self) -> list[dict[str, dict[str, int]]]:
        """Each replica's requests, rows and batches by version."""
        found: list[dict[str, dict[str, int]]] = ray.get([slot.actor.stats.remote() for slot in self._slots])
        return found

    def pids(self) -> list[int]:
        """Process ids of the replicas."""
        found: list[int] = ray.get([slot.actor.pid.remote() for slot in self._slots])
        return found

    def stop(self) -> None:
        """End the replicas, if this process owns them."""
        self._stopped = True
        for slot in self._slots if self._owner else ():
            ray.kill(slot.actor)

    def _load_again(self, slot: _Slot) -> None:
        while not self._stopped:
            with self._lock:
                versions = list(self._versions.items())
            try:
                ray.get([slot.actor.put.remote(self._user, key, *value) for key, value in versions])
            except RayActorError:  # the replica has not restarted yet
                time.sleep(RESTART_LOOK)
                continue
            self.restarts += 1
            slot.ready = True
            log.info("serving.replica_is_back")
            return

    def _drop(self, key: str) -> None:
        if self._stopped or not ray.is_initialized():
            return
        with self._lock:
            self._models[key] -= 1
            if self._models[key] > 0:
                return
            self._versions.pop(key, None)
        for slot in self._slots:
            slot.actor.drop.remote(self._user, key)


def _replica(options: ServiceOptions, name: str | None, number: int, join: bool) -> Any:
    named = None if name is None else f"{name}-{number}"
    if join:
        return ray.get_actor(str(named), namespace=NAMESPACE)
    placed: dict[str, Any] = {"num_cpus": options.cpus, "num_gpus": options.gpus, "max_concurrency": 1_000}
    if named is not None:
        placed |= {"name": named, "namespace": NAMESPACE}
    made: Any = ray.remote(InferenceReplica)
    return made.options(max_restarts=-1, max_task_retries=0, **placed).remote(options)


@dataclass(slots=True)
class _Waiting:
    rows: Arrays
    decided: Decided
    since: float


class ServiceModel:
    """A version that the service decides for. Rows that arrive while calls are under way go together in the next."""

    def __init__(
        self, service: InferenceService, version: ServedVersion, loop: asyncio.AbstractEventLoop, *, sample: bool
    ) -> None:
        self.actor: Actor = version.actor
        self.version, self.update = version.record.name, 0
        self._service, self._key, self._loop = service, version.record.sha256, loop
        self._layout = ActionLayout(version.spec.action) if sample else None
        self._rng = np.random.default_rng()
        self._waiting: list[_Waiting] = []
        self._scheduled = False

    def submit(self, rows: dict[str, NDArray[Any]], decided: Decided) -> None:
        """See `Model`."""
        if self._layout is not None:
            draws = self._rng.random(self._layout.draws_shape(row_count(rows)), np.float32)
            rows = {**rows, DRAWS: draws}
        self._waiting.append(_Waiting(rows, decided, time.monotonic()))
        self._schedule(0.0)

    def _schedule(self, delay: float) -> None:
        if not self._scheduled:
            self._scheduled = True
            self._loop.call_later(delay, self._flush)

    def _flush(self) -> None:
        self._scheduled = False
        slot = self._service.free_slot()
        if slot is None:
            self._refuse_old()
            if self._waiting:  # besides the attempt when a call ends
                self._schedule(0.05)
            return
        sent = self._take()
        if not sent:
            return
        slot.calls += 1
        try:
            reference = slot.actor.act.remote(self._key, join([each.rows for each in sent]))
        except RayError as error:
            self._ended(slot, sent, error)
            return
        reference.future().add_done_callback(
            lambda done: self._loop.call_soon_threadsafe(self._answered, slot, sent, done)
        )
        if self._waiting:
            self._schedule(0.0)

    def _take(self) -> list[_Waiting]:
        """Rows with the same columns, up to what a replica takes at once."""
        names = self._waiting[0].rows.keys() if self._waiting else ()
        taken, rest, rows = [], [], 0
        for each in self._waiting:
            if each.rows.keys() == names and rows < self._service.options.max_rows:
                taken.append(each)
                rows += row_count(each.rows)
            else:
                rest.append(each)
        self._waiting = rest
        return taken

    def _answered(self, slot: _Slot, sent: list[_Waiting], done: Any) -> None:
        error = done.exception()
        if error is not None:
            self._ended(slot, sent, error)
            return
        slot.calls -= 1
        parts = split(done.result(), [row_count(each.rows) for each in sent])
        for each, part in zip(sent, parts, strict=True):
            each.decided(part)
        self._flush_soon()

    def _ended(self, slot: _Slot, sent: list[_Waiting], error: BaseException) -> None:
        slot.calls -= 1
        if isinstance(error, RayActorError | NotLoaded):
            # replicas keep no state, so the same rows can be sent to another
            self._service.lost(slot)
            self._waiting = sent + self._waiting
            self._refuse_old()
        else:
            cause = error if isinstance(error, Exception) else RuntimeError(str(error))
            for each in sent:
                each.decided(cause)
        self._flush_soon()

    def _flush_soon(self) -> None:
        if self._waiting:
            self._schedule(0.0)

    def _refuse_old(self) -> None:
        limit = time.monotonic() - GIVE_UP_AFTER
        old = [each for each in self._waiting if each.since < limit]
        self._waiting = [each for each in self._waiting if each.since >= limit]
        for each in old:
            each.decided(TimeoutError(f"no replica of the inference service answered within {GIVE_UP_AFTER:g} s"))
