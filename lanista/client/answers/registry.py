"""Versions, aliases and the rest of an installation."""

from __future__ import annotations

from datetime import datetime
from typing import Any, Literal

from lanista.client.answers.shape import Answer

VersionOrigin = Literal["initial", "imported", "trained", "snapshot", "reset", "rollback", "fork", "bot"]
Scope = Literal["viewer", "operator", "admin"]


class Version(Answer):
    """One immutable checkpoint of a player."""

    id: str
    trial_id: str
    player_id: str
    player: str
    number: int
    origin: VersionOrigin
    parent_id: str | None
    steps: int
    uri: str | None
    sha256: str | None
    size: int | None
    commit: int
    created_at: datetime


class VersionReturns(Answer):
    """What a version of a game of one seat earned in the generation that made it."""

    games: int
    mean: float
    deviation: float | None


class VersionDetail(Version):
    """A version with its ancestors, the nearest first, and its names."""

    returns: VersionReturns | None
    aliases: list[str]
    lineage: list[Version]


class Alias(Answer):
    """A movable name of a version."""

    name: str
    game: str
    version_id: str
    revision: int
    moved_at: datetime


class Move(Answer):
    """One move of an alias."""

    revision: int
    move: Literal["promoted", "set", "rolled_back"]
    from_version_id: str | None
    to_version_id: str
    reason: str
    actor: str
    gate_id: str | None
    tournament_id: str | None
    evidence: dict[str, Any]
    created_at: datetime


class Project(Answer):
    """A namespace."""

    id: str
    name: str
    created_at: datetime
    trials: int
    running: int


class CatalogEntry(Answer):
    """One name that a trial file may use."""

    name: str
    description: str
    source: str


class Catalog(Answer):
    """Every name that a trial file may use."""

    games: list[CatalogEntry]
    models: list[CatalogEntry]
    algorithms: list[CatalogEntry]
    bots: list[CatalogEntry]
    matchmakers: list[CatalogEntry]
    trial_schema: dict[str, Any]


class Example(Answer):
    """A trial file that works."""

    name: str
    title: str
    text: str
    spec: dict[str, Any]


class PartReadiness(Answer):
    """One part of the system."""

    ok: bool
    detail: str


class Readiness(Answer):
    """Which parts answer."""

    ready: bool
    parts: dict[str, PartReadiness]


class WorkerShown(Answer):
    """A worker process at one queue."""

    identity: str
    queue: str
    last_seen: datetime


class QueueShown(Answer):
    """A task queue."""

    name: str
    backlog: int
    backlog_age_seconds: float
    pollers: int


class RayNodeShown(Answer):
    """A machine of the Ray cluster."""

    address: str
    alive: bool
    cpus: float
    memory_bytes: int
    object_store_bytes: int


class RayShown(Answer):
    """What Ray has, and what of it is free."""

    version: str
    cpus: float
    cpus_available: float
    gpus: float
    gpus_available: float
    memory_bytes: int
    memory_available_bytes: int
    object_store_bytes: int
    object_store_available_bytes: int
    nodes: list[RayNodeShown]


class System(Answer):
    """The installation at a glance."""

    version: str
    readiness: Readiness
    links: dict[str, str]
    workers: list[WorkerShown] | None
    queues: list[QueueShown] | None
    ray: RayShown | None
    unknown: dict[str, str]
    """Why workers, queues or ray is None."""


class Token(Answer):
    """An API token, without its secret."""

    id: str
    name: str
    scope: Scope
    created_at: datetime
    expires_at: datetime | None
    revoked_at: datetime | None
    last_used_at: datetime | None


class MadeToken(Token):
    """A new token; its secret is told this once."""

    token: str | None


class BrowserSession(Answer):
    """Whose token this is."""

    name: str
    scope: Scope
    expires_at: datetime | None
    csrf_token: str | None


class Entry(Answer):
    """One line of the audit log."""

    id: int
    at: datetime
    actor: str
    token_id: str | None
    action: str
    target: str | None
    detail: dict[str, Any]
    remote_address: str | None
