"""The hosts of the installation, each with what is wrong with it and what to do."""

from __future__ import annotations

import socket
from collections.abc import Sequence
from datetime import UTC, datetime
from importlib.metadata import version

from temporalio.client import Client

from api.schemas.installation.hosts import HostShown, UnreachedShown
from api.web.live.cluster_status import ClusterStatus
from api.web.live.hosts import describe_hosts, describe_unreached
from lanista.checks.finding import Finding
from orchestrator.clock_skew import Skew

PATIENCE_SECONDS = 15.0
MOST_WELL = 20
"""Hosts that are well are named up to this many, and counted beyond."""
MENDS = {
    "its clock is": "run an NTP client, such as chrony, there; docs/guides/runbook.md, Clocks differ",
    "cannot be reached": "check that host and its network; docs/guides/runbook.md, A host is lost",
    "is draining": "nothing: it finishes its work, and may then be stopped",
    "is checked before": "nothing: it is used when its check has ended",
    "cannot read the artifacts": "mount the same folder, or give the same credentials, as LANISTA_ARTIFACTS asks for",
    "could not read the artifact": "mount the same folder, or give the same credentials, as LANISTA_ARTIFACTS asks for",
    "has Lanista": "install the same release on all hosts; docs/guides/temporal.md, Rolling upgrades",
    "lacks the label": "start its Ray node with `ray start --labels`, or change LANISTA_RAY_LABELS",
    "cannot run": "install Lanista there, in the Python that Ray runs in; Ray's log on that host says more",
    "runs no task": "check Ray's log on that host, and whether its memory or disk is full",
    "its store worker": "see that process's log on that host",
    "its train worker": "see that process's log on that host",
}
EXPECTED = ("is draining", "is checked before", "lacks the label")
"""States that somebody asked for, or that pass: said, but not wrong."""


async def examine_hosts(temporal: Client, postgres: Skew) -> list[Finding]:
    """A finding for each host, and for each connection that could not be made."""
    status = ClusterStatus(temporal, wait=PATIENCE_SECONDS)
    queues = await status.task_queues()
    ray = await status.ray_seen()
    hosts = describe_hosts(
        now=datetime.now(UTC),
        api_host=socket.gethostname(),
        release=version("lanista"),
        workers=[] if queues.value is None else queues.value.workers,
        ray=ray.value,
        postgres=postgres,
    )
    findings = host_findings(hosts, describe_unreached(ray.value))
    if ray.value is None:
        findings.append(Finding("hosts", False, f"those of Ray are not known: {ray.reason}", "lanista worker train"))
    return findings


def host_findings(hosts: Sequence[HostShown], unreached: Sequence[UnreachedShown]) -> list[Finding]:
    """Hosts that are well first, then what is wrong."""
    well = [host for host in hosts if not host.problems and host.left_at is None]
    findings = [Finding(f"host {host.host}", True, _facts(host)) for host in well[:MOST_WELL]]
    if len(well) > MOST_WELL:
        findings.append(Finding("hosts", True, f"{len(well) - MOST_WELL} more are well"))
    for host in hosts:
        if host.left_at is not None:
            detail = f"left, last seen {host.left_at:%H:%M:%S} UTC; was {', '.join(host.roles)}"
            findings.append(Finding(f"host {host.host}", True, detail))
            continue
        findings += [
            Finding(f"host {host.host}", problem.startswith(EXPECTED), problem, _mend(problem))
            for problem in host.problems
        ]
    findings += [
        Finding(
            f"host {each.source}",
            False,
            f"cannot reach {each.target}: {each.problem}",
            "open the ports of docs/guides/cluster.md, Ports, between these hosts; check routes and firewalls",
        )
        for each in unreached
    ]
    return findings


def _facts(host: HostShown) -> str:
    parts = [", ".join(host.roles), f"Lanista {', '.join(host.versions) or 'not known'}"]
    if host.clock_ahead_seconds is not None:
        side = "ahead of" if host.clock_ahead_seconds >= 0 else "behind"
        within = f" (±{host.clock_within_seconds:.2f} s)" if host.clock_within_seconds else ""
        parts.append(f"clock {abs(host.clock_ahead_seconds):.2f} s {side} Postgres'{within}")
    return "; ".join(parts)


def _mend(problem: str) -> str:
    return next((mend for start, mend in MENDS.items() if problem.startswith(start)), "see that host's logs")
