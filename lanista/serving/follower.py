"""Follows an alias by polling the REST API: new versions are downloaded, loaded, tried and only then put in place.

It runs in a thread of its own and takes no part in answering requests. While the API is away, the last known version
goes on; at a start it comes from the disk.

See docs/decisions/serving.md.
"""

from __future__ import annotations

import threading
import time
from collections.abc import Callable
from dataclasses import asdict, dataclass, field
from typing import Protocol

import structlog

from api.schemas.versions import VersionDetail
from lanista.client import Client, LanistaError
from lanista.client.errors import Problem, Unavailable, UnexpectedAnswer, Unreachable
from lanista.serving.code import CodeArchives
from lanista.serving.followed import Followed
from lanista.serving.loading import find_version, record_of
from workers.serving.comparison import Arm, CanaryReport
from workers.serving.version_cache import VersionCache
from workers.serving.versions import ServedVersion, VersionRecord

log = structlog.get_logger()

Load = Callable[[bytearray, VersionRecord], ServedVersion]
Connect = Callable[[], Client]
"""Finds the API and makes a client of it; raises LanistaError where it is not found."""

NEVER_TAKEN = frozenset({400, 404, 409, 422})
"""Statuses of a report that the API will refuse again however often it is sent; others may pass."""
FIRST_PAUSE = 10.0
"""Seconds until a version that could not be served is tried again; doubled each time."""
LONGEST_PAUSE = 600.0


class Serving(Protocol):
    """Where versions are put and results come from; called from the follower's thread."""

    def put(self, role: Arm, version: ServedVersion) -> None:
        """Let new sessions play with the version."""

    def take_reports(self) -> list[CanaryReport]:
        """Results since the last call."""


@dataclass(slots=True)
class FollowerState:
    """What the follower knows, for health checks and metrics."""

    api_reachable: bool = False
    problem: str = ""
    """Why the last look failed; empty where it did not."""
    refused: dict[str, str] = field(default_factory=dict)
    """Versions that could not be served, by role; they are tried again after a growing pause."""
    downloads: int = 0


@dataclass(frozen=True, slots=True)
class _Refusal:
    """A version that could not be served, and when it is tried again."""

    version_id: str
    pause: float
    retry_at: float


class AliasFollower:
    """Looks at the alias every `interval` seconds. `begin` before the first session, then `run` in a thread."""

    def __init__(
        self,
        connect: Connect,
        followed: Followed,
        cache: VersionCache,
        serving: Serving,
        load: Load,
        *,
        code: CodeArchives | None = None,
        interval: float = 2.0,
        report_every: float = 30.0,
        clock: Callable[[], float] = time.monotonic,
    ) -> None:
        self.state = FollowerState()
        self._connect, self._followed, self._cache = connect, followed, cache
        self._client: Client | None = None
        self._serving, self._load, self._code = serving, load, code
        self._interval, self._report_every, self._clock = interval, report_every, clock
        self._served: dict[Arm, str] = {}
        """The id of the version that each role serves."""
        self._refused: dict[Arm, _Refusal] = {}

    def begin(self) -> None:
        """Serve the alias's version, or the last known one where the API is away.

        Raises LanistaError where there is neither.
        """
        try:
            self.look()
        except LanistaError as error:
            if not self._is_away(error) or not self._from_disk():
                raise
            self._away(error)

    def run(self, stop: threading.Event) -> None:
        """Follow until `stop` is set, then deliver the last results."""
        reported = time.monotonic()
        while not stop.wait(self._interval):
            self._try(self.look)
            if time.monotonic() >= reported + self._report_every:
                reported = time.monotonic()
                self._try(self.deliver)
        self._try(self.deliver)

    def look(self) -> None:
        """Look at the alias once, and serve what it names if that is new."""
        client = self._api()
        held = client.alias(self._followed.project, self._followed.alias, game=self._followed.game)
        self._follow(Arm.CHAMPION, held.version_id, lambda: client.version(held.version_id), held.revision)
        if self._followed.canary is not None:
            version = find_version(client, self._followed.canary)
            self._follow(Arm.CANARY, version.id, lambda: version)
        if not self.state.api_reachable:
            log.info("serving.api_reachable", alias=self._followed.label)
        self.state.api_reachable, self.state.problem = True, ""

    def deliver(self) -> None:
        """Record results of the canary; what cannot be delivered stays on disk."""
        for report in self._serving.take_reports():
            self._cache.keep_report(report)
        for report in self._cache.undelivered():
            try:
                self._send(report)
            except Problem as error:
                if self._is_away(error):
                    raise
                kept = error.status not in NEVER_TAKEN
                log.error("serving.report_refused", report=report.report_id, problem=str(error), kept=kept)
                if kept:  # a token that is renewed, or an API that is mended, takes it later
                    continue
            self._cache.delivered(report)

    def _send(self, report: CanaryReport) -> None:
        followed = self._followed
        self._api().report_canary(followed.project, followed.alias, report=asdict(report), game=followed.game)

    def _follow(self, role: Arm, version_id: str, describe: Callable[[], VersionDetail], revision: int = 0) -> None:
        if not self._is_due(role, version_id):
            return
        record = record_of(describe(), revision)
        try:
            data = self._weights(record)
            if self._code is not None:
                self._code.fetch(self._api(), data)
            self._serving.put(role, self._load(data, record))
        except LanistaError:
            raise
        except Exception as error:
            # user code made the model, and may raise anything: what was served goes on
            if role not in self._served:
                raise
            self._refuse(role, record, error)
            return
        self._cache.put(role, record)
        self._served[role] = version_id
        self._clear_refusal(role)
        log.info("serving.version", role=role, version=record.name, revision=revision)

    def _is_due(self, role: Arm, version_id: str) -> bool:
        """Whether to try the version now: it is neither served, nor refused so recently that it must wait."""
        refusal = self._refused.get(role)
        if refusal is not None and refusal.version_id != version_id:
            self._clear_refusal(role)
            refusal = None
        if version_id == self._served.get(role):
            return False
        return refusal is None or self._clock() >= refusal.retry_at

    def _refuse(self, role: Arm, record: VersionRecord, error: Exception) -> None:
        before = self._refused.get(role)
        pause = FIRST_PAUSE if before is None else min(before.pause * 2, LONGEST_PAUSE)
        self._refused[role] = _Refusal(record.id, pause, self._clock() + pause)
        self.state.refused[role] = f"{record.name}: {error}"
        log.error(
            "serving.version_refused", role=role, version=record.name, problem=str(error), retry_after_seconds=pause
        )

    def _clear_refusal(self, role: Arm) -> None:
        self._refused.pop(role, None)
        self.state.refused.pop(role, None)

    def _weights(self, record: VersionRecord) -> bytearray:
        data = self._cache.weights(record.sha256)
        if data is None:
            self._api().download_checkpoint(record.id, self._cache.place(record.sha256))
            self.state.downloads += 1
            data = self._cache.weights(record.sha256)
        if data is None:
            raise UnexpectedAnswer(f"the API sent other weights than those of {record.name}, or the disk changed them")
        return data

    def _from_disk(self) -> bool:
        """Serve the last known versions; False where there is no champion among them."""
        for role in Arm:
            record = self._cache.last(role)
            if record is None or (role is Arm.CANARY and self._followed.canary is None):
                continue
            data = self._cache.weights(record.sha256)
            if data is not None:
                self._serving.put(role, self._load(data, record))
                self._served[role] = record.id
                log.warning("serving.from_disk", role=role, version=record.name)
        return Arm.CHAMPION in self._served

    def _try(self, step: Callable[[], None]) -> None:
        """Whatever fails, what is served goes on."""
        try:
            step()
        except LanistaError as error:
            self._away(error)
        except Exception as error:
            self.state.problem = str(error)
            log.exception("serving.follower_failed", alias=self._followed.label)

    def _api(self) -> Client:
        if self._client is None:
            self._client = self._connect()
        return self._client

    def _away(self, error: LanistaError) -> None:
        if isinstance(error, Unreachable) and self._client is not None:
            self._client.close()  # it may come back at another address
            self._client = None
        if self.state.api_reachable or not self.state.problem:
            log.warning("serving.api_away", alias=self._followed.label, problem=str(error))
        self.state.api_reachable, self.state.problem = not self._is_away(error), str(error)

    @staticmethod
    def _is_away(error: LanistaError) -> bool:
        """Whether the API, or a part it needs, does not answer; else it answered, and refused."""
        return not isinstance(error, Problem) or isinstance(error, Unavailable)
