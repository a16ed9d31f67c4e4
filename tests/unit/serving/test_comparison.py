"""Sessions of two versions are compared one with one, each used once; equal versions win as often as they lose."""

from __future__ import annotations

import random

from league.gates import Sprt, SprtStatus
from workers.serving.comparison import WAITING, Arm, Comparison


def test_each_session_is_used_once_in_the_order_of_ends() -> None:
    compared = Comparison("one", "two")
    for value in (1.0, 0.0):
        compared.add(Arm.CHAMPION, value)
    compared.add(Arm.CANARY, 0.5)
    assert compared.counts == [1, 0, 0]
    compared.add(Arm.CANARY, 0.0)
    assert compared.counts == [1, 1, 0]
    compared.add(Arm.CANARY, 3.0)
    assert compared.counts == [1, 1, 0], "it waits for a session of the champion"
    compared.add(Arm.CHAMPION, 2.0)
    assert compared.counts == [1, 1, 1]


def test_a_report_holds_what_came_since_the_last_and_its_own_id() -> None:
    compared = Comparison("one", "two")
    compared.add(Arm.CHAMPION, 1.5)
    first = compared.take()
    compared.add(Arm.CANARY, 2.0)
    second = compared.take()
    assert first is not None and second is not None and first.report_id != second.report_id
    assert (first.champion_sessions, first.champion_returns, first.wins) == (1, 1.5, 0)
    assert (second.champion_sessions, second.canary_sessions, second.wins) == (0, 1, 1)
    assert compared.take() is None


def test_what_waits_does_not_grow() -> None:
    compared = Comparison("one", "two")
    for _ in range(3 * WAITING):
        compared.add(Arm.CHAMPION, 1.0)
    for _ in range(3 * WAITING):
        compared.add(Arm.CANARY, 1.0)
    assert compared.counts == [0, WAITING, 0]


def judged(chance: float, seed: int) -> SprtStatus:
    """The test's verdict on a canary that wins its sessions with this chance, and the champion with one half."""
    rng = random.Random(seed)
    compared = Comparison("one", "two")
    test = Sprt(elo0=0, elo1=70)
    while (status := test.judge(compared.counts).status) is SprtStatus.RUNNING:
        for _ in range(20):
            arm = Arm.CANARY if rng.random() < 0.3 else Arm.CHAMPION
            compared.add(arm, float(rng.random() < (chance if arm is Arm.CANARY else 0.5)))
    return status


def test_the_leagues_test_passes_a_better_canary_and_fails_an_equal_one() -> None:
    better = [judged(0.8, seed) for seed in range(12)]
    equal = [judged(0.5, seed) for seed in range(12)]
    assert better.count(SprtStatus.PASSED) == 12
    assert equal.count(SprtStatus.PASSED) <= 2
