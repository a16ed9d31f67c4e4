"""Snapshot, reset and promotion: each verdict, its reason and its evidence."""

from __future__ import annotations

import json
from dataclasses import replace

import pytest

from league.errors import InvalidInput
from league.gates import Sprt
from league.lifecycle import ResetRule, SnapshotRule, decide_promotion, decide_reset, decide_snapshot
from league.matchmaking import Member
from league.payoff import Payoff
from league.types import Decision, DecisionKind, Role

ROSTER = [
    Member(id="main", role=Role.MAIN),
    Member(id="me", role=Role.MAIN_EXPLOITER),
    Member(id="le", role=Role.LEAGUE_EXPLOITER),
    Member(id="m1", role=Role.HISTORICAL, parent="main", created=1),
    Member(id="m2", role=Role.HISTORICAL, parent="main", created=2),
]
RULE = SnapshotRule(min_steps=100, win_rate=0.7, max_steps=200)


def snapshot(payoff: Payoff, steps: int, learner: str = "main", roster: list[Member] | None = None) -> Decision:
    return decide_snapshot(RULE, learner=learner, roster=roster or ROSTER, payoff=payoff, steps_since_snapshot=steps)


def winning(learner: str, *opponents: str, wins: int = 95) -> Payoff:
    payoff = Payoff(decay=1)
    for opponent in opponents:
        payoff.update(learner, opponent, wins, 0, 100 - wins)
    return payoff


def test_a_main_is_frozen_when_it_surely_beats_all_of_the_past() -> None:
    decision = snapshot(winning("main", "m1", "m2"), 100)
    assert decision.kind == DecisionKind.SNAPSHOT and decision.verdict == "snapshot"
    assert decision.evidence["lower_bound"] > 0.7 and decision.evidence["hardest"] in ("m1", "m2")
    assert json.dumps(decision.evidence)


def test_not_before_min_steps_and_always_at_max_steps() -> None:
    assert snapshot(winning("main", "m1", "m2"), 99).verdict == "keep"
    assert snapshot(Payoff(), 199).verdict == "keep"
    assert snapshot(Payoff(), 200).verdict == "snapshot"


def test_the_lower_bound_counts_not_the_win_rate() -> None:
    few = Payoff(decay=1)
    for opponent in ("m1", "m2"):
        few.update("main", opponent, 8, 0, 2)  # 0.8, but as low as 0.49
    assert snapshot(few, 150).verdict == "keep"
    assert "may be as low as" in snapshot(few, 150).reason


def test_one_unknown_opponent_is_enough_to_wait() -> None:
    decision = snapshot(winning("main", "m1"), 150)
    assert decision.verdict == "keep" and decision.evidence["hardest"] == "m2"


def test_reasons_name_players_and_evidence_has_their_ids() -> None:
    named = [replace(member, name=f"the {member.id}") for member in ROSTER]
    decision = snapshot(winning("main", "m1"), 150, roster=named)
    assert decision.reason.startswith("against the m2 the win rate") and decision.evidence["hardest"] == "m2"
    rule = ResetRule(past_after_steps=0)
    again = decide_reset(rule, learner="me", roster=named, snapshot="v9", trial_steps=1, seed=0)
    assert again.reason.endswith(f"the past main the {again.evidence['target']}")


def test_an_empty_set_has_no_minimum() -> None:
    alone = [Member(id="main", role=Role.MAIN)]
    decision = snapshot(Payoff(), 150, roster=alone)
    assert decision.verdict == "keep" and decision.evidence["lower_bound"] is None


def test_a_main_exploiter_is_judged_by_the_mains() -> None:
    assert snapshot(winning("me", "main"), 150, learner="me").verdict == "snapshot"
    assert snapshot(winning("me", "m1", "m2"), 150, learner="me").verdict == "keep"
    assert snapshot(winning("le", "m1", "m2"), 150, learner="le").verdict == "snapshot"


def test_frozen_players_and_bad_rules_are_refused() -> None:
    with pytest.raises(InvalidInput, match="only players that learn"):
        snapshot(Payoff(), 150, learner="m1")
    with pytest.raises(InvalidInput, match="must not exceed"):
        SnapshotRule(min_steps=10, max_steps=5)
    with pytest.raises(InvalidInput, match="win_rate"):
        SnapshotRule(win_rate=70)


def reset(learner: str, seed: int = 0, steps: int = 0, rule: ResetRule | None = None) -> Decision:
    return decide_reset(
        rule or ResetRule(), learner=learner, roster=ROSTER, snapshot="v9", trial_steps=steps, seed=seed
    )


def test_resets_by_role() -> None:
    assert all(reset("main", seed).verdict == "keep" for seed in range(50))
    assert all(reset("me", seed).verdict == "reset" for seed in range(50))
    share = sum(reset("le", seed).verdict == "reset" for seed in range(2000)) / 2000
    assert share == pytest.approx(0.25, abs=0.03)
    assert reset("le", 3) == reset("le", 3)


def test_snapshot_first_then_reset() -> None:
    with pytest.raises(InvalidInput, match="snapshot first"):
        decide_reset(ResetRule(), learner="me", roster=ROSTER, snapshot=None, trial_steps=0, seed=1)


def test_late_resets_go_to_a_mains_past() -> None:
    rule = ResetRule(past_after_steps=1000)
    assert reset("me", steps=999, rule=rule).evidence["target"] is None
    assert {reset("me", seed, 1000, rule).evidence["target"] for seed in range(30)} == {"m1", "m2"}


def test_the_first_champion_stands_unopposed() -> None:
    decision = decide_promotion(candidate="v1", champion=None, verdict=None)
    assert decision.verdict == "promote" and decision.evidence["unopposed"] is True


@pytest.mark.parametrize(
    ("counts", "stopped", "expected"),
    [
        ((0, 0, 5, 10, 30), False, "promote"),
        ((30, 10, 5, 0, 0), False, "keep"),
        ((0, 0, 5, 10, 30), True, "keep"),
        ((1, 12, 24, 12, 1), False, "keep"),
    ],
)
def test_only_a_passed_gate_promotes(counts: tuple[int, ...], stopped: bool, expected: str) -> None:
    verdict = Sprt(max_pairs=50).judge(counts, stopped_by_operator=stopped)
    decision = decide_promotion(candidate="v2", champion="v1", verdict=verdict)
    assert decision.verdict == expected
    assert decision.evidence["llr"] == verdict.llr and decision.evidence["status"] == verdict.status.value
    assert json.dumps(decision.evidence)


def test_no_promotion_without_a_finished_gate() -> None:
    with pytest.raises(InvalidInput, match="needs a gate"):
        decide_promotion(candidate="v2", champion="v1", verdict=None)
    with pytest.raises(InvalidInput, match="still running"):
        decide_promotion(candidate="v2", champion="v1", verdict=Sprt().judge((0, 0, 1, 0, 0)))
