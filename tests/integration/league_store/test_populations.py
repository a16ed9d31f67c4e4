"""Populations in the store: first hyperparameters, copies with their evidence, redelivery, forks and the audit."""

from __future__ import annotations

import math
from typing import Any

import pytest
from sqlalchemy import text
from sqlalchemy.orm import Session

from api.schemas.enums import CommitKind, VersionOrigin
from api.schemas.events import PlayerCopied
from api.store.core.ids import new_id
from api.store.forks.fork import fork_trial
from api.store.tables import Commit
from api.store.verify import FindingKind, wrong_rows
from league.populations.selection import COPY, KEEP
from league.types import DecisionKind, ReturnTally
from orchestrator.contracts.play import EvaluationKey, EvaluationReport, PlayRequest
from tests.integration.league_store.driver import RANDOM, STEPS, League, Store, league_file
from tests.integration.league_store.games import played

EXPLORE = {"learning_rate": {"initial": [1e-5, 1e-2], "perturb": [0.8, 1.25]}, "entropy": {"resample": [0.01, 0.1]}}
NEVER = {"snapshot": {"min_steps": 10**9, "max_steps": 10**9}}


def population(by: str, size: int = 4, every: int = 1, **exploit: Any) -> dict[str, Any]:
    return {"size": size, "every_generations": every, "exploit": {"by": by, **exploit}, "explore": EXPLORE}


def alone(store: Store, **given: Any) -> League:
    """A population in a game of one team, which is compared by returns."""
    players = [{"name": "main", "population": population("return", **given)}]
    file = league_file("self_play", players, **NEVER) | {"game": {"id": "gymnasium", "env": "CartPole-v1"}}
    return store.found(file)


def returns(mean: float, games: int = 100) -> ReturnTally:
    return ReturnTally(games=games, mean=mean, deviations=10.0 * games)


def findings(store: Store, damage: str | None = None) -> list[Any]:
    with Session(store.engine) as session:
        if damage is not None:
            session.execute(text("SET LOCAL session_replication_role = replica"))
            changed: Any = session.execute(text(damage))
            assert changed.rowcount, "nothing was damaged"
        found = list(wrong_rows(session))
        session.rollback()
    return found


def test_a_population_makes_its_members_with_hyperparameters_over_the_range(store: Store) -> None:
    league = alone(store)
    assert league.names() == ["main.1", "main.2", "main.3", "main.4"]
    members = [league.player(name) for name in league.names()]
    assert {member.population for member in members} == {"main"}
    rates = sorted(member.hyperparameters["learning_rate"] for member in members)
    edges = [1e-5 * 1000 ** (part / 4) for part in range(5)]
    assert all(low <= rate <= high for low, rate, high in zip(edges, rates, edges[1:], strict=False))
    assert all(0.01 <= member.hyperparameters["entropy"] <= 0.1 for member in members)
    plan = league.plan("main.2")
    assert plan.algorithm.options["learning_rate"] == league.player("main.2").hyperparameters["learning_rate"]


def test_a_worse_member_copies_weights_and_varies_hyperparameters(store: Store) -> None:
    league = alone(store)
    for name, mean in (("main.1", 20.0), ("main.2", 60.0), ("main.3", 200.0)):
        league.live(name, returns=returns(mean))
    before = league.player("main.4").hyperparameters
    donor = league.player("main.3").hyperparameters
    league.live("main.4", returns=returns(15.0))
    own, best = league.versions("main.4")[-1], league.versions("main.3")[-1]
    assert (own.origin, own.parent_id, own.sha256) == (VersionOrigin.COPY, best.id, best.sha256)
    assert (own.number, own.steps) == (2, STEPS)
    decision = league.decisions(DecisionKind.POPULATION)[-1]
    assert (decision.verdict, decision.version_id, decision.commit) == (COPY, own.id, own.commit)
    evidence = decision.evidence
    assert evidence["donor_name"] == "main.3"
    assert [score["name"] for score in evidence["scores"]] == ["main.4", "main.1", "main.2", "main.3"]
    assert evidence["p_value"] < 0.05
    assert evidence["before"] == before
    after = league.player("main.4").hyperparameters
    assert evidence["hyperparameters"] == after
    assert after["learning_rate"] / donor["learning_rate"] in (pytest.approx(0.8), pytest.approx(1.25))
    assert league.plan("main.4").algorithm.options["learning_rate"] == after["learning_rate"]
    assert store.rows(Commit, Commit.trial_id == league.trial, Commit.number == own.commit)[0].kind is CommitKind.COPY
    event = league.events(PlayerCopied.KIND)[-1]
    assert (event["donor"], event["donor_version"], event["hyperparameters"]) == ("main.3", "main.3 v1", after)
    assert findings(store) == []


def test_better_members_and_differences_by_chance_are_kept(store: Store) -> None:
    league = alone(store)
    for name, mean in (("main.1", 20.0), ("main.2", 20.1), ("main.3", 20.2), ("main.4", 19.9)):
        league.live(name, returns=returns(mean))
    decisions = league.decisions(DecisionKind.POPULATION)
    assert [decision.verdict for decision in decisions] == [KEEP] * 4
    assert "no other member" in decisions[0].reason
    assert "may be chance" in decisions[-1].reason
    assert league.events(PlayerCopied.KIND) == []


def test_a_judgement_delivered_again_copies_once(store: Store) -> None:
    league = alone(store)
    league.live("main.1", returns=returns(200.0))
    league.learn("main.2", returns=returns(10.0))
    key = league.key("main.2", 1)
    store.at_once("judge_generation", *[key] * 6)
    assert len(league.events(PlayerCopied.KIND)) == 1
    assert [version.origin for version in league.versions("main.2")][1:] == [VersionOrigin.TRAINED, VersionOrigin.COPY]


def test_a_member_that_copied_is_measured_again_before_it_is_a_donor(store: Store) -> None:
    league = alone(store, size=3)
    league.live("main.1", returns=returns(200.0))
    league.live("main.2", returns=returns(10.0))
    league.live("main.3", returns=returns(11.0))
    scores = league.decisions(DecisionKind.POPULATION)[-1].evidence["scores"]
    assert [score["name"] for score in scores] == ["main.3", "main.1"]


def test_decisions_come_every_few_generations(store: Store) -> None:
    league = alone(store, every=3)
    league.live("main.1", 7, returns=returns(10.0))
    assert [decision.generation for decision in league.decisions(DecisionKind.POPULATION)] == [3, 6]


def test_members_are_compared_by_win_rates_against_common_opponents(store: Store) -> None:
    players = [{"name": "main", "population": population("win_rate", size=3)}, RANDOM]
    rules = {**NEVER, "matchmaking": {"include_bots": True}}
    league = store.found(league_file("fictitious", players, **rules))
    league.live("main.1", wins=60, losses=10)
    league.live("main.2", wins=10, losses=60)
    decision = league.decisions(DecisionKind.POPULATION)[-1]
    assert (decision.verdict, decision.evidence["donor_name"]) == (COPY, "main.1")
    assert decision.evidence["opponents"] == [league.player("random").id]
    assert findings(store) == []


def rate(league: League, name: str, scores: list[float]) -> None:
    """Play the member's newest generation against the target, pair by pair with these scores."""
    player = league.player(name)
    at = EvaluationKey(trial=league.trial, player=player.id, generation=player.generation)
    request: PlayRequest = league.store("plan_evaluation", at)
    key = {"trial": at.trial, "player": at.player, "generation": at.generation}
    league.store("record_evaluation", EvaluationReport(request=request, outcome=played(request, scores), **key))


def test_members_are_compared_by_ratings_with_the_errors_of_their_differences(store: Store) -> None:
    players = [{"name": "main", "population": population("rating", size=3)}]
    target = {"until": {"opponent": "first-legal", "win_rate": 0.99}}
    file = league_file("self_play", players, **NEVER) | {"budget": target, "evaluation": {"games": 100}}
    league = store.found(file)
    for name, scores in (("main.1", [1.0, 0.75, 0.5]), ("main.2", [0.5, 0.25, 0.0]), ("main.3", [0.5, 0.5, 0.25])):
        league.learn(name)
        rate(league, name, scores)
    league.judge("main.1")
    league.judge("main.2")
    kept, copied = league.decisions(DecisionKind.POPULATION)
    assert (kept.verdict, copied.verdict, copied.evidence["donor_name"]) == (KEEP, COPY, "main.1")
    scores = {score["name"]: score for score in copied.evidence["scores"]}
    assert [score["name"] for score in copied.evidence["scores"]] == ["main.2", "main.3", "main.1"]
    assert {score["games"] for score in scores.values()} == {100}
    # both errors are against the shared opponent, so that the difference is what they say together
    alone = math.hypot(scores["main.1"]["error"], scores["main.2"]["error"])
    assert copied.evidence["error"] == pytest.approx(alone, rel=0.2)
    assert findings(store) == []
    # a later fit deletes this one's covariance, and the audit fits it again
    league.judge("main.3")
    league.learn("main.3")
    rate(league, "main.3", [1.0])
    assert findings(store) == []


def test_a_fork_has_the_members_and_their_hyperparameters_as_of_its_commit(store: Store) -> None:
    league = alone(store, size=2)
    league.live("main.1", returns=returns(200.0))
    first = league.player("main.2").hyperparameters
    commit = league.row.last_commit
    league.live("main.2", returns=returns(10.0))
    copied = league.player("main.2").hyperparameters
    assert copied != first
    forks = []
    for at in (commit, None):
        with store.sessions.begin() as session:
            forks.append(League(store, fork_trial(session, league.trial, name=new_id(), at_commit=at).id))
    assert [fork.player("main.2").hyperparameters for fork in forks] == [first, copied]
    assert {fork.player("main.1").population for fork in forks} == {"main"}
    forks[1].live("main.1", returns=returns(200.0))
    forks[1].live("main.2", returns=returns(5.0))
    assert forks[1].decisions(DecisionKind.POPULATION)[-1].verdict == COPY
    assert findings(store) == []


def test_the_audit_finds_decisions_that_differ_from_a_recomputation(store: Store) -> None:
    league = alone(store, size=2)
    league.live("main.1", returns=returns(200.0))
    league.live("main.2", returns=returns(10.0))
    of_copy = f"trial_id = '{league.trial}' AND kind = 'population' AND verdict = 'copy'"
    for damage in (
        f"UPDATE decisions SET verdict = 'keep' WHERE {of_copy}",
        f"UPDATE decisions SET evidence = jsonb_set(evidence, '{{p_value}}', '0.04') WHERE {of_copy}",
        f"UPDATE decisions SET evidence = jsonb_set(evidence, '{{hyperparameters,entropy}}', '0.5') WHERE {of_copy}",
        f"UPDATE return_tallies SET mean = 100 WHERE trial_id = '{league.trial}' AND mean = 10",
    ):
        found = findings(store, damage)
        assert {(each.wrong, "main.2" in each.subject) for each in found} == {(FindingKind.DISAGREEING, True)}, damage
        assert any("after generation 1" in each.subject for each in found), damage
    (lost,) = findings(store, f"DELETE FROM decisions WHERE {of_copy}")
    assert (lost.wrong, "never decided" in lost.detail) == (FindingKind.LOST, True)
