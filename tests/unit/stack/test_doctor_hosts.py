"""What `lanista doctor` says of hosts: each fault in words, with what to do."""

from __future__ import annotations

from datetime import UTC, datetime

from api.schemas.installation.hosts import HostShown, UnreachedShown
from lanista.checks.hosts import MOST_WELL, host_findings


def host(name: str, *problems: str, left: bool = False) -> HostShown:
    return HostShown(
        host=name,
        addresses=["10.0.0.1"],
        roles=["ray node"],
        versions=["1.0"],
        clock_ahead_seconds=-0.25,
        clock_within_seconds=0.01,
        problems=list(problems),
        left_at=datetime(2030, 1, 1, 12, 30, tzinfo=UTC) if left else None,
    )


def test_a_host_that_is_well_tells_its_roles_release_and_clock() -> None:
    (finding,) = host_findings([host("a")], [])
    assert finding.ok and finding.part == "host a"
    assert finding.detail == "ray node; Lanista 1.0; clock 0.25 s behind Postgres' (±0.01 s)"


def test_every_problem_has_advice_and_what_is_intended_is_not_wrong() -> None:
    problems = ("its clock is 9.0 s ahead of Postgres'", "cannot be reached", "is draining")
    findings = host_findings([host("a", *problems)], [])
    assert [finding.detail for finding in findings] == list(problems)
    assert [finding.ok for finding in findings] == [False, False, True]
    assert "NTP" in findings[0].mend and all(finding.mend for finding in findings)


def test_connections_that_fail_and_hosts_that_left_are_lines_of_their_own() -> None:
    cut = UnreachedShown(source="a", target="b (10.0.0.2)", problem="no answer within 2 s")
    well, left, wrong = host_findings([host("a"), host("c", left=True)], [cut])
    assert well.ok and left.ok and "left, last seen 12:30:00 UTC; was ray node" in left.detail
    assert not wrong.ok and wrong.detail == "cannot reach b (10.0.0.2): no answer within 2 s" and "ports" in wrong.mend


def test_many_hosts_that_are_well_are_counted() -> None:
    findings = host_findings([host(f"h{number}") for number in range(MOST_WELL + 980)] + [host("bad", "is lost")], [])
    assert len(findings) == MOST_WELL + 2
    assert (findings[MOST_WELL].detail, findings[-1].part) == ("980 more are well", "host bad")
