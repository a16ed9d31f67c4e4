"""Payoff: closed form against single updates, both directions, seats, intervals."""

from __future__ import annotations

import math

import pytest
from hypothesis import given
from hypothesis import strategies as st

from league.errors import InvalidInput
from league.payoff import Cell, Payoff, Returns, decay_of_memory, decayed, effective_games, pairwise_by_order, wilson
from league.types import Earned

counts = st.integers(0, 10**12)
decays = st.floats(0.01, 1.0)


def test_win_rate_is_half_until_enough_raw_games() -> None:
    payoff = Payoff(decay=0.5, min_games=8)
    payoff.update("a", "b", 7, 0, 0)
    assert payoff.win_rate("a", "b") == 0.5
    assert payoff.interval("a", "b") == (0.0, 1.0)
    payoff.update("a", "b", 1, 0, 0)
    # the decayed count never exceeds 2 here, so a gate on it would never open
    assert payoff.win_rate("a", "b") == 1.0
    assert payoff.raw_games("a", "b") == 8


def test_single_updates_by_hand() -> None:
    payoff = Payoff(decay=0.9, min_games=1)
    payoff.update("a", "b", 1, 0, 0)
    payoff.update("a", "b", 0, 1, 0)
    payoff.update("a", "b", 0, 0, 1)
    wins, draws, losses = 0.81, 0.9, 1.0
    assert payoff.win_rate("a", "b") == pytest.approx((wins + draws / 2) / (wins + draws + losses))


def test_as_many_wins_as_losses_are_exactly_one_half() -> None:
    payoff = Payoff()
    payoff.update("a", "b", 20, 1, 20)
    assert payoff.win_rate("a", "b") == payoff.win_rate("b", "a") == 0.5


@given(st.lists(st.tuples(counts, counts, counts, st.integers(0, 3), st.integers(0, 3)), max_size=6), decays)
def test_names_and_sides_change_not_one_bit(batches: list[tuple[int, ...]], decay: float) -> None:
    named, swapped = Payoff(decay), Payoff(decay)
    for wins, draws, losses, seat, other in batches:
        named.update("a", "b", wins, draws, losses, seat=seat, opponent_seat=other)
        swapped.update("a", "b", losses, draws, wins, seat=other, opponent_seat=seat)
    assert named.win_rate("a", "b") == swapped.win_rate("b", "a")
    assert named.win_rate("b", "a") == swapped.win_rate("a", "b")


@given(first=counts, second=counts, decay=decays)
def test_returns_decay_like_results(first: int, second: int, decay: float) -> None:
    """Where every game is won by 1, returns and wins are the same number."""
    cell = Cell()
    for wins in (first, second):
        cell = decayed(cell, wins, 0, 0, decay, Earned(float(wins), -float(wins)))
    earned = cell.earned or Earned()
    assert (earned.own, earned.other) == (cell.wins, -cell.wins)
    assert cell.mirrored().mirrored() == cell


def test_the_margin_is_the_mean_over_seats_and_antisymmetric() -> None:
    payoff = Payoff(decay=1, min_games=8)
    payoff.update("a", "b", 30, 0, 0, seat=0, earned=Earned(60.0, -60.0))
    payoff.update("a", "b", 0, 0, 10, seat=1, earned=Earned(-10.0, 10.0))
    assert payoff.return_margin("a", "b") == pytest.approx((2 - 1) / 2)
    assert payoff.return_margins("b", ["a", "b", "c"]).tolist() == pytest.approx([-0.5, 0.0, 0.0])


def test_the_margin_of_a_game_that_is_not_zero_sum_is_half_the_difference() -> None:
    payoff = Payoff(decay=1, min_games=1)
    payoff.update("a", "b", 1, 0, 0, earned=Earned(5.0, 2.0))
    assert (payoff.return_margin("a", "b"), payoff.return_margin("b", "a")) == (1.5, -1.5)


def test_a_cell_with_games_of_unknown_returns_has_no_margin() -> None:
    payoff = Payoff(decay=0.9, min_games=1)
    payoff.update("a", "b", 1, 0, 0, earned=Earned(1.0, -1.0))
    payoff.update("a", "b", 1, 0, 0)
    payoff.update("a", "b", 1, 0, 0, earned=Earned(1.0, -1.0))
    assert math.isnan(payoff.return_margin("a", "b"))
    assert payoff.win_rate("a", "b") == 1.0


@given(n=st.integers(1, 300), decay=decays, which=st.sampled_from([0, 1, 2]), start=st.tuples(*[st.integers(0, 9)] * 3))
def test_a_uniform_batch_equals_single_updates(n: int, decay: float, which: int, start: tuple[int, int, int]) -> None:
    one = [int(i == which) for i in range(3)]
    singles = batch = decayed(Cell(), *start, decay)
    for _ in range(n):
        singles = decayed(singles, *one, decay)
    batch = decayed(batch, *(n * each for each in one), decay)
    assert batch.games == singles.games
    for name in ("wins", "draws", "losses"):
        assert getattr(batch, name) == pytest.approx(getattr(singles, name), rel=1e-9, abs=1e-12)


@given(counts, counts, counts, decays)
def test_a_mixed_batch_is_the_stated_closed_form(wins: int, draws: int, losses: int, decay: float) -> None:
    n = wins + draws + losses
    cell = decayed(Cell(3.0, 2.0, 1.0, 6), wins, draws, losses, decay)
    kept = decay**n
    new = n if decay == 1 else (1 - kept) / (1 - decay)
    share = wins / n if n else 0
    assert cell.wins == pytest.approx(3 * kept + share * new, rel=1e-6)
    assert cell.weight <= max(6, 1 / (1 - decay) if decay < 1 else math.inf, n + 6) * (1 + 1e-9)


@given(st.lists(st.tuples(st.integers(0, 10**6), st.integers(0, 10**6), st.integers(0, 10**6)), max_size=6), decays)
def test_both_directions_mirror_and_stay_finite(batches: list[tuple[int, int, int]], decay: float) -> None:
    payoff = Payoff(decay=decay)
    for wins, draws, losses in batches:
        payoff.update("a", "b", wins, draws, losses)
    rate = payoff.win_rate("a", "b")
    low, high = payoff.interval("a", "b")
    assert 0 <= low <= rate + 1e-12 and rate - 1e-12 <= high <= 1
    assert rate + payoff.win_rate("b", "a") == pytest.approx(1)
    other_low, other_high = payoff.interval("b", "a")
    assert (other_low, other_high) == (pytest.approx(1 - high), pytest.approx(1 - low))
    assert payoff.raw_games("b", "a") == sum(map(sum, batches))


def test_players_are_pairs_not_joined_strings() -> None:
    payoff = Payoff(min_games=1)
    payoff.update("a-b", "c", 5, 0, 0)
    assert payoff.win_rate("a", "b-c") == 0.5


def test_the_headline_is_the_mean_over_seats() -> None:
    payoff = Payoff(decay=1, min_games=8)
    payoff.update("a", "b", 90, 0, 10, seat=0)
    payoff.update("a", "b", 1, 0, 9, seat=1)
    assert payoff.win_rate("a", "b") == pytest.approx((0.9 + 0.1) / 2)
    assert payoff.seat_win_rate("a", "b", 0) == pytest.approx(0.9)
    assert payoff.seat_win_rate("b", "a", 0) == pytest.approx(0.9)
    low, high = payoff.interval("a", "b")
    assert (low, high) == pytest.approx(wilson(0.5, 4 / (1 / 100 + 1 / 10)))


def test_effective_games_is_the_formula_and_its_limit() -> None:
    assert effective_games(5, 1.0) == 5
    weights = [0.99**k for k in range(50)]
    assert effective_games(50, 0.99) == pytest.approx(sum(weights) ** 2 / sum(w * w for w in weights))
    assert effective_games(10**9, 0.99) == pytest.approx(199)


def test_a_trial_memory_is_a_decay() -> None:
    assert decay_of_memory(20_000) == 1 - 1 / 20_000
    with pytest.raises(InvalidInput, match="more than 1"):
        decay_of_memory(1)


def test_self_play_is_refused() -> None:
    with pytest.raises(InvalidInput, match="self-play"):
        Payoff().update("a", "a", 1, 0, 0)


@pytest.mark.parametrize("bad", [-1, math.nan, math.inf, 1.5, "3", None, 2**64])
def test_counts_that_are_none_are_refused(bad: object) -> None:
    with pytest.raises(InvalidInput, match="wins"):
        Payoff().update("a", "b", bad, 0, 0)  # type: ignore[arg-type]


@pytest.mark.parametrize("bad", [0, -0.1, 1.01, math.nan])
def test_decays_outside_the_range_are_refused(bad: float) -> None:
    with pytest.raises(InvalidInput, match="decay"):
        Payoff(decay=bad)


def test_entries_load_back_to_the_same_payoff() -> None:
    payoff = Payoff(decay=0.95, min_games=2)
    payoff.update("a", "b", 5, 1, 2, seat=0)
    payoff.update("b", "a", 3, 1, 2, seat=0)
    payoff.update("c", "a", 3, 0, 0)
    one_direction = [entry for entry in payoff.entries() if entry.player < entry.opponent]
    loaded = Payoff.from_entries(one_direction, decay=0.95, min_games=2)
    assert sorted(map(repr, loaded.entries())) == sorted(map(repr, payoff.entries()))
    assert (loaded.matrix(["a", "b", "c"]) == payoff.matrix(["a", "b", "c"])).all()


def test_a_snapshot_inherits_only_when_asked() -> None:
    payoff = Payoff(min_games=1)
    payoff.update("main", "x", 9, 0, 1)
    assert not payoff.known("main-1", "x")
    payoff.inherit("main-1", "main")
    assert payoff.win_rate("x", "main-1") == payoff.win_rate("x", "main")
    assert not payoff.known("main-1", "main")


def test_three_seats_become_pairs_by_final_order() -> None:
    results = pairwise_by_order(["a", "b", "a"], [1, 1, 3])
    assert [(r.player, r.opponent, r.seat, r.wins, r.draws, r.losses) for r in results] == [
        ("a", "b", 0, 0, 1, 0),
        ("b", "a", 1, 1, 0, 0),
    ]


@given(st.lists(st.floats(-1e6, 1e6), min_size=2, max_size=40), st.integers(0, 40))
def test_returns_merge_like_one_sample(values: list[float], cut: int) -> None:
    merged = Returns().plus(values[:cut]).plus(values[cut:])
    mean = math.fsum(values) / len(values)
    assert merged.games == len(values)
    assert merged.mean == pytest.approx(mean, abs=1e-6)
    assert merged.deviations == pytest.approx(math.fsum((v - mean) ** 2 for v in values), rel=1e-6, abs=1e-3)
    low, high = merged.interval()
    assert low <= merged.mean <= high
