"""The AlphaStar roles: closed forms against a plain sampler of the published rule, branch by branch."""

from __future__ import annotations

import numpy as np
import pytest

from league.errors import InvalidInput
from league.matchmaking import Member, Mixture, Request, full_plan, mix, pfsp
from league.matchmaking.alphastar import without_monotonic_suffix
from league.payoff import Payoff
from league.types import Role

MAIN = Member(id="main", role=Role.MAIN)
OTHER = Member(id="other", role=Role.MAIN)
EXPLOITER = Member(id="me", role=Role.MAIN_EXPLOITER)
LEAGUE = Member(id="le", role=Role.LEAGUE_EXPLOITER)


def snapshot(name: str, parent: str, created: int) -> Member:
    return Member(id=name, role=Role.HISTORICAL, parent=parent, created=created)


def payoff_of(learner: str, rates: dict[str, float]) -> Payoff:
    payoff = Payoff(decay=1)
    for opponent, rate in rates.items():
        payoff.update(learner, opponent, round(1000 * rate), 0, 1000 - round(1000 * rate))
    return payoff


def branches(mixture: Mixture) -> dict[str, dict[str, float]]:
    found: dict[str, dict[str, float]] = {}
    for share in mixture.shares:
        row = found.setdefault(share.branch, {})
        for position, chance in zip(share.positions, share.probabilities, strict=True):
            row[mixture.players[position]] = row.get(mixture.players[position], 0) + chance
    return found


def ask(learner: str, roster: list[Member], rates: dict[str, float], **options: object) -> Mixture:
    return mix("alphastar", Request(learner=learner, roster=roster, payoff=payoff_of(learner, rates), options=options))


def test_a_lone_main_plays_itself_and_says_so() -> None:
    mixture = ask("main", [MAIN], {})
    assert branches(mixture) == {"self_play_fallback": {"main": 0.5}, "self_play": {"main": pytest.approx(0.5)}}
    assert "no historical" in mixture.note
    plan = full_plan(mixture)
    assert [o.player for o in plan.opponents] == ["main"]
    assert plan.opponents[0].probability == pytest.approx(1)


def test_main_without_weaknesses_falls_through_to_self_play() -> None:
    roster = [MAIN, snapshot("m1", "main", 1), snapshot("m2", "main", 2)]
    found = branches(ask("main", roster, {"m1": 0.9, "m2": 0.8}))
    weights = pfsp([0.9, 0.8]) * 0.5
    assert found["pfsp"] == pytest.approx({"m1": weights[0], "m2": weights[1]})
    assert found["self_play"] == pytest.approx({"main": 0.5})
    assert set(found) == {"pfsp", "self_play"}


def test_an_exploited_main_verifies_against_exploiter_snapshots() -> None:
    roster = [MAIN, EXPLOITER, snapshot("e1", "me", 1), snapshot("e2", "me", 2), snapshot("m1", "main", 3)]
    found = branches(ask("main", roster, {"e1": 0.2, "e2": 0.6, "m1": 0.9}))
    weights = pfsp([0.2, 0.6]) * 0.15
    assert found["verification_exploiters"] == pytest.approx({"e1": weights[0], "e2": weights[1]})
    assert found["self_play"] == pytest.approx({"main": 0.35})
    not_exploited = branches(ask("main", roster, {"e1": 0.3, "e2": 0.6, "m1": 0.9}))
    assert "verification_exploiters" not in not_exploited


def test_snapshots_of_a_retired_exploiter_still_verify() -> None:
    retired = Member(id="me", role=Role.MAIN_EXPLOITER, active=False)
    found = branches(ask("main", [MAIN, retired, snapshot("e1", "me", 1)], {"e1": 0.1}))
    assert found["verification_exploiters"] == pytest.approx({"e1": 0.15})


def test_a_forgetful_main_revisits_its_past_up_to_the_last_rise() -> None:
    roster = [MAIN] + [snapshot(f"m{i}", "main", 10 - i) for i in range(4)]  # roster order is not time order
    rates = {"m3": 0.9, "m2": 0.5, "m1": 0.6, "m0": 0.55}  # in time order 0.9, 0.5, 0.6, 0.55
    found = branches(ask("main", roster, rates))
    weights = pfsp([0.9, 0.5, 0.6]) * 0.15
    assert found["verification_forgotten"] == pytest.approx(dict(zip(["m3", "m2", "m1"], weights, strict=True)))
    assert found["self_play"] == pytest.approx({"main": 0.35})


@pytest.mark.parametrize(
    ("rates", "kept"),
    [([], 0), ([0.5], 0), ([0.9, 0.8, 0.8, 0.1], 0), ([0.1, 0.2], 2), ([0.2, 0.9, 0.5, 0.5], 2), ([0.5, 0.4, 0.6], 3)],
)
def test_the_suffix_that_never_rises_is_dropped(rates: list[float], kept: int) -> None:
    assert without_monotonic_suffix(np.array(rates)) == kept


def test_another_main_is_played_live_or_by_its_past() -> None:
    roster = [MAIN, OTHER, snapshot("o1", "other", 1), snapshot("o2", "other", 2)]
    live = branches(ask("main", roster, {"other": 0.31, "o1": 0.9, "o2": 0.8}))
    assert live["main"] == pytest.approx({"other": 0.25})
    past = branches(ask("main", roster, {"other": 0.3, "o1": 0.9, "o2": 0.8}))
    weights = pfsp([0.9, 0.8], "variance") * 0.25
    assert past["main_past"] == pytest.approx({"o1": weights[0], "o2": weights[1]})
    assert "main" not in past
    alone = branches(ask("main", [MAIN, OTHER], {"other": 0.1}))
    assert alone["main_without_past"] == pytest.approx({"other": 0.25})


def test_main_exploiter_targets_the_mains() -> None:
    roster = [MAIN, EXPLOITER, snapshot("m1", "main", 1), snapshot("m2", "main", 2)]
    assert branches(ask("me", roster, {"main": 0.11})) == {"main": {"main": 1.0}}
    past = branches(ask("me", roster, {"main": 0.1, "m1": 0.5, "m2": 0.2}))
    weights = pfsp([0.5, 0.2], "variance")
    assert past == {"main_past": pytest.approx({"m1": weights[0], "m2": weights[1]})}
    assert branches(ask("me", [EXPLOITER], {})) == {"self_play_fallback": {"me": 1.0}}


def test_league_exploiter_plays_all_historical_capped() -> None:
    roster = [MAIN, LEAGUE, snapshot("m1", "main", 1), snapshot("m2", "main", 2), Member(id="bot", role=Role.BOT)]
    found = branches(ask("le", roster, {"m1": 0.2, "m2": 0.9, "bot": 0.5}))
    assert found == {"pfsp_capped": pytest.approx({"m1": 0.5 / 0.6, "m2": 0.1 / 0.6})}
    with_bots = branches(ask("le", roster, {"m1": 0.2, "m2": 0.9, "bot": 0.5}, include_bots=True))
    assert with_bots["pfsp_capped"] == pytest.approx({"m1": 0.5 / 1.1, "m2": 0.1 / 1.1, "bot": 0.5 / 1.1})


def sampled_main(rng: np.random.Generator, rates: dict[str, float], roster: list[Member]) -> str:
    """The published rule, drawn one match at a time."""

    def draw(players: list[Member], weighting: str) -> str:
        return str(rng.choice([p.id for p in players], p=pfsp([rates[p.id] for p in players], weighting)))

    def of(parent: str) -> list[Member]:
        return sorted((m for m in roster if m.parent == parent), key=lambda m: m.created)

    coin = rng.random()
    if coin < 0.5:
        return draw([m for m in roster if m.role == Role.HISTORICAL], "squared")
    opponent = str(rng.choice(["main", "other"]))
    if coin < 0.65:
        exploiters = of("me")
        if min(rates[m.id] for m in exploiters) < 0.3:
            return draw(exploiters, "squared")
        past = of(opponent)
        values = [rates[m.id] for m in past]
        keep = next((i + 1 for i in range(len(values) - 1, 0, -1) if values[i - 1] < values[i]), 0)
        if keep and min(values[:keep]) < 0.7:
            return draw(past[:keep], "squared")
    if opponent == "main" or rates["other"] > 0.3:
        return opponent
    return draw(of(opponent), "variance")


@pytest.mark.parametrize("hard_exploiter", [False, True])
def test_the_closed_form_equals_the_sampled_rule(hard_exploiter: bool) -> None:
    rng = np.random.default_rng(3)
    roster = [MAIN, OTHER, EXPLOITER]
    roster += [snapshot(f"{p}{i}", p, 3 * i) for p in ("main", "other", "me") for i in range(3)]
    rates = {"main0": 0.6, "main1": 0.5, "main2": 0.7, "other0": 0.4, "other1": 0.6, "other2": 0.3, "other": 0.2}
    rates |= {"me0": 0.1 if hard_exploiter else 0.9, "me1": 0.5, "me2": 0.8}
    plan = full_plan(ask("main", roster, rates))
    draws = 20_000
    seen = [sampled_main(rng, rates, roster) for _ in range(draws)]
    assert sum(o.probability for o in plan.opponents) == pytest.approx(1)
    for opponent in plan.opponents:
        spread = (opponent.probability * (1 - opponent.probability) / draws) ** 0.5
        assert seen.count(opponent.player) / draws == pytest.approx(opponent.probability, abs=4.5 * spread)


def test_options_are_checked() -> None:
    with pytest.raises(InvalidInput, match="pfsp_share"):
        ask("main", [MAIN], {}, pfsp_shares=0.4)
    with pytest.raises(InvalidInput, match="together"):
        ask("main", [MAIN], {}, pfsp_share=0.9, verification_share=0.2)


def test_a_frozen_player_is_not_matched() -> None:
    with pytest.raises(InvalidInput, match="does not learn"):
        ask("m1", [MAIN, snapshot("m1", "main", 1)], {})
