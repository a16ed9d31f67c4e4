"""Players that join, retire and are retuned while the league runs."""

from __future__ import annotations

from dataclasses import replace
from typing import Any

import pytest
from temporalio.exceptions import ApplicationError

from api.store.tables import Commit, Generation
from league.types import Role
from orchestrator.contracts.trials import AddPlayer, ChangePlayer, Learner, TrialBrief, TrialRequest
from tests.integration.league_store.driver import MAIN, RANDOM, League, Store, league_file


def rival(league: League, **changes: Any) -> AddPlayer:
    return replace(AddPlayer(trial=league.trial, key="k1", name="rival", role=Role.MAIN), **changes)


def test_a_player_joins_once_for_its_key(store: Store, league: League) -> None:
    league.learn("main")
    first, second = store.at_once("add_player", rival(league), rival(league))
    assert first == second == store("add_player", rival(league))
    assert first == Learner(player=league.player("rival").id, name="rival", role=Role.MAIN)
    (version,) = league.versions("rival")
    assert version.sha256 == league.versions("main")[0].sha256
    assert len(league.events("player.added")) == 1
    commits = store.rows(Commit, Commit.trial_id == league.trial)
    assert [commit.kind for commit in commits].count("roster") == 1
    brief: TrialBrief = store("begin_trial", TrialRequest(trial=league.trial))
    assert [learner.name for learner in brief.learners] == ["main", "rival"]


def test_a_player_joins_where_every_learner_has_weights_of_its_own(store: Store) -> None:
    elsewhere = store.found()
    elsewhere.learn("main")
    source = elsewhere.versions("main")[1]
    league = store.found(league_file(players=[{**MAIN, "weights": source.id}, RANDOM]))
    store("add_player", rival(league))
    assert league.versions("rival")[0].sha256 == source.sha256


@pytest.mark.parametrize(
    ("changes", "words"),
    [
        ({"name": "main"}, "already has a player named 'main'"),
        ({"role": Role.BOT}, "needs the name of its bot"),
        ({"role": Role.BOT, "bot": "nobody"}, "unknown bot"),
        ({"hyperparameters": {"learning_rate": -1.0}}, "learning_rate"),
        ({"role": Role.BOT, "bot": "random", "hyperparameters": {"clip": 0.1}}, "does not learn"),
        ({"role": Role.HISTORICAL}, "needs weights"),
    ],
)
def test_a_player_that_does_not_fit_is_refused(
    store: Store, league: League, changes: dict[str, Any], words: str
) -> None:
    with pytest.raises(ApplicationError, match=words) as refusal:
        store("add_player", rival(league, **changes))
    assert refusal.value.type == "bad_input"
    assert league.names() == ["main", "random"]


def test_exploiters_join_only_where_a_rule_knows_them(store: Store) -> None:
    league = store.found(league_file("pfsp"))
    with pytest.raises(ApplicationError, match="has no rule for the role"):
        store("add_player", rival(league, role=Role.MAIN_EXPLOITER))


def test_a_bot_joins_with_a_version_and_no_weights(store: Store, league: League) -> None:
    store("add_player", rival(league, name="first", role=Role.BOT, bot="first-legal"))
    (version,) = league.versions("first")
    assert (version.origin, version.sha256) == ("bot", None)


def test_a_retired_player_stays_in_the_record_and_is_never_drawn(store: Store) -> None:
    league = store.found(league_file("fictitious", [MAIN, RANDOM], matchmaking={"include_bots": True}))
    change = ChangePlayer(trial=league.trial, player=league.player("random").id, retire=True)
    store.at_once("change_player", change, change)
    assert len(league.events("player.retired")) == 1
    assert league.player("random").retired_at is not None
    assert [opponent.player for opponent in league.plan("main").opponents] == [league.player("main").id]


def test_new_hyperparameters_count_from_the_next_plan_on(store: Store, league: League) -> None:
    before = league.plan("main")
    change = ChangePlayer(trial=league.trial, player=before.player, hyperparameters={"learning_rate": 0.5})
    store.at_once("change_player", change, change)
    assert len(league.events("player.retuned")) == 1
    assert league.plan("main") == before
    store("record_generation", league.report(before))
    after = league.plan("main")
    assert after.algorithm.options["learning_rate"] == 0.5
    assert after.algorithm.options["clip"] == before.algorithm.options["clip"]
    store("record_generation", league.report(after))
    rates = [
        row.hyperparameters["learning_rate"] for row in store.rows(Generation, Generation.player_id == after.player)
    ]
    assert sorted(rates) == [0.001, 0.5]


def test_hyperparameters_nobody_knows_are_refused(store: Store, league: League) -> None:
    player = league.player("main").id
    with pytest.raises(ApplicationError, match="momentum") as refusal:
        store("change_player", ChangePlayer(trial=league.trial, player=player, hyperparameters={"momentum": 1.0}))
    assert refusal.value.type == "bad_input"
    with pytest.raises(ApplicationError, match="does not learn"):
        bot = league.player("random").id
        store("change_player", ChangePlayer(trial=league.trial, player=bot, hyperparameters={"clip": 0.1}))
