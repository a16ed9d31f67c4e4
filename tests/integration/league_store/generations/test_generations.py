"""Plan, record, judge: what is decided once stays decided, and one delivery of an outcome wins."""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path

import pytest
from temporalio.exceptions import ApplicationError

from api.store.tables import Commit, Generation, Metric, Payoff, Tally, Trial
from league.types import DecisionKind, Role
from orchestrator.contracts.generations import GenerationPlan
from orchestrator.contracts.trials import ChangePlayer, TrialRequest
from orchestrator.spec.matchmaking import Preset
from tests.integration.league_store.driver import EXPLOITER, MAIN, RANDOM, STEPS, League, Store, league_file


def shape(league: League, plan: GenerationPlan) -> object:
    """A plan without the ids, which are random."""
    names = {league.player(name).id: name for name in league.names()}
    opponents = [
        (names[opponent.player], opponent.probability, opponent.checkpoint, opponent.bot) for opponent in plan.opponents
    ]
    return plan.seed, plan.checkpoint, opponents, plan.algorithm, plan.steps


def test_a_plan_is_made_once(store: Store, league: League) -> None:
    key = league.key("main")
    first, second = store.at_once("plan_generation", key, key)
    assert first == second == store("plan_generation", key)
    (decision,) = league.decisions(DecisionKind.MATCHMAKING)
    assert first.decision == decision.id
    assert decision.verdict == "alphastar"
    assert decision.evidence["branches"]


def test_a_plan_keeps_the_versions_it_was_made_with(store: Store) -> None:
    league = store.found(league_file(players=[MAIN, EXPLOITER]))
    before = league.plan("exploiter")
    league.learn("main")
    assert store("plan_generation", league.key("exploiter")) == before
    (opponent,) = before.opponents
    assert opponent.version == league.versions("main")[0].id
    again = league.plan("exploiter", attempt=2)
    assert again.opponents[0].version == league.versions("main")[1].id


def test_self_play_names_the_learner_with_nothing_to_load(store: Store) -> None:
    league = store.found(league_file("self_play"))
    (opponent,) = league.plan("main").opponents
    assert (opponent.player, opponent.checkpoint, opponent.bot) == (league.player("main").id, None, None)


def test_bots_come_by_name_and_snapshots_by_checkpoint(store: Store) -> None:
    league = store.found(league_file("fictitious", matchmaking={"include_bots": True}))
    league.live("main", 2)
    by_player = {opponent.player: opponent for opponent in league.plan("main").opponents}
    bot, snapshot = by_player[league.player("random").id], by_player[league.player("main-1").id]
    assert (bot.bot, bot.checkpoint) == ("random", None)
    assert (bot.player_name, snapshot.player_name) == ("random", "main-1"), "charts name opponents"
    assert snapshot.bot is None
    assert snapshot.checkpoint is not None
    assert snapshot.checkpoint.sha256 == league.versions("main-1")[0].sha256


@pytest.mark.parametrize("preset", list(Preset))
def test_every_preset_plans_and_learns(store: Store, preset: Preset) -> None:
    league = store.found(league_file(preset))
    league.live("main", 4)
    plan = league.plan("main")
    assert sum(opponent.probability for opponent in plan.opponents) == pytest.approx(1)
    assert league.names() == ["main", "random", "main-1", "main-2"]


def test_the_same_file_and_seed_give_the_same_plans(store: Store) -> None:
    file = league_file("pfsp")
    leagues = [store.found(file), store.found(file)]
    plans: list[list[object]] = [[], []]
    for _ in range(5):
        for league, made in zip(leagues, plans, strict=True):
            plan = league.plan("main")
            made.append(shape(league, plan))
            report = league.report(plan)
            same = store.weights(("same in both", plan.generation))
            store("record_generation", replace(report, outcome=replace(report.outcome, checkpoint=same)))
            league.judge("main")
    assert plans[0] == plans[1]
    assert len({seed for seed, *_ in plans[0]}) == 5  # type: ignore[misc]


def test_an_outcome_is_recorded_once_and_the_loser_hears_of_the_winner(store: Store, league: League) -> None:
    plan = league.plan("main")
    reports = [league.report(plan, weights=attempt) for attempt in range(4)]
    answers = store.at_once("record_generation", *reports)
    assert answers == [answers[0]] * 4
    assert answers[0].checkpoint in [report.outcome.checkpoint for report in reports]
    player = league.player("main")
    assert store.count(Generation, Generation.player_id == player.id) == 1
    assert (player.generation, player.steps, league.row.steps) == (1, STEPS, STEPS)
    assert answers[0].player_steps == answers[0].trial_steps == STEPS
    assert len(league.events("generation.recorded")) == 1
    assert store.count(Metric, Metric.player_id == player.id) == 2


def test_what_was_played_is_in_the_payoff(store: Store) -> None:
    league = store.found(league_file("fictitious", matchmaking={"include_bots": True}))
    league.learn("main", wins=6, losses=2)
    main, bot = league.player("main").id, league.player("random").id
    cells = store.rows(Payoff, Payoff.trial_id == league.trial)
    assert {(cell.player_id, cell.seat, cell.opponent_seat, cell.raw_wins) for cell in cells} == {
        (main, 0, 1, 6),
        (main, 1, 0, 6),
        (bot, 0, 1, 2),
        (bot, 1, 0, 2),
    }
    assert store.count(Tally, Tally.trial_id == league.trial) == 2


def test_a_report_names_its_plan_or_carries_it_as_earlier_releases_did(store: Store) -> None:
    league = store.found(league_file(players=[MAIN, EXPLOITER]))
    for name, carried in (("main", False), ("exploiter", True)):
        plan = league.plan(name)
        report = league.report(plan)
        assert report.plan is None
        store("record_generation", replace(report, plan=plan) if carried else report)
        (row,) = store.rows(Generation, Generation.player_id == plan.player)
        assert (row.plan_decision_id, row.parent_version_id, row.seed) == (plan.decision, plan.version, plan.seed)
        assert row.hyperparameters == {"id": plan.algorithm.id, **plan.algorithm.options}


def test_a_report_of_a_worker_whose_clock_was_set_back_is_recorded(store: Store, league: League) -> None:
    report = league.report(league.plan("main"))
    early = replace(report.outcome, finished_at=report.outcome.started_at - 60.0)
    store("record_generation", replace(report, outcome=early))
    (row,) = store.rows(Generation, Generation.player_id == report.player)
    assert row.finished_at == row.started_at


def test_a_report_of_an_unplanned_attempt_is_refused(store: Store, league: League) -> None:
    report = league.report(league.plan("main"))
    with pytest.raises(ApplicationError, match="no plan of attempt 7") as refusal:
        store("record_generation", replace(report, attempt=7))
    assert refusal.value.type == "not_found" and refusal.value.non_retryable
    assert league.player("main").generation == 0


def test_an_outcome_whose_file_is_gone_is_refused(store: Store, league: League) -> None:
    report = league.report(league.plan("main"))
    elsewhere = replace(report.outcome.checkpoint, uri=f"checkpoint/00/{'0' * 64}", sha256="0" * 64)
    with pytest.raises(ApplicationError, match="missing") as refusal:
        store("record_generation", replace(report, outcome=replace(report.outcome, checkpoint=elsewhere)))
    assert refusal.value.type == "damaged_checkpoint"
    assert league.player("main").generation == 0


def test_generations_cannot_be_planned_out_of_turn(store: Store, league: League) -> None:
    with pytest.raises(ApplicationError, match="newest recorded is 0") as refusal:
        store("plan_generation", league.key("main", 2))
    assert refusal.value.type == "bad_input"
    with pytest.raises(ApplicationError, match="does not learn"):
        store("plan_generation", league.key("random", 1))


def test_a_judgement_is_made_once(store: Store, league: League) -> None:
    league.live("main")
    league.learn("main")
    key = league.key("main", 2)
    first, second = store.at_once("judge_generation", key, key)
    assert first == second == store("judge_generation", key)
    frozen = league.player("main-1")
    assert (first.snapshot, first.reset) == (frozen.id, False)
    assert (frozen.role, frozen.parent_id) == (Role.HISTORICAL, league.player("main").id)
    assert [decision.verdict for decision in league.decisions(DecisionKind.SNAPSHOT)] == ["keep", "snapshot"]
    (version,) = league.versions("main-1")
    assert version.sha256 == league.versions("main")[2].sha256
    assert version.parent_id == league.versions("main")[2].id
    assert len(league.events("player.snapshot")) == 1


def test_a_generation_that_is_not_recorded_cannot_be_judged(store: Store, league: League) -> None:
    with pytest.raises(ApplicationError, match="cannot be judged"):
        store("judge_generation", league.key("main", 1))


def test_a_snapshot_waits_for_the_lower_bound_of_the_worst_win_rate(store: Store) -> None:
    elder = store.found().learn("main").version
    veteran = {"name": "veteran", "role": "historical", "weights": elder}
    rule = {"min_steps": STEPS, "max_steps": 50 * STEPS, "win_rate": 0.7}
    league = store.found(league_file("pfsp", [MAIN, veteran], snapshot=rule))
    assert league.live("main", wins=6, losses=2).snapshot is None
    decision = league.decisions(DecisionKind.SNAPSHOT)[-1]
    assert decision.evidence["hardest"] == league.player("veteran").id
    assert decision.evidence["lower_bound"] < 0.7
    assert league.live("main", 2, wins=200, losses=0).snapshot is not None


def test_nobody_to_beat_is_no_reason_for_a_snapshot(store: Store) -> None:
    rule = {"min_steps": STEPS, "max_steps": 50 * STEPS, "win_rate": 0.7}
    league = store.found(league_file("pfsp", snapshot=rule))
    assert league.live("main", 3).snapshot is None
    assert "no opponent yet" in league.decisions(DecisionKind.SNAPSHOT)[-1].reason


def test_the_trial_file_says_how_likely_a_reset_is(store: Store) -> None:
    never = store.found(league_file(players=[MAIN, EXPLOITER], reset={"main_exploiter": 0.0}))
    assert never.live("exploiter", 2).reset is False
    always = store.found(league_file("pfsp", reset={"main": 1.0}))
    assert always.live("main", 2).reset is True


def test_an_exploiter_is_reset_after_its_snapshot_and_not_before(store: Store) -> None:
    league = store.found(league_file(players=[MAIN, EXPLOITER]))
    judgement = league.live("exploiter", 2)
    assert judgement.reset
    first, _, trained, reset = league.versions("exploiter")
    assert (reset.origin, reset.sha256, reset.parent_id) == ("reset", first.sha256, first.id)
    assert reset.steps == 2 * STEPS
    (snapshot,) = league.versions("exploiter-1")
    assert snapshot.sha256 == trained.sha256
    assert snapshot.commit < reset.commit
    assert league.plan("exploiter").checkpoint.sha256 == first.sha256
    assert league.live("main", 2).reset is False


def test_a_snapshot_inherits_the_payoff_only_where_the_file_says_so(store: Store) -> None:
    options = {"include_bots": True}
    for inherit, cells in ((False, 0), (True, 4)):
        league = store.found(
            league_file("fictitious", [MAIN, RANDOM], matchmaking=options, payoff={"inherit": inherit})
        )
        league.live("main", 2)
        child = league.player("main-1").id
        assert store.count(Payoff, (Payoff.player_id == child) | (Payoff.opponent_id == child)) == cells


def test_openai_five_remembers_whom_it_beat(store: Store) -> None:
    league = store.found(league_file("openai_five"))
    league.live("main", 4)
    league.learn("main", wins=50, losses=0)
    (newest,) = store.rows(Generation, Generation.player_id == league.player("main").id, Generation.number == 5)
    assert newest.matchmaker_state is not None
    qualities = newest.matchmaker_state["qualities"]
    assert set(qualities) == {league.player("main-1").id, league.player("main-2").id}
    assert all(quality < 0 for quality in qualities.values())
    evidence = league.decisions(DecisionKind.MATCHMAKING)[-1].evidence
    league.plan("main")
    assert league.decisions(DecisionKind.MATCHMAKING)[-1].evidence["qualities"] == qualities != evidence["qualities"]


def test_openai_five_forgets_whom_it_can_no_longer_meet(store: Store) -> None:
    league = store.found(league_file("openai_five"))
    league.live("main", 4)
    league.learn("main", wins=50, losses=0)
    gone, left = (league.player(name).id for name in ("main-1", "main-2"))
    store("change_player", ChangePlayer(trial=league.trial, player=gone, retire=True))
    plan = league.plan("main")
    (before,) = [decision.evidence["qualities"] for decision in league.decisions(DecisionKind.MATCHMAKING)[-1:]]
    assert set(before) == {left}
    store("record_generation", league.report(plan, wins=5))
    (newest,) = store.rows(Generation, Generation.player_id == league.player("main").id, Generation.number == 6)
    assert newest.matchmaker_state is not None
    # alone in the pool: N is 1, p is 1, and every one of its 2 x 5 defeats costs eta
    assert newest.matchmaker_state["qualities"] == pytest.approx({left: before[left] - 10 * 0.01})


def test_commits_have_no_gap(store: Store) -> None:
    league = store.found(league_file(players=[MAIN, EXPLOITER, RANDOM]))
    for _ in range(4):
        league.live("main")
        league.live("exploiter")
    numbers = sorted(commit.number for commit in store.rows(Commit, Commit.trial_id == league.trial))
    assert numbers == list(range(league.row.last_commit + 1))


def test_a_matchmaker_of_ones_own_decides(store: Store) -> None:
    league = store.found(league_file("tests.integration.league_store.matchmakers:last_made"))
    league.live("main", 2)
    (opponent,) = league.plan("main").opponents
    assert opponent.player == league.player("main-1").id


def test_a_broken_matchmaker_is_named_and_not_tried_again(store: Store) -> None:
    league = store.found(league_file("tests.integration.league_store.matchmakers:broken"))
    with pytest.raises(ApplicationError, match="matchmakers:broken' failed: ZeroDivisionError") as refusal:
        league.plan("main")
    assert (refusal.value.type, refusal.value.non_retryable) == ("bad_input", True)


def test_a_matchmaker_that_does_not_import_is_named_and_not_tried_again(
    store: Store, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    (tmp_path / "unreadable_rules.py").write_text("def rule(:\n")
    monkeypatch.syspath_prepend(str(tmp_path))
    league = store.found(league_file("unreadable_rules:rule"))
    with pytest.raises(ApplicationError, match=r"unreadable_rules:rule\) does not import: SyntaxError") as refusal:
        league.plan("main")
    assert (refusal.value.type, refusal.value.non_retryable) == ("bad_input", True)


def test_a_stored_file_that_cannot_be_read_is_named(store: Store) -> None:
    league = store.create()
    with store.sessions.begin() as session:
        session.get_one(Trial, league.trial).spec = {"game": {"id": "tic_tac_toe"}, "budgget": {}}
    with pytest.raises(ApplicationError, match="budgget") as refusal:
        store("begin_trial", TrialRequest(trial=league.trial))
    assert refusal.value.type == "bad_input"


def test_a_generation_that_was_recorded_and_not_judged_is_delivered_again(store: Store, league: League) -> None:
    """The workflow of its player was lost in between, or a backup was made then."""
    league.live("main")
    league.learn("main")
    (lost,) = store("begin_trial", TrialRequest(trial=league.trial)).learners
    assert league.player("main").generation == lost.generation + 1
    league.judge("main")
    (whole,) = store("begin_trial", TrialRequest(trial=league.trial)).learners
    assert whole.generation == league.player("main").generation
