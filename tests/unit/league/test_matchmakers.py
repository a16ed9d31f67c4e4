"""The other matchmakers, drawing plans, and explaining them."""

from __future__ import annotations

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from league.errors import InvalidInput, UnknownPlayer
from league.matchmaking import (
    BUILT_INS,
    Member,
    Mixture,
    Request,
    draw_plan,
    explain,
    full_plan,
    joined_qualities,
    matchmaker,
    matchmaking_decision,
    mix,
    pfsp,
    qualities_after_wins,
    replay_qualities,
)
from league.matchmaking.explanation import BRANCHES
from league.matchmaking.meta_strategies import META_STRATEGIES
from league.payoff import Payoff
from league.types import Earned, Role

MAIN = Member(id="main", role=Role.MAIN)
PAST = [Member(id=f"m{i}", role=Role.HISTORICAL, parent="main", created=i) for i in range(3)]


def request(payoff: Payoff | None = None, roster: list[Member] | None = None, **more: object) -> Request:
    return Request(
        learner="main",
        roster=[MAIN, *PAST] if roster is None else roster,
        payoff=payoff or Payoff(),
        **more,  # type: ignore[arg-type]
    )


def chances(mixture: Mixture) -> dict[str, float]:
    return {o.player: o.probability for o in full_plan(mixture).opponents}


def test_fixed_keeps_the_given_shares_and_never_plays_itself() -> None:
    assert chances(mix("fixed", request())) == {f"m{i}": pytest.approx(1 / 3) for i in range(3)}
    mixture = mix("fixed", request(options={"shares": {"m0": 3.0, "m2": 1.0}}))
    assert chances(mixture) == {"m0": pytest.approx(0.75), "m2": pytest.approx(0.25)}
    with pytest.raises(InvalidInput, match="m9"):
        mix("fixed", request(options={"shares": {"m9": 1.0}}))


@pytest.mark.parametrize("rule", sorted(BUILT_INS))
def test_every_rule_falls_back_to_recorded_self_play_when_alone(rule: str) -> None:
    plan = full_plan(mix(rule, request(roster=[MAIN])))
    assert [(o.player, o.probability) for o in plan.opponents] == [("main", pytest.approx(1.0))]
    assert rule == "self_play" or "fallback" in plan.opponents[0].branch
    assert plan.rule == rule and "main" in explain(plan)


@pytest.mark.parametrize("rule", sorted(BUILT_INS))
@settings(max_examples=25)
@given(data=st.data())
def test_every_rule_gives_a_distribution_that_ignores_names(rule: str, data: st.DataObject) -> None:
    size = data.draw(st.integers(0, 6))
    results = st.tuples(*[st.sampled_from([0, 1, 20, 10**9])] * 3)
    table = {(i, j): data.draw(results) for i in range(size + 1) for j in range(i + 1, size + 1)}

    def plan(names: list[str]) -> list[float]:
        payoff = Payoff()
        for (i, j), tally in table.items():
            payoff.update(names[i], names[j], *tally)
        roster = [Member(id=names[0], role=Role.MAIN)]
        roster += [Member(id=n, role=Role.HISTORICAL, parent=names[0], created=i) for i, n in enumerate(names[1:])]
        return mix(rule, Request(learner=names[0], roster=roster, payoff=payoff)).probabilities().tolist()

    first = plan([f"p{i}" for i in range(size + 1)])
    assert all(0 <= chance <= 1 for chance in first)
    assert sum(first) == pytest.approx(1)
    assert plan([f"q{size - i}" for i in range(size + 1)]) == pytest.approx(first)


def test_fictitious_is_uniform_and_pfsp_is_weighted() -> None:
    payoff = Payoff(decay=1)
    for name, wins in (("m0", 9), ("m1", 5), ("m2", 1)):
        payoff.update("main", name, wins, 0, 10 - wins)
    assert chances(mix("fictitious", request(payoff))) == pytest.approx({"m0": 1 / 3, "m1": 1 / 3, "m2": 1 / 3})
    mixture = mix("pfsp", request(payoff, options={"weighting": "variance", "self_play_share": 0.2}))
    expected = pfsp([0.9, 0.5, 0.1], "variance") * 0.8
    assert chances(mixture) == pytest.approx({"main": 0.2, **dict(zip(["m0", "m1", "m2"], expected, strict=True))})


def test_own_pool_leaves_other_learners_past_out() -> None:
    roster = [MAIN, *PAST, Member(id="x", role=Role.MAIN), Member(id="x0", role=Role.HISTORICAL, parent="x")]
    assert "x0" in chances(mix("fictitious", request(roster=roster)))
    assert "x0" not in chances(mix("fictitious", request(roster=roster, options={"pool": "own"})))


def test_openai_five_softmax_and_quality_updates() -> None:
    mixture = mix("openai_five", request(qualities={"m0": 0.0, "m1": 1.0}))
    weights = np.exp([0.0, 1.0, 1.0]) / np.exp([0.0, 1.0, 1.0]).sum() * 0.2  # m2 is new: the best q
    assert chances(mixture) == pytest.approx({"main": 0.8, "m0": weights[0], "m1": weights[1], "m2": weights[2]})
    after = qualities_after_wins({"m0": 0.0, "m1": 1.0}, {"m0": 3})
    p0 = 1 / (1 + np.e)
    assert after == pytest.approx({"m0": -3 * 0.01 / (2 * p0), "m1": 1.0})
    assert joined_qualities({}, ["a"]) == {"a": 0.0}
    assert replay_qualities([(["m0"], {"m0": 2}), (["m0", "m1"], {})]) == pytest.approx({"m0": -0.02, "m1": -0.02})
    with pytest.raises(UnknownPlayer):
        qualities_after_wins({"m0": 0.0}, {"m9": 1})


def test_openai_five_forgets_the_quality_of_who_has_retired() -> None:
    remembered = {"m0": 0.0, "m1": -1.0, "retired": 5.0}
    weights = np.exp([0.0, -1.0, 0.0]) / np.exp([0.0, -1.0, 0.0]).sum() * 0.2  # m2 is new: the best that can be drawn
    mixture = mix("openai_five", request(qualities=remembered))
    assert chances(mixture) == pytest.approx({"main": 0.8, "m0": weights[0], "m1": weights[1], "m2": weights[2]})
    assert joined_qualities(remembered, ["m0", "m1", "m2"]) == {"m0": 0.0, "m1": -1.0, "m2": 0.0}


@given(st.lists(st.dictionaries(st.sampled_from("abc"), st.integers(0, 10**9)), max_size=20))
def test_qualities_stay_finite_however_many_wins(log: list[dict[str, int]]) -> None:
    qualities = replay_qualities([("abc", wins) for wins in log])
    assert all(np.isfinite(list(qualities.values())))


@pytest.mark.parametrize("solver", sorted(META_STRATEGIES))
def test_psro_of_rock_paper_scissors_is_a_third_each(solver: str) -> None:
    payoff = Payoff(decay=1)
    for a, b in (("m0", "m1"), ("m1", "m2"), ("m2", "m0")):
        payoff.update(a, b, 10, 0, 0)
    mixture = mix("psro", request(payoff, options={"meta_strategy": solver}))
    assert chances(mixture) == pytest.approx({"m0": 1 / 3, "m1": 1 / 3, "m2": 1 / 3}, abs=1e-3)
    assert mixture.note == "a game of win rates"


def test_psro_only_looks_up_what_is_ready(monkeypatch: pytest.MonkeyPatch) -> None:
    """It reads every pair of the pool while the trial is locked: no cell may be computed anew for that."""
    payoff = Payoff(min_games=1)
    payoff.update("m0", "m1", 1, 0, 0, earned=Earned(1.0, -1.0))
    monkeypatch.delattr(Payoff, "_seatings")
    assert "2 of 3 pairs" in mix("psro", request(payoff)).note


def test_psro_says_which_pairs_it_never_saw() -> None:
    assert "3 of 3 pairs" in mix("psro", request()).note


def test_psro_solves_mean_returns_where_they_were_recorded() -> None:
    """m0 wins most games against m1 and loses more by them: a rare large pot is not a win."""
    payoff = Payoff(decay=1)
    payoff.update("m0", "m1", 9, 0, 1, earned=Earned(-11.0, 11.0))
    payoff.update("m1", "m2", 5, 0, 5, earned=Earned(5.0, -5.0))
    payoff.update("m0", "m2", 5, 0, 5, earned=Earned(0.0, 0.0))
    mixture = mix("psro", request(payoff))
    assert chances(mixture) == pytest.approx({"m1": 1.0})
    assert mixture.note == "a game of mean returns"


def test_psro_never_mixes_win_rates_with_returns() -> None:
    payoff = Payoff(decay=1)
    payoff.update("m0", "m1", 9, 0, 1, earned=Earned(-11.0, 11.0))
    payoff.update("m1", "m2", 0, 10, 0)
    payoff.update("m0", "m2", 9, 0, 1)
    mixture = mix("psro", request(payoff))
    assert chances(mixture) == pytest.approx({"m0": 1.0})
    assert mixture.note == "a game of win rates"


@pytest.mark.parametrize("solver", sorted(META_STRATEGIES))
def test_large_returns_do_not_upset_a_solver(solver: str) -> None:
    payoff = Payoff(decay=1)
    for a, b in (("m0", "m1"), ("m1", "m2"), ("m2", "m0")):
        payoff.update(a, b, 10, 0, 0, earned=Earned(10_000.0, -10_000.0))
    mixture = mix("psro", request(payoff, options={"meta_strategy": solver}))
    assert chances(mixture) == pytest.approx({"m0": 1 / 3, "m1": 1 / 3, "m2": 1 / 3}, abs=1e-3)


def test_unknown_rules_and_players_are_refused_with_what_exists() -> None:
    with pytest.raises(InvalidInput, match="alphastar, fictitious"):
        mix("elo", request())
    with pytest.raises(UnknownPlayer, match="nobody"):
        mix("pfsp", Request(learner="nobody", roster=[MAIN], payoff=Payoff()))
    with pytest.raises(InvalidInput, match="twice"):
        mix("pfsp", request(roster=[MAIN, MAIN]))
    with pytest.raises(InvalidInput, match="weighting"):
        mix("pfsp", request(options={"wheighting": "linear"}))


def test_third_parties_add_rules_but_do_not_replace_built_ins() -> None:
    def own(asked: Request) -> Mixture:
        return BUILT_INS["self_play"](asked)

    assert matchmaker("mine", {"mine": own}) is own
    assert matchmaker("pfsp", {"pfsp": own}) is BUILT_INS["pfsp"]


def league_of(size: int) -> Request:
    rng = np.random.default_rng(1)
    payoff = Payoff(decay=1)
    roster = [MAIN]
    for index in range(size):
        roster.append(Member(id=f"m{index}", role=Role.HISTORICAL, parent="main", created=index))
        wins = int(rng.integers(0, 21))
        payoff.update("main", f"m{index}", wins, 0, 20 - wins)
    return Request(learner="main", roster=roster, payoff=payoff, payoff_revision=41)


def test_a_drawn_plan_is_bounded_sums_to_one_and_repeats_with_its_seed() -> None:
    mixture = mix("alphastar", league_of(500))
    plan = draw_plan(mixture, seed=5)
    assert len(plan.opponents) == 64 == len({o.player for o in plan.opponents})
    assert sum(o.probability for o in plan.opponents) == pytest.approx(1)
    assert plan == draw_plan(mixture, seed=5) != draw_plan(mixture, seed=6)
    assert plan.payoff_revision == 41
    # self-play is too likely to leave out, and keeps exactly its share
    assert next(o.probability for o in plan.opponents if o.player == "main") == pytest.approx(chances(mixture)["main"])


def test_drawn_plans_are_unbiased() -> None:
    mixture = mix("pfsp", league_of(30))
    wanted = chances(mixture)
    draws = 4_000
    totals = dict.fromkeys(wanted, 0.0)
    rng = np.random.default_rng(0)
    for _ in range(draws):
        plan = draw_plan(mixture, rng, limit=8)
        assert len(plan.opponents) == 8
        for opponent in plan.opponents:
            totals[opponent.player] += opponent.probability / draws
    for player, chance in wanted.items():
        assert totals[player] == pytest.approx(chance, abs=4 * (chance * 0.2 / draws) ** 0.5)


def test_a_small_mixture_is_not_drawn_at_all() -> None:
    mixture = mix("pfsp", league_of(64))
    assert draw_plan(mixture, seed=1) == full_plan(mixture)


def test_an_opponent_of_two_branches_comes_once_with_both() -> None:
    payoff = Payoff(decay=1)
    payoff.update("main", "m0", 90, 0, 10)
    payoff.update("main", "m1", 30, 0, 70)
    payoff.update("main", "m2", 60, 0, 40)
    plan = full_plan(mix("alphastar", request(payoff)))
    both = next(o for o in plan.opponents if o.player == "m1")
    assert both.branch == "pfsp+verification_forgotten"
    assert both.win_rate == pytest.approx(0.3)
    assert "also" in explain(plan) and "30%" in explain(plan)


def test_explain_covers_every_opponent_or_sums_them_up() -> None:
    text = explain(draw_plan(mix("alphastar", league_of(500)), seed=5), most=3)
    assert len(text.splitlines()) == 5
    assert "61 more opponents" in text and "its own latest version" in text


def test_every_branch_a_rule_uses_has_words() -> None:
    for rule in BUILT_INS:
        for asked in (request(roster=[MAIN]), league_of(3)):
            for share in mix(rule, asked).shares:
                assert share.branch in BRANCHES


def test_the_decision_keeps_the_full_distribution() -> None:
    mixture = mix("alphastar", league_of(500))
    decision = matchmaking_decision(mixture)
    assert sum(sum(branch["probabilities"]) for branch in decision.evidence["branches"]) == pytest.approx(1)
    assert sum(len(branch["players"]) for branch in decision.evidence["branches"]) >= 501
