"""Formats: complete, balanced, resumable from any prefix, and refused where the record does not fit."""

from __future__ import annotations

import math
from collections import Counter
from collections.abc import Mapping
from dataclasses import replace
from itertools import combinations
from typing import Any

import networkx
import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from league.errors import InvalidInput, UnknownPlayer
from league.tournaments import FORMATS, Pairing, Result, game_keys, next_pairings, ranked_by_place, standings
from league.tournaments.adaptive import mean_width, tallies_of
from league.tournaments.knockout import bracket, knockout_placings
from league.tournaments.matching import FREE, maximum_matching

OPTIONS: dict[str, dict[str, Any]] = {
    "round_robin": {"games": 2, "cycles": 2},
    "gauntlet": {"challengers": ["p0", "p1"]},
    "swiss": {"rounds": 4},
    "knockout": {"batches": 2},
    "adaptive": {"rounds": 3},
}


def names_of(count: int) -> list[str]:
    return [f"p{i}" for i in range(count)]


def outcome(pairing: Pairing, salt: int = 0) -> Result:
    """A result that depends on the pairing alone, so that any order of play gives the same."""
    if pairing.is_bye:
        return Result.of_bye(pairing)
    rng = np.random.default_rng([salt, *pairing.key, *pairing.first.encode(), *pairing.second.encode()])
    wins, draws, losses = (int(c) for c in rng.multinomial(pairing.games, [0.4, 0.3, 0.3]))
    return Result(pairing=pairing, wins=wins, draws=draws, losses=losses)


def play(name: str, names: list[str], options: Mapping[str, Any], salt: int = 0) -> list[Result]:
    results: list[Result] = []
    while left := next_pairings(name, names, results, options):
        results += [outcome(pairing, salt) for pairing in left]
    return results


@settings(max_examples=60, deadline=None)
@given(st.sampled_from(sorted(FORMATS)), st.integers(3, 9), st.randoms(use_true_random=False), st.integers(0, 99))
def test_any_interruption_leads_to_the_same_tournament(name: str, count: int, rng: Any, salt: int) -> None:
    names, options = names_of(count), OPTIONS[name]
    expected = {r.pairing.key: r for r in play(name, names, options, salt)}
    results: list[Result] = []
    while left := next_pairings(name, names, results, options):
        chosen = rng.sample(left, rng.randint(1, len(left)))
        results += [outcome(pairing, salt) for pairing in chosen]
        results += results[:1]  # delivered twice
        rng.shuffle(results)
    assert {r.pairing.key: r for r in results} == expected


@pytest.mark.parametrize("count", [2, 3, 8, 13])
def test_round_robin_meets_everyone_once_with_balanced_seats(count: int) -> None:
    results = play("round_robin", names_of(count), {"games": 1})
    met = Counter(frozenset((r.pairing.first, r.pairing.second)) for r in results)
    assert len(met) == count * (count - 1) // 2 and set(met.values()) == {1}
    firsts = Counter(r.pairing.first for r in results)
    played = Counter(n for r in results for n in (r.pairing.first, r.pairing.second))
    assert all(abs(2 * firsts[n] - played[n]) <= 1 for n in names_of(count))
    for number in {r.pairing.round for r in results}:
        in_round = [n for r in results if r.pairing.round == number for n in (r.pairing.first, r.pairing.second)]
        assert len(in_round) == len(set(in_round))


def test_gauntlet_pairs_challengers_with_the_field_only() -> None:
    results = play("gauntlet", names_of(6), {"challengers": ["p0", "p1"]})
    assert {frozenset((r.pairing.first, r.pairing.second)) for r in results} == {
        frozenset((a, b)) for a in ("p0", "p1") for b in ("p2", "p3", "p4", "p5")
    }
    with pytest.raises(InvalidInput, match="challenger"):
        next_pairings("gauntlet", names_of(3), [], {})
    with pytest.raises(UnknownPlayer):
        next_pairings("gauntlet", names_of(3), [], {"challengers": ["x"]})


def test_challengers_meet_each_other_where_they_are_to() -> None:
    options = {"challengers": ["p1", "p2", "p3"], "among_challengers": True}
    met = Counter(frozenset((r.pairing.first, r.pairing.second)) for r in play("gauntlet", names_of(5), options))
    everyone = {frozenset(pair) for pair in combinations(names_of(5), 2)}
    assert met == Counter(everyone - {frozenset(("p0", "p4"))})


@settings(max_examples=40, deadline=None)
@given(st.integers(2, 12), st.integers(1, 7), st.integers(0, 99))
def test_swiss_repeats_only_when_no_pairing_without_exists(count: int, rounds: int, salt: int) -> None:
    names = names_of(count)
    results = play("swiss", names, {"rounds": rounds, "games": 1}, salt)
    assert len({r.pairing.round for r in results}) == rounds
    met: set[frozenset[str]] = set()
    for number in range(rounds):
        now = [r.pairing for r in results if r.pairing.round == number]
        everyone = [n for p in now for n in (p.first, p.second)]
        assert sorted(everyone) == sorted(names + ([""] if count % 2 else []))
        pairs = {frozenset((p.first, p.second)) for p in now}
        if pairs & met:
            open_ = networkx.Graph()
            table = names + ([""] if count % 2 else [])
            open_.add_nodes_from(table)
            open_.add_edges_from(
                (a, b) for i, a in enumerate(table) for b in table[i + 1 :] if frozenset((a, b)) not in met
            )
            assert 2 * len(networkx.max_weight_matching(open_, maxcardinality=True)) < len(table)
        met |= pairs


def test_swiss_pairs_equals_and_gives_the_bye_to_the_last_who_had_none() -> None:
    names = names_of(5)
    first = next_pairings("swiss", names, [], {"rounds": 3})
    assert [p.first for p in first if p.is_bye] == ["p4"]
    assert [{p.first, p.second} for p in first if not p.is_bye] == [{"p0", "p2"}, {"p1", "p3"}]
    results = [Result.of_bye(p) if p.is_bye else Result(pairing=p, wins=2, draws=0, losses=0) for p in first]
    second = next_pairings("swiss", names, results, {"rounds": 3})
    byes = [p.first for p in second if p.is_bye]
    assert len(byes) == 1 and byes != ["p4"]
    assert {r.name: r.byes for r in standings(names, results)}["p4"] == 1


@pytest.mark.parametrize("count", [6, 9, 16])
def test_swiss_balances_first_seats(count: int) -> None:
    results = play("swiss", names_of(count), {"rounds": 5, "games": 1}, salt=3)
    firsts = Counter(r.pairing.first for r in results if not r.pairing.is_bye)
    assert max(firsts[n] for n in names_of(count)) - min(firsts[n] for n in names_of(count)) <= 2


@settings(max_examples=100)
@given(st.integers(1, 12), st.integers(0, 2**32 - 1), st.floats(0, 1))
def test_matching_is_maximum(count: int, seed: int, density: float) -> None:
    graph = networkx.gnp_random_graph(count, density, seed=seed)
    neighbours = [list(graph[node]) for node in range(count)]
    mates = maximum_matching(neighbours, [FREE] * count)
    assert all(mate == FREE or (mates[mate] == node and mate in graph[node]) for node, mate in enumerate(mates))
    assert sum(mate != FREE for mate in mates) == 2 * len(networkx.max_weight_matching(graph, maxcardinality=True))


def test_the_bracket_keeps_the_best_apart_and_gives_them_the_byes() -> None:
    assert bracket(8) == [0, 7, 3, 4, 1, 6, 2, 5]
    assert bracket(6) == [0, -1, 3, 4, 1, -1, 2, 5]


@pytest.mark.parametrize("count", [2, 3, 5, 8, 13])
def test_a_knockout_ends_with_one_winner_and_everyone_placed(count: int) -> None:
    names = names_of(count)
    results = play("knockout", names, {"batches": 2, "games": 2}, salt=5)
    places = knockout_placings(tuple(names), results, {"batches": 2, "games": 2})
    assert sorted(places) == sorted(names)
    assert list(places.values()).count(1) == 1 and list(places.values()).count(2) == 1


def test_the_beaten_finalist_is_second_whatever_the_points_say() -> None:
    names, options = names_of(8), {"batches": 1, "games": 10}
    wins = {(0, 0): 10, (0, 1): 6, (0, 2): 10, (0, 3): 6, (1, 0): 6, (1, 1): 6, (2, 0): 10}  # of the first seat
    results: list[Result] = []
    while left := next_pairings("knockout", names, results, options):
        for pairing in left:
            won = wins[pairing.round, pairing.index]
            results.append(Result(pairing=pairing, wins=won, draws=0, losses=10 - won))
    by_points = standings(names, results)
    assert [line.name for line in by_points].index("p3") == 3, "two semi-finalists have more points than it"
    table = ranked_by_place(by_points, knockout_placings(tuple(names), results, options))
    assert [(line.name, line.rank) for line in table[:4]] == [("p2", 1), ("p3", 2), ("p1", 3), ("p0", 3)]
    assert [line.rank for line in table[4:]] == [5, 5, 5, 5]


def test_entrants_that_are_still_in_share_the_first_place() -> None:
    names, options = names_of(4), {"batches": 1, "games": 2}
    (first, _) = next_pairings("knockout", names, [], options)
    results = [Result(pairing=first, wins=2, draws=0, losses=0)]
    table = ranked_by_place(standings(names, results), knockout_placings(tuple(names), results, options))
    assert [line.rank for line in table] == [1, 1, 1, 3] and table[-1].name == first.second


def test_ties_are_played_on_with_turned_seats_and_then_the_better_seed_goes_on() -> None:
    names, options = names_of(2), {"batches": 2, "games": 2}
    first = next_pairings("knockout", names, [], options)
    drawn = [Result(pairing=first[0], wins=1, draws=0, losses=1)]
    second = next_pairings("knockout", names, drawn, options)
    assert (second[0].first, second[0].second) == (first[0].second, first[0].first)
    drawn.append(Result(pairing=second[0], wins=0, draws=2, losses=0))
    assert next_pairings("knockout", names, drawn, options) == ()
    assert knockout_placings(tuple(names), drawn, options) == {"p0": 1, "p1": 2}


def strength_results(name: str, elos: np.ndarray, options: Mapping[str, Any], seed: int) -> list[Result]:
    rng = np.random.default_rng(seed)
    names = names_of(len(elos))
    results: list[Result] = []
    while left := next_pairings(name, names, results, options):
        for pairing in left:
            gap = elos[int(pairing.first[1:])] - elos[int(pairing.second[1:])]
            wins = int(rng.binomial(pairing.games, 1 / (1 + 10 ** (-gap / 400))))
            results.append(Result(pairing=pairing, wins=wins, draws=0, losses=pairing.games - wins))
    return results


def test_adaptive_needs_a_quarter_fewer_games_than_round_robin() -> None:
    elos = np.random.default_rng(4).permutation(np.linspace(0, 1500, 16))
    widths = [mean_width(names_of(16), strength_results("round_robin", elos, {"games": 20}, s)) for s in range(3)]
    target = float(np.mean(widths))
    options = {"rounds": 400, "target_width": target}
    used = [sum(r.pairing.games for r in strength_results("adaptive", elos, options, s)) for s in range(2)]
    assert np.mean(used) < 0.75 * 120 * 20


def test_adaptive_spends_games_where_the_outcome_is_open() -> None:
    elos = np.linspace(0, 1400, 8)
    results = strength_results("adaptive", elos, {"rounds": 40}, seed=2)
    gaps = [abs(int(r.pairing.first[1:]) - int(r.pairing.second[1:])) for r in results]
    assert np.mean(gaps) < 2.2  # a round robin's mean is 3
    assert math.isfinite(mean_width(names_of(8), results))


def test_games_are_keyed_and_swap_seats_within_a_pair() -> None:
    pairing = Pairing(round=1, index=2, first="a", second="b", games=4)
    keys = game_keys("spring", pairing, seed=7)
    assert [k.seats for k in keys] == [("a", "b"), ("b", "a")] * 2
    assert keys[0].seed == keys[1].seed != keys[2].seed
    assert len({(k.tournament, k.round, k.pair, k.game) for k in keys}) == 4
    assert game_keys("autumn", pairing, seed=7)[0].seed != keys[0].seed


def test_standings_by_hand() -> None:
    names = ["a", "b", "c"]
    pairings = next_pairings("round_robin", names, [], {"games": 2})
    scores = {("a", "b"): (2, 0, 0), ("b", "c"): (0, 2, 0), ("a", "c"): (0, 1, 1)}
    results = []
    for p in pairings:
        w, d, losses = scores.get((p.first, p.second)) or scores[p.second, p.first][::-1]
        results.append(Result(pairing=p, wins=w, draws=d, losses=losses))
    table = standings(names, results)
    # a and c have 2.5 points and Buchholz 3.5 each; Sonneborn-Berger parts them, 2.375 to 1.625
    assert [(s.rank, s.name, s.points) for s in table] == [(1, "c", 2.5), (2, "a", 2.5), (3, "b", 1.0)]
    assert sum(s.points for s in table) == 6
    assert {s.name: s.buchholz for s in table}["b"] == 5.0


def test_a_record_that_does_not_fit_is_refused() -> None:
    pairing = next_pairings("round_robin", ["a", "b"], [], {})[0]
    with pytest.raises(InvalidInput, match="recorded whole"):
        Result(pairing=pairing, wins=1, draws=0, losses=0)
    good = Result(pairing=pairing, wins=1, draws=0, losses=1)
    other = Result(pairing=pairing, wins=2, draws=0, losses=0)
    with pytest.raises(InvalidInput, match="two different results"):
        next_pairings("round_robin", ["a", "b"], [good, other], {})
    foreign = Result(pairing=Pairing(round=0, index=0, first="b", second="a", games=2), wins=1, draws=0, losses=1)
    with pytest.raises(InvalidInput, match="expected"):
        next_pairings("round_robin", ["b", "a", "c"], [foreign], {})
    with pytest.raises(UnknownPlayer):
        next_pairings("round_robin", ["a", "c"], [good], {})
    with pytest.raises(InvalidInput, match="not a bye"):
        Result.of_bye(pairing)


@pytest.mark.parametrize("names", [[], ["a"], ["a", "a"], ["a", ""]])
def test_bad_entrants_are_refused(names: list[str]) -> None:
    with pytest.raises(InvalidInput):
        next_pairings("round_robin", names)


def test_unknown_formats_and_options_are_refused_with_what_exists() -> None:
    with pytest.raises(InvalidInput, match="adaptive, gauntlet, knockout, round_robin, swiss"):
        next_pairings("ladder", ["a", "b"])
    for name in FORMATS:
        with pytest.raises(InvalidInput, match="option of"):
            next_pairings(name, ["a", "b"], [], {"gamez": 3})
        with pytest.raises(InvalidInput, match="games"):
            next_pairings(name, ["a", "b"], [], {"games": 0})


@pytest.mark.parametrize("name", sorted(FORMATS))
def test_a_withdrawal_hands_its_pairings_over_and_the_others_play_on(name: str) -> None:
    names, gone = names_of(6), "p2"
    results: list[Result] = []
    options = OPTIONS[name]
    while left := next_pairings(name, names, results, options):
        for pairing in left:
            others = {pairing.first, pairing.second} - {gone}
            walked = len(others) == 1 and not pairing.is_bye and pairing.round > 0
            results.append(Result.of_walkover(pairing, others.pop()) if walked else outcome(pairing))
        if name == "adaptive":
            options = {**options, "absent": [gone]}
    table = {line.name: line for line in standings(names, results)}
    played = [result for result in results if gone in (result.pairing.first, result.pairing.second)]
    assert table[gone].games == sum(result.pairing.games for result in played if result.was_played)
    for line in table.values():
        assert line.wins + line.draws + line.losses == line.games, "a walkover is points, and no game"
    walkovers = [result for result in results if result.walkover]
    assert tallies_of(walkovers) == {}
    assert sum(line.points for line in table.values()) == sum(result.pairing.games for result in results)
    if name == "adaptive":
        assert not walkovers, "who is absent is chosen no more"


def test_a_walkover_needs_an_opponent() -> None:
    pairing = Pairing(round=0, index=0, first="a", second="b", games=2)
    assert Result.of_walkover(pairing, "b").losses == 2
    with pytest.raises(InvalidInput, match="'c' has no opponent"):
        Result.of_walkover(pairing, "c")


def test_two_who_are_left_after_withdrawals_are_measured_until_they_are_told_apart() -> None:
    options = {"rounds": 40, "target_width": 400.0, "absent": ["p0"]}
    results: list[Result] = []
    while left := next_pairings("adaptive", names_of(3), results, options):
        results += [Result(pairing=pairing, wins=1, draws=0, losses=1) for pairing in left]
    assert {name for each in results for name in (each.pairing.first, each.pairing.second)} == {"p1", "p2"}
    assert mean_width(["p1", "p2"], results) <= 400.0
    assert next_pairings("adaptive", names_of(3), (), options | {"absent": ["p0", "p1"]}) == ()


def test_a_larger_table_may_bring_more_games_than_were_planned() -> None:
    (planned, *_), names = next_pairings("swiss", names_of(4)), names_of(4)
    larger = replace(planned, games=3)
    results = [Result(pairing=larger, wins=3, draws=0, losses=0)]
    assert planned not in next_pairings("swiss", names, results)
    assert standings(names, results)[0].points == 3
    with pytest.raises(InvalidInput, match="expected"):
        next_pairings("swiss", names, [replace(results[0], pairing=replace(larger, second=larger.first, first="p3"))])
