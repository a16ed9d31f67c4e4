"""The installation: liveness, readiness, workers, queues, Ray and gateways."""

from __future__ import annotations

from pydantic import Field

from api.schemas.base import Answer, Utc
from api.schemas.installation.hosts import HostShown, UnreachedShown


class Liveness(Answer):
    """The process answers."""

    status: str = Field(default="ok", description="always ok: a dead process does not answer")
    version: str = Field(description="version of Lanista", examples=["0.1.0"])


class PartReadiness(Answer):
    """Readiness of one part."""

    ok: bool = Field(description="whether the part answered")
    detail: str = Field(description="its version, or what went wrong", examples=["PostgreSQL 18.4"])


class Readiness(Answer):
    """Readiness of all parts."""

    ready: bool = Field(description="true when every part answered")
    parts: dict[str, PartReadiness] = Field(description="postgres, temporal and ray, each by name")


class WorkerShown(Answer):
    """A worker process at one queue; a process that serves three queues is listed three times."""

    identity: str = Field(
        description="process, host and release, as Temporal knows them", examples=["4711@host-a lanista-0.1.0"]
    )
    queue: str = Field(description="league, store, train, play or interactive", examples=["train"])
    last_seen: Utc = Field(
        description="when it last polled: every minute, or when a task ends; removed after 5 minutes"
    )
    gone: bool = Field(
        default=False,
        description="whether it polled none of its queues for more than a minute: it ended, or is cut off",
    )


class QueueShown(Answer):
    """A task queue."""

    name: str = Field(description="league, store, train, play or interactive", examples=["train"])
    backlog: int = Field(description="tasks that wait for a worker, approximately", examples=[3])
    backlog_age_seconds: float = Field(description="age of the oldest of them, approximately", examples=[1.5])
    pollers: int = Field(description="worker processes that poll this queue, without those that are gone", examples=[1])


class RayNodeShown(Answer):
    """A machine of the Ray cluster."""

    address: str = Field(description="its address", examples=["10.0.0.1"])
    alive: bool = Field(description="whether Ray considers it alive; one that left is listed for ten minutes")
    cpus: float = Field(description="its CPUs", examples=[8.0])
    memory_bytes: int = Field(description="its memory", examples=[17179869184])
    object_store_bytes: int = Field(description="its shared memory for objects", examples=[4294967296])
    host: str = Field(default="", description="its host name", examples=["gpu-3"])
    problem: str = Field(
        default="",
        description="why crews and matches do not run on it although it is alive; empty: they do, or it has no CPUs",
        examples=["is draining"],
    )


class RayShown(Answer):
    """Resources of the Ray cluster, in all and not reserved."""

    version: str = Field(description="version of Ray", examples=["2.60.0"])
    cpus: float = Field(description="CPUs of the cluster", examples=[8.0])
    cpus_available: float = Field(description="CPUs that are free", examples=[2.0])
    gpus: float = Field(description="GPUs of the cluster", examples=[0.0])
    gpus_available: float = Field(description="GPUs that are free", examples=[0.0])
    memory_bytes: int = Field(description="memory for tasks and actors", examples=[17179869184])
    memory_available_bytes: int = Field(description="memory that is not reserved", examples=[17179869184])
    object_store_bytes: int = Field(description="shared memory for objects", examples=[4294967296])
    object_store_available_bytes: int = Field(description="shared memory that is free", examples=[4290000000])
    nodes: list[RayNodeShown] = Field(description="the machines")


class RemoteGameShown(Answer):
    """A game that calls in, at one gateway process."""

    name: str = Field(description="its name; empty where the trial file gives none", examples=["chess"])
    sessions: int = Field(description="game sessions under way", examples=[32])
    gamecores_waiting: int = Field(description="processes of the game that have asked what to play", examples=[0])
    heard_seconds: float | None = Field(
        description="seconds since a process of the game was last heard of; null: never", examples=[0.4]
    )
    generations: int = Field(description="generations that collect experience from it", examples=[1])
    games: int = Field(description="games of matches that wait for a process of the game", examples=[12])


class GatewayShown(Answer):
    """A gateway process, at which games call in."""

    address: str = Field(description="its control address", examples=["127.0.0.1:8813"])
    problem: str = Field(description="why it did not answer; empty where it did", examples=[""])
    connections: int = Field(description="connections of games that are open", examples=[32])
    sessions: int = Field(description="game sessions that are open", examples=[32])
    ticks_per_s: float = Field(description="steps a second over the last two seconds", examples=[1520.5])
    games: list[RemoteGameShown] = Field(description="the games that are played there, or wait")


class SilentPart(Answer):
    """A part of the installation that does not do its work."""

    name: str = Field(description="its name", examples=["train worker"])
    problem: str = Field(description="what is known of it", examples=["no poll since 17:12:05 UTC"])


class SilentParts(Answer):
    """The parts that do not do their work."""

    parts: list[SilentPart] = Field(description="empty where all is well")


class System(Answer):
    """The installation at a glance."""

    version: str = Field(description="version of Lanista", examples=["0.1.0"])
    readiness: Readiness = Field(description="which parts answer")
    links: dict[str, str] = Field(
        description="web pages of other parts by name: tensorboard, temporal", examples=[{"tensorboard": "http://..."}]
    )
    workers: list[WorkerShown] | None = Field(description="worker processes; null while Temporal does not answer")
    queues: list[QueueShown] | None = Field(description="task queues; null while Temporal does not answer")
    ray: RayShown | None = Field(description="Ray's resources; null while no train worker answers")
    gateways: list[GatewayShown] | None = Field(
        description="gateway processes; null while no train worker answers, empty where none is set up"
    )
    hosts: list[HostShown] = Field(
        description="the hosts that are known: this API's, those of workers, and Ray's nodes while a train "
        "worker answers"
    )
    unreached: list[UnreachedShown] = Field(
        description="connections that could not be made between Ray's nodes and from them to gateways, tried every "
        "minute; empty while no train worker answers"
    )
    unknown: dict[str, str] = Field(
        description="why `workers`, `queues`, `ray` or `gateways` is null, by name",
        examples=[{"ray": "no train worker is running"}],
    )


class SystemHistory(Answer):
    """Measures of the last hour, one value per sample in each list; null where it was not known."""

    every_seconds: float = Field(description="time between two samples", examples=[10.0])
    at: list[Utc] = Field(description="when each sample was taken")
    cpu: list[float | None] = Field(description="share of the CPUs of the API's machine in use, 0 to 1")
    memory: list[float | None] = Field(description="share of that machine's memory in use, 0 to 1")
    reserved_cpus: list[float | None] = Field(
        description="CPUs that crews and match hosts have reserved in Ray; measured once a minute, and "
        "with each sample while somebody asks for this"
    )
    queues: dict[str, list[int | None]] = Field(description="tasks that waited in each queue")


class LogFile(Answer):
    """The log of a part."""

    part: str = Field(description="the part", examples=["train-worker"])
    size_bytes: int = Field(description="size of the file", examples=[20_480])


class LogFiles(Answer):
    """The logs that can be read."""

    items: list[LogFile] = Field(description="by name; empty where the API knows no folder of logs")


class LogLines(Answer):
    """Lines of a log, without secrets."""

    part: str = Field(description="the part", examples=["train-worker"])
    lines: list[str] = Field(description="the lines, the oldest first; passwords, tokens and keys are replaced by ***")
    end: int = Field(description="where they end in the file: ask with `after` for newer ones", examples=[20_480])
