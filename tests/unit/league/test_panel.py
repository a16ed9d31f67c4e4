"""The panel of a gate: pairs of the same games, compared; one rejection fails a candidate."""

from __future__ import annotations

import pytest

from league.errors import InvalidInput
from league.gates import MemberStatus, MemberVerdict, Sprt, compare_games, judge_member, member_test, share_pairs
from league.lifecycle import KEEP, PROMOTE, PanelMember, decide_by_panel, decide_promotion
from league.types import VersionId

TEST = Sprt(elo0=0, elo1=100, alpha=0.05, beta=0.05, max_pairs=500)


def test_pairs_are_counted_by_who_did_better_in_the_same_game() -> None:
    candidate = {(0, 0): 1.0, (0, 1): 1.0, (1, 0): 0.5, (1, 1): 0.0, (2, 0): 0.0, (2, 1): 0.0}
    champion = {(0, 0): 0.0, (0, 1): 0.5, (1, 0): 0.5, (1, 1): 0.0, (2, 0): 1.0, (2, 1): 0.0}
    assert compare_games(candidate, champion) == (0, 1, 1, 0, 1)
    with pytest.raises(InvalidInput, match="the same games"):
        compare_games(candidate, {(0, 0): 1.0})


def test_alpha_is_divided_among_the_members() -> None:
    assert member_test(TEST, 4).alpha == pytest.approx(0.0125)
    assert member_test(TEST, 4).bounds[1] > TEST.bounds[1]
    with pytest.raises(InvalidInput, match="at least one member"):
        member_test(TEST, 0)


@pytest.mark.parametrize(
    ("counts", "status"),
    [
        ((0, 0, 0, 0, 0), MemberStatus.RUNNING),
        ((20, 30, 10, 2, 0), MemberStatus.WORSE),
        ((0, 2, 10, 30, 20), MemberStatus.NOT_WORSE),
        ((0, 0, 64, 0, 0), MemberStatus.NOT_WORSE),
        ((0, 90, 330, 80, 0), MemberStatus.NOT_WORSE),
    ],
)
def test_a_member_says_whether_the_candidate_is_worse(counts: tuple[int, ...], status: MemberStatus) -> None:
    assert judge_member(member_test(TEST, 3), counts).status is status


def test_all_pairs_without_a_verdict_are_no_rejection() -> None:
    short = Sprt(elo0=0, elo1=5, max_pairs=10)
    assert judge_member(short, (2, 2, 2, 2, 2)).status is MemberStatus.UNDECIDED


def test_a_mixture_shares_the_pairs_of_a_round() -> None:
    assert share_pairs({"a": 0.5, "b": 0.3, "c": 0.2, "d": 0.0}, 32) == {"a": 16, "b": 10, "c": 6}
    assert sum(share_pairs({str(number): 1.0 for number in range(7)}, 32).values()) == 32
    assert share_pairs({"a": 1.0, "b": 1e-6}, 4) == {"a": 4}
    with pytest.raises(InvalidInput):
        share_pairs({}, 4)


def member(name: str, status: MemberStatus) -> PanelMember:
    verdict = MemberVerdict(status=status, llr=3.5, lower=-3.0, upper=3.4)
    return PanelMember(name=name, verdict=verdict, counts=(1, 0, 0, 0, 0))


def test_one_rejection_fails_the_gate_and_is_named() -> None:
    passed = decide_promotion(candidate=VersionId("c"), champion=VersionId("h"), verdict=TEST.judge((0, 0, 0, 10, 40)))
    fine, worse = member("main-1", MemberStatus.UNDECIDED), member("main-2", MemberStatus.WORSE)
    assert passed.verdict == PROMOTE
    kept = decide_by_panel(passed, [fine, worse])
    assert kept.verdict == KEEP and kept.evidence["failed_against"] == "main-2"
    assert "worse than the champion against main-2 of the panel, LLR 3.50 reached 3.40" in kept.reason
    promoted = decide_by_panel(passed, [fine])
    assert promoted.verdict == PROMOTE and promoted.reason.endswith("against main-1")
    assert [each["name"] for each in promoted.evidence["panel"]] == ["main-1"]
