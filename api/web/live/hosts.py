"""The hosts of an installation: what Temporal tells of workers and the train worker of Ray's nodes, by host.

See docs/decisions/clusters.md.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import dataclass, field
from datetime import datetime, timedelta

from api.schemas.installation.hosts import HostShown, UnreachedShown
from api.web.live.cluster_status import GONE_SECONDS, WORKERS, RaySeen, WorkerSeen
from orchestrator.clock_skew import Skew
from orchestrator.contracts.interactive import RayNode
from orchestrator.temporal.identity import parse_identity

EXACT = Skew(0.0, 0.0)


@dataclass
class _Host:
    """What is gathered of a host."""

    addresses: set[str] = field(default_factory=set)
    roles: set[str] = field(default_factory=set)
    versions: set[str] = field(default_factory=set)
    skew: Skew | None = None
    problems: list[str] = field(default_factory=list)
    left_at: datetime | None = None


def describe_hosts(
    *,
    now: datetime,
    api_host: str,
    release: str,
    workers: Sequence[WorkerSeen],
    ray: RaySeen | None,
    postgres: Skew | None,
) -> list[HostShown]:
    """All hosts by name; those of Ray only where a train worker answers. `postgres`: its clock against this one's.

    `release` is this process's, and `api_host` this host.
    """
    found: dict[str, _Host] = {}
    own = found.setdefault(api_host, _Host())
    own.roles.add("api")
    own.versions.add(release)
    here = None if postgres is None else -postgres
    own.skew = here
    if ray is not None:
        _add_nodes(found, ray, here or EXACT, now)
    _add_workers(found, workers, now)
    return [_shown(name, host, release) for name, host in sorted(found.items())]


def describe_unreached(ray: RaySeen | None) -> list[UnreachedShown]:
    """The connections that could not be made."""
    faults = [] if ray is None else ray.resources.unreached
    return [UnreachedShown(source=each.source, target=each.target, problem=each.problem) for each in faults]


def _add_nodes(found: dict[str, _Host], ray: RaySeen, here: Skew, now: datetime) -> None:
    for node in ray.resources.nodes:
        host = found.setdefault(node.host or node.address, _Host())
        host.addresses.add(node.address)
        host.roles.add("ray head" if node.head else "ray node")
        if node.left_seconds is not None:
            host.left_at = now - timedelta(seconds=node.left_seconds)
            continue
        if node.release:
            host.versions.add(node.release)
        host.problems += [problem for problem in (node.problem, *node.faults) if problem]
        if host.skew is None:
            host.skew = _skew_of(node, ray, here)


def _skew_of(node: RayNode, ray: RaySeen, here: Skew) -> Skew | None:
    """Node against train worker, that against this process, and this one against Postgres."""
    if node.ahead_seconds is None or ray.train_clock is None:
        return None
    return Skew(node.ahead_seconds, node.within_seconds) + ray.train_clock + here


def _add_workers(found: dict[str, _Host], workers: Sequence[WorkerSeen], now: datetime) -> None:
    polls: dict[tuple[str, str], list[WorkerSeen]] = {}
    for worker in workers:
        role = next((name for name, queues in WORKERS.items() if worker.queue in queues), "")
        place = parse_identity(worker.identity).host
        if role and place:
            polls.setdefault((place, role), []).append(worker)
    for (name, role), seen in polls.items():
        known = name in found
        host = found.setdefault(name, _Host())
        host.roles.add(role)
        # Temporal lists a process that ended for minutes; one that was started again there is not away
        fresh = [each for each in seen if (now - each.last_seen).total_seconds() <= GONE_SECONDS]
        if fresh:
            host.left_at = None
        elif not known:
            host.left_at = max(each.last_seen for each in seen)
        elif host.left_at is None:
            last = max(each.last_seen for each in seen)
            host.problems.append(f"its {role} has not polled since {last:%H:%M:%S} UTC")
        host.versions |= {release for each in fresh if (release := parse_identity(each.identity).release)}


def _shown(name: str, host: _Host, release: str) -> HostShown:
    problems = [] if host.left_at is not None else [*host.problems, *_version_problem(host.versions, release)]
    if host.skew is not None and host.skew.too_large:
        side = "ahead of" if host.skew.ahead > 0 else "behind"
        problems.append(f"its clock is {abs(host.skew.ahead):.1f} s {side} Postgres'")
    return HostShown(
        host=name,
        addresses=sorted(host.addresses),
        roles=sorted(host.roles),
        versions=sorted(host.versions),
        clock_ahead_seconds=None if host.skew is None else round(host.skew.ahead, 4),
        clock_within_seconds=None if host.skew is None else round(host.skew.within, 4),
        problems=list(dict.fromkeys(problems)),
        left_at=host.left_at,
    )


def _version_problem(versions: Iterable[str], release: str) -> list[str]:
    others = sorted(version for version in versions if version != release)
    return [f"has Lanista {', '.join(others)}, and the API {release}"] if others else []
