"""A trial's life as workflows, with a real Temporal server and a league in memory."""

from __future__ import annotations

import asyncio
from collections import Counter
from collections.abc import Callable
from datetime import timedelta

import pytest
from temporalio.client import Client, WorkflowHandle, WorkflowUpdateFailedError

from api.worker import sandbox
from league.types import Role
from orchestrator.contracts import Queue
from orchestrator.contracts.errors import Failure
from orchestrator.contracts.tournaments import TournamentState, tournament_workflow_id
from orchestrator.contracts.trials import Learner, Target
from orchestrator.contracts.workflows import (
    LiveStatus,
    Mode,
    NewPlayer,
    PlayerChange,
    PlayerState,
    Status,
    StopOrder,
    gate_workflow_id,
    player_workflow_id,
    trial_workflow_id,
)
from orchestrator.workflows import player, trial
from orchestrator.workflows import retries as attempts
from tests.integration.workflows.conftest import PATIENCE, eventually
from tests.integration.workflows.fake_league import FakeLeague
from tests.integration.workflows.fake_tournament import FakeTournament

pytestmark = pytest.mark.asyncio(loop_scope="module")


async def status(handle: WorkflowHandle[object, Status]) -> LiveStatus:
    answer: LiveStatus = await handle.query("live", result_type=LiveStatus)
    return answer


async def test_a_budget_of_steps_completes_the_trial(begin: Callable) -> None:
    league = FakeLeague(budget_steps=50)
    async with begin(league, runner=sandbox()) as handle:
        assert await handle.result() is Status.COMPLETED
    generations = [generation for _, generation in league.recorded]
    assert generations == list(range(1, len(generations) + 1)), "each generation once, in order"
    assert len(generations) >= 5
    assert [word for word, _ in league.statuses] == ["running", "stopping", "completed"]
    assert "50 steps" in league.statuses[-1][1]
    assert league.calls["make_initial_weights"] == league.calls["enter_players"] == 1
    assert league.calls["chart_generation"] == len(generations)
    assert all(chart.win_rates == {"random": 1.0} for chart in league.charts), "charts show names, not ids"


async def test_a_wall_clock_budget_completes_the_trial(begin: Callable) -> None:
    league = FakeLeague(wall_clock_seconds=1.0)
    async with begin(league) as handle:
        assert await handle.result() is Status.COMPLETED
    assert "wall-clock" in league.statuses[-1][1]


async def test_a_reached_target_completes_the_trial(begin: Callable) -> None:
    league = FakeLeague(target=Target(opponent="mcts-100", win_rate=0.9))
    async with begin(league) as handle:
        assert await handle.result() is Status.COMPLETED
    assert "target reached" in league.statuses[-1][1] and "mcts-100" in league.statuses[-1][1]


async def test_pause_finishes_the_generation_and_resume_goes_on(begin: Callable) -> None:
    league = FakeLeague(generation_seconds=0.3)
    async with begin(league) as handle:
        await eventually(lambda: league.training_now == 1)
        assert await handle.execute_update("pause", result_type=Status) in (Status.PAUSING, Status.PAUSED)
        await eventually(lambda: league.statuses[-1][0] == "paused")
        done = len(league.recorded)
        assert done >= 1, "the generation under way was recorded"
        await asyncio.sleep(0.5)
        assert len(league.recorded) == done and league.training_now == 0
        with pytest.raises(WorkflowUpdateFailedError) as refusal:
            await handle.execute_update("pause")
        assert "paused cannot be paused" in str(refusal.value.cause)
        assert await handle.execute_update("resume", result_type=Status) is Status.RUNNING
        await eventually(lambda: len(league.recorded) > done)


async def test_start_paused_begins_with_resume(begin: Callable) -> None:
    league = FakeLeague(start_paused=True, budget_steps=20)
    async with begin(league) as handle:
        await eventually(lambda: bool(league.statuses))
        assert league.statuses == [("paused", "waits for `resume`, as its file says")]
        await asyncio.sleep(0.3)
        assert league.calls["train_generation"] == 0
        await handle.execute_update("resume")
        assert await handle.result() is Status.COMPLETED


async def test_a_drain_records_what_is_under_way(begin: Callable, temporal: Client) -> None:
    league = FakeLeague(generation_seconds=60)
    async with begin(league) as handle:
        await eventually(lambda: league.training_now == 1)
        await handle.execute_update("stop", StopOrder(mode=Mode.DRAIN))

        async def player_knows() -> bool:
            learner = temporal.get_workflow_handle(player_workflow_id(league.learners[0].player))
            state: PlayerState = await learner.query("state", result_type=PlayerState)
            return state.mode is Mode.DRAIN

        await eventually(player_knows)
        league.generation_seconds = 0
        assert await handle.result() is Status.STOPPED
    assert [generation for _, generation in league.recorded] == [1]


async def test_a_stop_now_gives_up_what_is_under_way(begin: Callable) -> None:
    league = FakeLeague(generation_seconds=60)
    async with begin(league) as handle:
        await eventually(lambda: league.training_now == 1)
        await handle.execute_update("stop", StopOrder(mode=Mode.NOW))
        assert await asyncio.wait_for(handle.result(), PATIENCE) is Status.STOPPED
        assert league.recorded == []


async def test_a_drain_can_be_hurried(begin: Callable) -> None:
    league = FakeLeague(generation_seconds=60)
    async with begin(league) as handle:
        await eventually(lambda: league.training_now == 1)
        await handle.execute_update("stop", StopOrder(mode=Mode.DRAIN))
        with pytest.raises(WorkflowUpdateFailedError):
            await handle.execute_update("stop", StopOrder(mode=Mode.DRAIN))
        await handle.execute_update("stop", StopOrder(mode=Mode.NOW))
        assert await asyncio.wait_for(handle.result(), PATIENCE) is Status.STOPPED


async def test_a_stop_now_ends_gates_that_open_afterwards_too(begin: Callable) -> None:
    league = FakeLeague(
        generation_seconds=0.1, gates={"g": 10_000, "g-next": 10_000}, gate_of_generation={1: "g"}, play_seconds=0.05
    )
    async with begin(league) as handle:
        await eventually(lambda: league.calls["play_games"] > 0)
        await handle.execute_update("stop", StopOrder(mode=Mode.NOW, reason="enough"))
        assert await asyncio.wait_for(handle.result(), PATIENCE) is Status.STOPPED
    assert [stop.reason for stop in league.stopped_gates] == ["enough", "enough"]


async def test_a_trial_knows_of_a_gate_before_it_has_opened(begin: Callable) -> None:
    league = FakeLeague(budget_steps=10, gates={"g": 3}, gate_of_generation={1: "g"}, play_seconds=0.2)
    async with begin(league) as handle:
        assert await handle.result() is Status.COMPLETED
    assert set(league.gates.values()) == {0}, "the only generation's gate was played to its end"


async def test_a_stop_now_does_not_wait_for_an_evaluation(begin: Callable) -> None:
    league = FakeLeague(play_seconds=60, target=Target(opponent="mcts-100", win_rate=0.9))
    async with begin(league) as handle:
        await eventually(lambda: league.calls["play_games"] == 1)
        await handle.execute_update("stop", StopOrder(mode=Mode.NOW))
        assert await asyncio.wait_for(handle.result(), PATIENCE) is Status.STOPPED
    assert league.calls["play_games"] == 1 and league.events == []


async def test_an_evaluation_that_meets_damage_is_dropped(begin: Callable) -> None:
    league = FakeLeague(target=Target(opponent="mcts-100", win_rate=0.9), play_failures=[Failure.DAMAGED_CHECKPOINT])
    async with begin(league) as handle:
        assert await handle.result() is Status.COMPLETED
    assert "target reached" in league.statuses[-1][1]
    assert [event.type for event in league.events] == ["evaluation_dropped"]


async def test_a_field_that_cannot_be_had_does_not_stop_the_training(begin: Callable) -> None:
    league = FakeLeague(budget_steps=20, field_failures=[Failure.BAD_INPUT])
    async with begin(league) as handle:
        assert await handle.result() is Status.COMPLETED
    assert [event.type for event in league.events] == ["evaluation_dropped"]


async def test_initial_weights_that_cannot_be_made_end_the_trial(begin: Callable) -> None:
    league = FakeLeague(weights_failures=[Failure.STALLED, Failure.DAMAGED_CHECKPOINT])
    async with begin(league) as handle:
        assert await handle.result() is Status.FAILED
    assert league.statuses == [("failed", "damaged_checkpoint: planted damaged_checkpoint")]
    assert [event.type for event in league.events] == ["weights_retried"]


async def test_a_stop_while_a_resumed_trial_is_launched_stops_it(begin: Callable) -> None:
    league = FakeLeague(start_paused=True, weights_failures=[Failure.STORE_FULL] * 4)
    async with begin(league) as handle:
        await eventually(lambda: bool(league.statuses))
        await handle.execute_update("resume")
        await eventually(lambda: bool(league.events))
        await handle.execute_update("stop", StopOrder(mode=Mode.DRAIN))
        assert await asyncio.wait_for(handle.result(), PATIENCE) is Status.STOPPED
    assert [word for word, _ in league.statuses] == ["paused", "running", "stopping", "stopped"]
    assert league.recorded == []


@pytest.mark.parametrize("failure", [Failure.CREW_LOST, Failure.STALLED, Failure.UNKNOWN])
async def test_a_passing_failure_is_tried_again_and_told(begin: Callable, failure: Failure) -> None:
    league = FakeLeague(budget_steps=20, training_failures=[failure])
    async with begin(league) as handle:
        assert await handle.result() is Status.COMPLETED
    assert [event.payload["failure"] for event in league.events] == [failure.value]
    assert league.events[0].type == "generation_retried"
    assert Counter(league.recorded).most_common(1)[0][1] == 1


async def test_bad_input_is_never_tried_again(begin: Callable) -> None:
    league = FakeLeague(training_failures=[Failure.BAD_INPUT])
    async with begin(league) as handle:
        assert await handle.result() is Status.FAILED
    assert league.calls["train_generation"] == 1
    assert "planted bad_input" in league.statuses[-1][1]


async def test_a_failure_that_stays_unknown_ends_the_trial(begin: Callable, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(attempts, "_delay", lambda failure, tries: timedelta(milliseconds=tries))
    league = FakeLeague(training_failures=[Failure.UNKNOWN] * 5)
    async with begin(league) as handle:
        assert await handle.result() is Status.FAILED
    assert league.calls["train_generation"] == 5


async def test_user_code_that_raises_the_same_twice_in_a_row_ends_the_trial(
    begin: Callable, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(attempts, "_delay", lambda failure, tries: timedelta(milliseconds=tries))
    league = FakeLeague(training_failures=[Failure.USER_CODE, Failure.CREW_LOST, Failure.USER_CODE, Failure.USER_CODE])
    async with begin(league) as handle:
        assert await handle.result() is Status.FAILED
    assert league.calls["train_generation"] == 4, "a lost crew lies between the first two"
    assert "main: user_code: planted user_code" in league.statuses[-1][1]


async def test_a_damaged_checkpoint_is_rolled_back_and_planned_anew(begin: Callable) -> None:
    league = FakeLeague(budget_steps=20, training_failures=[Failure.DAMAGED_CHECKPOINT])
    async with begin(league) as handle:
        assert await handle.result() is Status.COMPLETED
    assert [(each.generation, each.attempt) for each in league.rollbacks] == [(1, 1)]


async def test_players_can_be_added_retuned_and_retired(begin: Callable) -> None:
    league = FakeLeague()
    async with begin(league) as handle:
        await eventually(lambda: len(league.recorded) > 0)
        new = NewPlayer(key="k", name=f"extra-{league.trial}", role=Role.LEAGUE_EXPLOITER)
        added = await handle.execute_update("add_player", new, result_type=Learner)
        league.learners.append(added)
        await eventually(lambda: any(player == added.player for player, _ in league.recorded))
        await handle.execute_update("change_player", PlayerChange(player=added.player, hyperparameters={"clip": 0.1}))
        await handle.execute_update("change_player", PlayerChange(player=added.player, retire=True))
        assert league.calls["retire"] == league.calls["retune"] == 1

        async def ended() -> bool:
            description = await handle._client.get_workflow_handle(player_workflow_id(added.player)).describe()
            return description.status is not None and description.status.name == "COMPLETED"

        await eventually(ended)
        main = league.learners[0].player
        with pytest.raises(WorkflowUpdateFailedError) as refusal:
            await handle.execute_update("change_player", PlayerChange(player=main, retire=True))
        assert "last main" in str(refusal.value.cause)


async def test_orders_and_newcomers_at_once_reach_everybody(begin: Callable) -> None:
    league = FakeLeague(learners=[Learner(player=f"p{n}", name=f"p{n}", role=Role.MAIN) for n in range(4)])
    async with begin(league) as handle:
        await eventually(lambda: len({player for player, _ in league.recorded}) == 4)
        newcomers = [NewPlayer(key=f"k{n}", name=f"new{n}-{league.trial}", role=Role.MAIN) for n in range(4)]
        orders = [handle.execute_update("add_player", new, result_type=Learner) for new in newcomers]
        *added, _ = await asyncio.gather(*orders, handle.execute_update("pause"))
        league.learners += added
        await eventually(lambda: league.statuses[-1][0] == "paused")
        for again in ("resume", "pause", "resume", "pause"):
            await handle.execute_update(again)
        await eventually(lambda: league.statuses[-1][0] == "paused")
        assert len((await status(handle)).players) == 8
        await handle.execute_update("stop", StopOrder(mode=Mode.DRAIN))
        assert await asyncio.wait_for(handle.result(), PATIENCE) is Status.STOPPED


async def test_a_trial_waits_for_its_gates(begin: Callable, temporal: Client) -> None:
    league = FakeLeague(
        budget_steps=20, generation_seconds=0.1, gates={"g": 6, "g-next": 2}, gate_of_generation={1: "g"}
    )
    async with begin(league, runner=sandbox()) as handle:
        assert await handle.result() is Status.COMPLETED
        assert set(league.gates.values()) == {0}, "both gates were played to their end"
        gate = league.gate_of_generation[1]
        assert await temporal.get_workflow_handle(gate_workflow_id(gate)).result() == "passed"
    assert league.calls["play_games"] == 8


async def test_an_operator_stops_a_gate_as_invalid(begin: Callable, temporal: Client) -> None:
    league = FakeLeague(budget_steps=20, generation_seconds=0.1, gates={"g": 10_000}, gate_of_generation={1: "g"})
    async with begin(league) as handle:
        await eventually(lambda: league.calls["play_games"] > 0)
        gate = temporal.get_workflow_handle(gate_workflow_id(league.gate_of_generation[1]))
        await gate.signal("stop", "seen enough")
        assert await gate.result() == "invalid"
        assert league.stopped_gates[0].reason == "seen enough"
        assert await handle.result() is Status.COMPLETED


async def test_many_generations_keep_histories_short(
    begin: Callable, temporal: Client, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(trial, "REPORTS_PER_RUN", 50)
    monkeypatch.setattr(player, "GENERATIONS_PER_RUN", 5)
    learners = [Learner(player=f"p{n}", name=f"p{n}", role=Role.MAIN) for n in range(3)]
    league = FakeLeague(learners=learners, budget_steps=600, generation_seconds=0)
    longest = 0
    async with begin(league) as handle:
        assert await handle.result() is Status.COMPLETED
        ids = [trial_workflow_id(league.trial), *(player_workflow_id(each.player) for each in league.learners)]
        for workflow_id in ids:
            async for run in temporal.list_workflows(f'WorkflowId = "{workflow_id}"'):
                longest = max(longest, run.history_length)
    assert len(league.recorded) >= 60 and Counter(league.recorded).most_common(1)[0][1] == 1
    assert 0 < longest < 400


async def test_a_trial_that_cannot_begin_can_be_stopped(begin: Callable) -> None:
    league = FakeLeague(weights_seconds=60)
    async with begin(league) as handle:
        await eventually(lambda: league.calls["make_initial_weights"] == 1)
        assert (await status(handle)).status is Status.PENDING
        await handle.execute_update("stop", StopOrder(mode=Mode.DRAIN, reason="no worker in sight"))
        assert await asyncio.wait_for(handle.result(), PATIENCE) is Status.STOPPED
    assert league.statuses == [("stopping", "no worker in sight"), ("stopped", "no worker in sight")]
    assert league.calls["enter_players"] == 0 and league.events == []


async def test_a_trial_withdrawn_in_the_store_never_begins(begin: Callable) -> None:
    league = FakeLeague(over=True)
    async with begin(league) as handle:
        assert await asyncio.wait_for(handle.result(), PATIENCE) is Status.STOPPED
    assert league.calls["make_initial_weights"] == league.calls["train_generation"] == 0
    assert [word for word, _ in league.statuses] == ["stopped"]


async def test_a_trial_withdrawn_while_it_begins_ends(begin: Callable) -> None:
    league = FakeLeague(weights_seconds=60)
    async with begin(league) as handle:
        await eventually(lambda: league.calls["make_initial_weights"] == 1)
        await handle.signal("withdraw", "gone")
        assert await asyncio.wait_for(handle.result(), PATIENCE) is Status.STOPPED
    assert league.statuses == [("stopped", "gone")]


async def test_weights_that_were_collected_before_they_were_named_are_made_again(begin: Callable) -> None:
    league = FakeLeague(budget_steps=10, entry_failures=[Failure.DAMAGED_CHECKPOINT])
    async with begin(league) as handle:
        assert await handle.result() is Status.COMPLETED
    assert league.calls["make_initial_weights"] == league.calls["enter_players"] == 2


async def test_garbage_that_cannot_be_collected_is_left(begin: Callable) -> None:
    league = FakeLeague(budget_steps=10, garbage_failures=[Failure.STORE_UNAVAILABLE])
    async with begin(league) as handle:
        assert await handle.result() is Status.COMPLETED
    assert league.calls["collect_garbage"] == 1 and league.garbage_failures == []


@pytest.mark.parametrize("mode", [Mode.NOW, Mode.DRAIN])
async def test_a_stop_cancels_evaluations_and_a_drain_lets_them_finish(
    begin: Callable, temporal: Client, mode: Mode
) -> None:
    # a game that is to be cut short must not end by itself before the stop arrives
    league = FakeLeague(generation_seconds=0.1, play_seconds=60.0 if mode is Mode.NOW else 0.5)
    gauntlet = FakeTournament(rounds=3)
    async with begin(league, *gauntlet.activities()) as handle:
        name = f"gauntlet-{league.trial}"
        league.gauntlets = [name, f"unstarted-{league.trial}"]
        played = await temporal.start_workflow(
            "TournamentWorkflow",
            TournamentState(tournament=name),
            id=tournament_workflow_id(name),
            task_queue=Queue.LEAGUE,
            result_type=str,
        )
        await eventually(lambda: league.calls["play_games"] > 0 and bool(league.recorded))
        await handle.execute_update("stop", StopOrder(mode=mode, reason="enough"))
        assert await asyncio.wait_for(handle.result(), PATIENCE) is Status.STOPPED
        assert await asyncio.wait_for(played.result(), PATIENCE) == ("cancelled" if mode is Mode.NOW else "completed")
    assert [end.now for end in league.evaluation_ends] == [mode is Mode.NOW]
    ends = {(end.tournament.split("-")[0], end.status, end.reason) for end in gauntlet.ended}
    if mode is Mode.NOW:
        why = "its trial ends: enough"
        assert ends == {("gauntlet", "cancelled", why), ("unstarted", "cancelled", why)}
    else:
        assert ends == {("gauntlet", "completed", "")} and len(gauntlet.recorded) == 6
