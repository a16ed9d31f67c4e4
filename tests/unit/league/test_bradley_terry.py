"""Bradley-Terry: against choix, invariances, separable results, and the coverage of its intervals."""

from __future__ import annotations

import math
import random

import choix
import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from league.errors import InvalidInput, UnknownPlayer
from league.ratings import Ratings, bradley_terry
from league.ratings.fitted_ratings import ELO_PER_NAT

Tallies = dict[tuple[str, str], tuple[int, int, int]]


@st.composite
def leagues(draw: st.DrawFn, most: int = 10**15) -> tuple[list[str], Tallies]:
    count = st.one_of(st.integers(0, 20), st.sampled_from([0, 1, 10**4, most // 1000, most]))
    names = [f"p{i}" for i in range(draw(st.integers(0, 6)))]
    pairs = [(a, b) for a in names for b in names if a != b]
    chosen = draw(st.lists(st.sampled_from(pairs), unique=True, max_size=12)) if pairs else []
    return names, {pair: draw(st.tuples(count, count, count)) for pair in chosen}


def values(ratings: Ratings, names: list[str]) -> list[tuple[float, float, float]]:
    return [ratings.difference(a, b) for a in names for b in names]


@settings(max_examples=150)
@given(leagues())
def test_everything_is_finite_and_consistent(league: tuple[list[str], Tallies]) -> None:
    names, tallies = league
    ratings = bradley_terry(names, tallies)
    for elo, low, high in values(ratings, names):
        assert math.isfinite(elo) and math.isfinite(low) and math.isfinite(high)
        assert low <= elo <= high
    if names:
        assert ratings.elo(names[0]) == 0
    assert sum(ratings.games) == 2 * sum(map(sum, tallies.values())) or max(ratings.games) > 2**53


@given(leagues(), st.randoms(use_true_random=False))
def test_the_order_and_side_of_games_changes_not_one_bit(league: tuple[list[str], Tallies], rng: random.Random) -> None:
    names, tallies = league
    items = list(tallies.items())
    rng.shuffle(items)
    turned: Tallies = {}
    for (a, b), (wins, draws, losses) in items:
        if (b, a) not in tallies and rng.random() < 0.5:
            turned[b, a] = (losses, draws, wins)
        else:
            turned[a, b] = (wins, draws, losses)
    assert values(bradley_terry(names, turned), names) == values(bradley_terry(names, tallies), names)


@given(leagues(most=10**7), st.randoms(use_true_random=False))
def test_names_and_anchor_do_not_matter(league: tuple[list[str], Tallies], rng: random.Random) -> None:
    names, tallies = league
    fresh = [f"q{i}" for i in range(len(names))]
    rng.shuffle(fresh)
    rename = dict(zip(names, fresh, strict=True))
    original = bradley_terry(names, tallies)
    anchor = rename[names[-1]] if names else None
    renamed = bradley_terry(fresh, {(rename[a], rename[b]): t for (a, b), t in tallies.items()}, anchor=anchor)
    for before, after in zip(values(original, names), values(renamed, fresh), strict=True):
        assert after == pytest.approx(before, rel=1e-6, abs=1e-4)
    assert {rename[name] for name in original.separable} == renamed.separable
    assert original.components == renamed.components


def test_the_interval_of_a_tight_pair_survives_a_light_bridge() -> None:
    """10 million games leave nothing open between two players, however little ties both to the others."""
    heavy: Tallies = {("a", "b"): (10**7, 18, 10**7)}
    bridged: Tallies = {**heavy, ("c", "a"): (0, 1, 10**4), ("c", "d"): (0, 10**4, 1), ("c", "e"): (1, 0, 18)}
    _, low, high = bradley_terry("ab", heavy).difference("a", "b")
    for names in ("abcde", "ecdba"):
        rename = dict(zip("abcde", names, strict=True))
        tallies = {(rename[a], rename[b]): tally for (a, b), tally in bridged.items()}
        found = bradley_terry(names, tallies).difference(rename["a"], rename["b"])
        assert found[1:] == pytest.approx((low, high), rel=1e-6)


def simulate(rng: np.random.Generator, theta: np.ndarray, games: int, draw_rate: float, sparse: float = 1.0) -> Tallies:
    tallies: Tallies = {}
    for i in range(len(theta)):
        for j in range(i + 1, len(theta)):
            if j == i + 1 or rng.random() < sparse:
                score = 1 / (1 + math.exp(theta[j] - theta[i]))
                draws = draw_rate * 2 * min(score, 1 - score)
                drawn = rng.multinomial(games, [score - draws / 2, draws, 1 - score - draws / 2])
                tallies[f"p{i}", f"p{j}"] = tuple(int(c) for c in drawn)  # type: ignore[assignment]
    return tallies


def test_agrees_with_choix() -> None:
    rng = np.random.default_rng(5)
    theta = rng.normal(0, 1, 12)
    tallies = simulate(rng, theta, 20, 0.3)
    ratings = bradley_terry([f"p{i}" for i in range(12)], tallies)
    data = []
    for (a, b), (wins, draws, losses) in tallies.items():
        i, j = int(a[1:]), int(b[1:])
        data += [(i, j)] * (2 * wins + draws) + [(j, i)] * (2 * losses + draws)  # a draw is a win each way
    expected = choix.opt_pairwise(12, data, tol=1e-12)
    assert ratings.theta == pytest.approx(expected - expected[0], abs=1e-5)


def test_two_players_have_the_closed_form() -> None:
    ratings = bradley_terry(["a", "b"], {("a", "b"): (60, 20, 20)})
    theta = math.log(0.7 / 0.3)
    variance = (60 * 0.3**2 + 20 * 0.2**2 + 20 * 0.7**2) / (100 * 0.7 * 0.3) ** 2
    elo, low, high = ratings.difference("a", "b")
    assert elo == pytest.approx(theta * ELO_PER_NAT)
    assert high - elo == pytest.approx(1.959964 * math.sqrt(variance) * ELO_PER_NAT)
    assert elo - low == pytest.approx(high - elo)
    assert ratings.expected_score("a", "b") == pytest.approx(0.7)
    assert ratings.separable == frozenset() and ratings.comparable("a", "b")


def test_the_covariance_is_the_sandwich_without_the_anchor() -> None:
    rng = np.random.default_rng(2)
    theta = rng.normal(0, 0.7, 6)
    tallies = simulate(rng, theta, 50, 0.5)
    names = [f"p{i}" for i in range(6)]
    ratings = bradley_terry(names, tallies, anchor="p2")
    hessian, scores = np.zeros((6, 6)), np.zeros((6, 6))
    for (a, b), (wins, draws, losses) in tallies.items():
        i, j = int(a[1:]), int(b[1:])
        p = ratings.expected_score(a, b)
        d = np.zeros(6)
        d[i], d[j] = 1, -1
        hessian += (wins + draws + losses) * p * (1 - p) * np.outer(d, d)
        scores += (wins * (1 - p) ** 2 + draws * (0.5 - p) ** 2 + losses * p**2) * np.outer(d, d)
    keep = [0, 1, 3, 4, 5]
    inverse = np.linalg.inv(hessian[np.ix_(keep, keep)])
    expected = inverse @ scores[np.ix_(keep, keep)] @ inverse
    assert ratings.covariance[np.ix_(keep, keep)] == pytest.approx(expected, rel=1e-6)
    assert (ratings.covariance[2] == 0).all()


def test_only_separable_players_feel_the_prior_and_are_marked() -> None:
    inside = {("a", "b"): (6, 2, 4), ("b", "c"): (5, 1, 5), ("a", "c"): (7, 0, 3)}
    plain = bradley_terry(["a", "b", "c"], inside)
    ratings = bradley_terry(
        ["a", "b", "c", "top", "alone"], {**inside, ("top", "a"): (9, 0, 0), ("top", "c"): (4, 0, 0)}
    )
    for pair in (("a", "b"), ("b", "c")):
        assert ratings.difference(*pair) == pytest.approx(plain.difference(*pair))
    assert ratings.separable == {"top", "alone"}
    assert not ratings.comparable("top", "a") and ratings.comparable("a", "c")
    elo, low, high = ratings.difference("top", "a")
    assert 200 < elo < 1500 and high - low > 500
    assert ratings.elo("alone") == pytest.approx(np.mean([ratings.elo(n) for n in ("a", "b", "c")]), abs=800)


def test_more_wins_separate_more() -> None:
    gaps = [bradley_terry("ab", {("a", "b"): (n, 0, 0)}).difference("a", "b")[0] for n in (1, 10, 100, 10**6)]
    assert gaps == sorted(gaps) and gaps[0] > 50 and gaps[-1] < 4000


def test_draws_only_do_not_claim_certainty() -> None:
    _, low, high = bradley_terry("ab", {("a", "b"): (0, 10, 0)}).difference("a", "b")
    assert high - low > 100


@pytest.mark.parametrize("huge", [10**18, 2**63 - 1])
def test_huge_counts(huge: int) -> None:
    ratings = bradley_terry("abc", {("a", "b"): (huge, 0, huge), ("b", "c"): (1, 0, 1)})
    assert ratings.difference("a", "b") == pytest.approx((0, 0, 0), abs=1e-3)
    alone = bradley_terry("bc", {("b", "c"): (1, 0, 1)})
    assert ratings.difference("b", "c") == pytest.approx(alone.difference("b", "c"))


def test_one_player_and_none() -> None:
    assert bradley_terry(["a"], {}).elo("a") == 0
    assert bradley_terry([], {}).names == ()


@pytest.mark.parametrize("bad", [(math.nan, 0, 0), (1, -1, 0), (1, 0), (0.5, 0, 0), (math.inf, 0, 0), 3, (2**70, 0, 0)])
def test_bad_tallies_are_refused(bad: object) -> None:
    with pytest.raises(InvalidInput):
        bradley_terry(["a", "b"], {("a", "b"): bad})  # type: ignore[dict-item]


def test_strangers_doubles_and_self_games_are_refused() -> None:
    with pytest.raises(UnknownPlayer, match="'x'"):
        bradley_terry(["a", "b"], {("a", "x"): (1, 0, 0)})
    with pytest.raises(UnknownPlayer):
        bradley_terry(["a", "b"], {}, anchor="x")
    with pytest.raises(UnknownPlayer):
        bradley_terry(["a", "b"], {}).elo("x")
    with pytest.raises(InvalidInput, match="twice"):
        bradley_terry(["a", "a"], {})
    with pytest.raises(InvalidInput, match="itself"):
        bradley_terry(["a", "b"], {("a", "a"): (1, 0, 0)})


@pytest.mark.parametrize(
    ("players", "games", "draw_rate", "sparse"),
    [(8, 20, 0.0, 1.0), (8, 20, 0.6, 1.0), (12, 12, 0.3, 0.3)],
    ids=["decisive", "drawish", "sparse"],
)
def test_95_percent_intervals_cover_95_percent_in_400_leagues(
    players: int, games: int, draw_rate: float, sparse: float
) -> None:
    rng = np.random.default_rng(11)
    names = [f"p{i}" for i in range(players)]
    inside = total = 0
    for _ in range(400):
        theta = rng.normal(0, 0.8, players)
        ratings = bradley_terry(names, simulate(rng, theta, games, draw_rate, sparse))
        for i in range(players):
            for j in range(i + 1, players):
                _, low, high = ratings.difference(names[i], names[j])
                inside += low <= (theta[i] - theta[j]) * ELO_PER_NAT <= high
                total += 1
    assert 0.93 <= inside / total <= 0.97
