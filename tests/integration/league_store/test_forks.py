"""Forks: a league as of any commit, going on by itself, with its lineage known."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

import pytest
from sqlalchemy import select

from api.store.core.errors import Conflict, NotFound
from api.store.core.ids import new_id
from api.store.forks.fork import fork_trial
from api.store.payoffs.cells import stored_cells
from api.store.payoffs.replay import replay_payoff
from api.store.tables import Alias, Generation, Payoff, Rating
from league.types import DecisionKind, Role
from orchestrator.contracts.play import EvaluationKey, EvaluationReport
from orchestrator.contracts.trials import AddPlayer, ChangePlayer, EnterPlayers, TrialBrief, TrialRequest
from orchestrator.spec import InvalidTrial
from tests.integration.league_store.driver import EXPLOITER, MAIN, RANDOM, STEPS, League, Store, league_file
from tests.integration.league_store.games import played


def fork(origin: League, at_commit: int | None = None, **changes: Any) -> League:
    with origin.store.sessions.begin() as session:
        trial = fork_trial(session, origin.trial, name=new_id(), at_commit=at_commit, changes=changes)
    return League(origin.store, trial.id)


def qualities(league: League) -> list[float]:
    """What the next plan thinks of each snapshot."""
    league.plan("main")
    return list(league.decisions(DecisionKind.MATCHMAKING)[-1].evidence["qualities"].values())


def begin(league: League) -> TrialBrief:
    brief: TrialBrief = league.store("begin_trial", TrialRequest(trial=league.trial))
    assert brief.initial is not None
    league.store("enter_players", EnterPlayers(trial=league.trial, initial=brief.initial))
    return brief


def named_payoff(league: League) -> Mapping[object, object]:
    """The payoff by names, without commits."""
    names = {league.player(name).id: name for name in league.names()}
    with league.store.sessions() as session:
        cells = stored_cells(session, league.trial)
    return {
        (key.stream, names[key.player_id], names[key.opponent_id], key.seat): (cell.decayed, cell.raw)
        for key, cell in cells.items()
    }


def test_a_fork_begins_as_the_origin_stood(store: Store) -> None:
    league = store.found(league_file(players=[MAIN, EXPLOITER, RANDOM]))
    for _ in range(3):
        league.live("main")
        league.live("exploiter")
    then = league.row
    payoff, names = named_payoff(league), league.names()
    steps = {name: league.player(name).steps for name in names}
    snapshots = {name: league.player(name).steps_at_snapshot for name in names}
    weights = {name: league.versions(name)[-1].sha256 for name in names}
    league.live("main", 3)
    forked = fork(league, then.last_commit)
    assert forked.names() == names
    assert {name: forked.player(name).steps for name in names} == steps
    assert {name: forked.player(name).steps_at_snapshot for name in names} == snapshots
    assert {name: forked.versions(name)[-1].sha256 for name in names} == weights
    assert forked.player("main").generation == 3
    assert named_payoff(forked) == payoff
    assert (forked.row.steps, forked.row.status) == (then.steps, "pending")
    assert (forked.row.forked_from_trial_id, forked.row.forked_at_commit) == (league.trial, then.last_commit)
    (version,) = forked.versions("main")
    assert (version.origin, version.number) == ("fork", 3)
    assert version.parent_id == league.versions("main")[3].id
    assert forked.player("main-1").parent_id == forked.player("main").id


def test_a_fork_goes_on_as_the_origin_did(store: Store) -> None:
    league = store.found(league_file("openai_five"))
    league.live("main", 5)
    commit = league.row.last_commit
    forked = fork(league, commit)
    begin(forked)
    for _ in range(3):
        plans = [trial.plan("main") for trial in (league, forked)]
        assert plans[0].seed == plans[1].seed
        probabilities = [[opponent.probability for opponent in plan.opponents] for plan in plans]
        assert probabilities[0] == pytest.approx(probabilities[1], abs=1e-12)
        for trial, plan in zip((league, forked), plans, strict=True):
            store("record_generation", trial.report(plan, wins=20))
            trial.judge("main")
    assert forked.names() == league.names()
    assert named_payoff(forked) == named_payoff(league)
    with store.sessions() as session:
        assert stored_cells(session, forked.trial) == replay_payoff(session, forked.trial)
    numbers = [row.number for row in store.rows(Generation, Generation.trial_id == forked.trial)]
    assert sorted(numbers) == [6, 7, 8]


def test_a_fork_of_a_fork_remembers_both(store: Store) -> None:
    league = store.found(league_file("openai_five"))
    league.live("main", 3)
    store("change_player", ChangePlayer(trial=league.trial, player=league.player("random").id, retire=True))
    tuned = {"learning_rate": 0.5}
    store("change_player", ChangePlayer(trial=league.trial, player=league.player("main").id, hyperparameters=tuned))
    child = fork(league)
    begin(child)
    grandchild = fork(child)
    begin(grandchild)
    assert grandchild.player("main").generation == 3
    assert grandchild.player("main").hyperparameters == tuned
    assert grandchild.player("random").status == "retired"
    assert grandchild.row.steps == 3 * STEPS
    assert named_payoff(grandchild) == named_payoff(league)
    assert qualities(grandchild) == qualities(league)
    grandchild.live("main", 2)
    with store.sessions() as session:
        assert stored_cells(session, grandchild.trial) == replay_payoff(session, grandchild.trial)


def test_what_came_after_the_commit_is_not_in_the_fork(store: Store) -> None:
    league = store.found(league_file("self_play"))
    league.live("main")
    commit = league.row.last_commit
    main, random = league.player("main").id, league.player("random").id
    store("add_player", AddPlayer(trial=league.trial, key="k", name="late", role=Role.MAIN))
    store("change_player", ChangePlayer(trial=league.trial, player=random, retire=True))
    store("change_player", ChangePlayer(trial=league.trial, player=main, hyperparameters={"clip": 0.3}))
    league.live("main", 2)
    forked = fork(league, commit)
    assert forked.names() == ["main", "random"]
    assert forked.player("random").status == "active"
    assert forked.player("main").hyperparameters == {}
    assert forked.row.steps == STEPS
    assert fork(league).player("main").hyperparameters == {"clip": 0.3}


def test_a_fork_may_change_its_trial_file(store: Store) -> None:
    league = store.found(league_file("pfsp", matchmaking={"weighting": "hard", "power": 3.0}))
    league.live("main")
    forked = fork(league, seed=99, generation={"steps": 500}, league={"preset": "fictitious"})
    assert forked.row.spec["generation"]["steps"] == 500
    assert forked.row.spec["generation"]["tables"] == 1024
    assert forked.row.spec["league"]["matchmaking"] == {"pool": "all", "include_bots": False}
    begin(forked)
    assert forked.plan("main").seed != league.plan("main").seed
    assert forked.decisions(DecisionKind.MATCHMAKING)[0].verdict == "fictitious"


@pytest.mark.parametrize(
    ("changes", "error", "words"),
    [
        ({"generation": {"steps": -1}}, InvalidTrial, "generation.steps"),
        ({"model": {"hidden": [8]}}, Conflict, "keeps its origin's model"),
        ({"game": {"id": "connect_four"}}, Conflict, "keeps its origin's game"),
        ({"league": {"players": [MAIN]}}, Conflict, "keeps its origin's league.players"),
        ({"league": {"preset": "pfsp"}}, (InvalidTrial, Conflict), "has no rule for"),
    ],
)
def test_changes_that_do_not_fit_are_refused(store: Store, changes: Any, error: Any, words: str) -> None:
    league = store.found(league_file(players=[MAIN, EXPLOITER]))
    with pytest.raises(error, match=words):
        fork(league, **changes)


def test_a_fork_needs_a_trial_a_commit_and_a_free_name(store: Store, league: League) -> None:
    with pytest.raises(Conflict, match="commits 0 to 0, not 5"):
        fork(league, 5)
    with store.sessions() as session, pytest.raises(NotFound):
        fork_trial(session, new_id(), name="any")
    with store.sessions() as session, pytest.raises(Conflict, match="already has a trial named"):
        fork_trial(session, league.trial, name=league.row.name)
    unbegun = store.create()
    with pytest.raises(Conflict, match="had not begun"):
        fork(unbegun)


def test_a_forks_weights_are_rated_as_their_origins_are(store: Store) -> None:
    target = {"budget": {"until": {"opponent": "first-legal"}}, "evaluation": {"games": 20}}
    league = store.found(league_file("self_play") | target)
    league.learn("main")
    key = EvaluationKey(trial=league.trial, player=league.player("main").id, generation=1)
    request = store("plan_evaluation", key)
    outcome = played(request, [0.75])
    report = EvaluationReport(trial=key.trial, player=key.player, generation=1, request=request, outcome=outcome)
    store("record_evaluation", report)
    forked = fork(league)
    values = [
        store.rows(Rating, Rating.version_id == trial.versions("main")[-1].id)[-1].value for trial in (league, forked)
    ]
    assert values[0] == values[1] > 0
    assert store.count(Payoff, Payoff.trial_id == forked.trial, Payoff.stream == "rating") == 4


def test_aliases_stay_where_they_are(store: Store) -> None:
    league = store.found()
    league.live("main", 2)
    with store.sessions() as session:
        before = session.scalars(select(Alias.version_id).where(Alias.project_id == league.row.project_id)).all()
    fork(league)
    with store.sessions() as session:
        after = session.scalars(select(Alias.version_id).where(Alias.project_id == league.row.project_id)).all()
    assert before == after == [league.versions("main-1")[0].id]
