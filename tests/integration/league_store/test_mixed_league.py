"""Leagues of players with algorithms and models of their own."""

from __future__ import annotations

from typing import Any

import pytest
from temporalio.exceptions import ApplicationError

from api.store.core.ids import new_id
from api.store.forks.fork import fork_trial
from api.store.players.import_weights import import_version
from league.types import DecisionKind, Role
from orchestrator.catalog import Component
from orchestrator.contracts.trials import AddPlayer, ChangePlayer, EnterPlayers, TrialBrief, TrialRequest
from tests.integration.league_store.driver import EXPLOITER, MAIN, RANDOM, League, Store, league_file

SMALL = {"id": "mlp", "hidden": [8]}
VTRACE = {"id": "vtrace", "learning_rate": 0.0005}
OTHER = {**EXPLOITER, "algorithm": VTRACE, "model": SMALL}
TUNED = {"name": "tuned", "role": "main", "algorithm": {"id": "vtrace"}}


def begin(store: Store, file: Any) -> tuple[League, TrialBrief]:
    """A league whose players of another kind start from weights of their own, named by their model's width."""
    league = store.create(file)
    brief: TrialBrief = store("begin_trial", TrialRequest(trial=league.trial))
    own = {
        player: store.weights(f"{start.algorithm.id} {start.model.options['hidden']}")
        for start in brief.own_starts
        for player in start.players
    }
    initial = brief.initial or store.weights("initial")
    store("enter_players", EnterPlayers(trial=league.trial, initial=initial, own=own))
    return league, brief


def test_players_of_another_kind_start_from_weights_of_their_own(store: Store) -> None:
    twin = {**OTHER, "name": "twin"}
    league, brief = begin(store, league_file(players=[MAIN, OTHER, twin, TUNED, RANDOM]))
    kinds = [(start.algorithm.id, start.model.options["hidden"]) for start in brief.own_starts]
    assert kinds == [("vtrace", [8]), ("vtrace", [128, 128])]
    assert brief.own_starts[0].players == [league.player("exploiter").id, league.player("twin").id]
    assert brief.own_starts[0].algorithm.options["learning_rate"] == 0.0005
    hashes = {name: league.versions(name)[0].sha256 for name in ("main", "exploiter", "twin", "tuned")}
    assert hashes["exploiter"] == hashes["twin"]
    assert len(set(hashes.values())) == 3
    again: TrialBrief = store("begin_trial", TrialRequest(trial=league.trial))
    assert (again.own_starts, again.initial) == ([], store.weights("initial"))


def test_each_plan_has_the_players_own_algorithm_and_model(store: Store) -> None:
    league, _ = begin(store, league_file(players=[MAIN, OTHER, RANDOM]))
    main, other = league.plan("main"), league.plan("exploiter")
    assert (main.algorithm.id, main.model.options["hidden"]) == ("ppo", [128, 128])
    assert (other.algorithm.id, other.algorithm.options["learning_rate"]) == ("vtrace", 0.0005)
    assert other.model == Component(id="mlp", options={"hidden": [8], "activation": "relu", "normalise": False})


def test_hyperparameters_are_options_of_the_players_own_algorithm(store: Store) -> None:
    league, _ = begin(store, league_file(players=[MAIN, OTHER, RANDOM]))
    player = league.player("exploiter").id
    retuned = ChangePlayer(trial=league.trial, player=player, hyperparameters={"rho_clip": 2.0})
    store("change_player", retuned)
    assert league.plan("exploiter").algorithm.options["rho_clip"] == 2.0
    assert league.plan("exploiter").algorithm.options["learning_rate"] == 0.0005
    for name, wrong, words in (
        ("exploiter", {"clip": 0.1}, "no such option"),
        ("exploiter", {"id": "ppo"}, "another needs a new player"),
        ("main", {"id": "somewhere:Else"}, "another needs a new player"),
    ):
        order = ChangePlayer(trial=league.trial, player=league.player(name).id, hyperparameters=wrong)
        with pytest.raises(ApplicationError, match=words):
            store("change_player", order)


def test_a_snapshot_has_its_parents_kind_and_resets_keep_to_it(store: Store) -> None:
    rules = {"reset": {"main_exploiter": 1.0, "past_after_steps": 1}}
    league, _ = begin(store, league_file(players=[MAIN, OTHER, RANDOM], **rules))
    league.live("main", 2)
    judgement = league.live("exploiter", 2)
    assert judgement.reset
    frozen, past = league.player("exploiter-1"), league.player("main-1")
    assert frozen.model is not None and frozen.algorithm is not None
    assert (frozen.model["hidden"], frozen.algorithm["id"]) == ([8], "vtrace")
    assert (past.model, past.algorithm) == (None, None)
    reset = league.decisions(DecisionKind.RESET)[-1]
    assert reset.evidence["target"] is None, "the only past main has another model"
    assert league.versions("exploiter")[-1].sha256 == league.versions("exploiter")[0].sha256


def test_a_fork_keeps_the_kind_of_every_player(store: Store) -> None:
    league, _ = begin(store, league_file(players=[MAIN, OTHER, RANDOM]))
    league.live("exploiter", 2)
    with store.sessions.begin() as session:
        fork = League(store, fork_trial(session, league.trial, name=new_id()).id)
    for name in ("main", "exploiter", "exploiter-1"):
        origin, copy = league.player(name), fork.player(name)
        assert (copy.algorithm, copy.model) == (origin.algorithm, origin.model)
    assert fork.plan("exploiter").algorithm == league.plan("exploiter").algorithm


def test_weights_of_another_model_are_refused_by_name(store: Store) -> None:
    league, _ = begin(store, league_file(players=[MAIN, OTHER, RANDOM]))
    small = league.learn("exploiter").version
    fits = store.found(league_file(players=[MAIN, {**OTHER, "weights": small}, RANDOM]))
    assert fits.versions("exploiter")[0].origin == "imported"
    wrong = store.create(league_file(players=[{**MAIN, "weights": small}, RANDOM]))
    with pytest.raises(ApplicationError, match=r"exploiter was made for another model, .*cannot start player 'main'"):
        store("enter_players", EnterPlayers(trial=wrong.trial, initial=store.weights("initial")))


def test_named_weights_start_every_player_of_the_trials_model(store: Store) -> None:
    elder = store.found().learn("main")
    file = league_file(players=[MAIN, OTHER, TUNED, RANDOM]) | {"initial_weights": elder.version}
    league, brief = begin(store, file)
    assert [start.players for start in brief.own_starts] == [[league.player("exploiter").id]]
    assert league.versions("tuned")[0].sha256 == league.versions("main")[0].sha256 == elder.checkpoint.sha256
    assert [league.versions(name)[0].origin for name in ("tuned", "exploiter")] == ["imported", "initial"]


def test_a_player_of_another_kind_joins_later(store: Store) -> None:
    league, _ = begin(store, league_file(players=[OTHER | {"role": "main"}, RANDOM]))
    weights = store.weights("of the newcomer")
    order = AddPlayer(
        trial=league.trial, key="k1", name="rival", role=Role.MAIN, algorithm=VTRACE, model=SMALL, initial=weights
    )
    store("add_player", order)
    assert league.versions("rival")[0].sha256 == weights.sha256
    assert league.plan("rival").algorithm.id == "vtrace"
    shares = AddPlayer(trial=league.trial, key="k2", name="second", role=Role.MAIN)
    with pytest.raises(ApplicationError, match="no initial weights"):
        store("add_player", shares)  # nobody in the league has the trial's model


def test_imported_weights_are_of_the_model_of_a_named_player(store: Store) -> None:
    league, _ = begin(store, league_file(players=[MAIN, OTHER, RANDOM]))
    with store.sessions.begin() as session:
        import_version(session, league.trial, "veteran", store.weights("elsewhere"), like="exploiter")
    veteran = league.player("veteran")
    assert (veteran.role, veteran.model) == (Role.HISTORICAL, league.player("exploiter").model)
