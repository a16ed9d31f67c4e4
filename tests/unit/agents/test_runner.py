"""Requests of a session: replies, episodes, results and failures."""

from __future__ import annotations

import asyncio
from typing import Any

import numpy as np
import pytest

from lanista.agents import Agent, Episode, Refused
from tests.unit.agents.sessions import Counter, FakeModel, Session, cast, turns


async def test_a_session_from_start_to_end() -> None:
    session = Session(Counter)
    assert session.ask("start", b'"world"') == b'{"hello":"world"}'
    assert session.ask("tick", b"[[3,0.5,0],0]") == b'{"action":3,"tick":1}'
    assert session.ask("tick", b"[[2,0.25,0],0.5]") == b'{"action":2,"tick":2}'
    assert session.ask("end", b"[1,-1]") == b'"bye"'
    (episode,), (result,) = session.director.episodes, session.director.results
    assert session.runner.over and session.closed == 1 and session.director.aborts == []
    assert (result.session, result.returns.tolist(), result.ticks) == ("s1", [1.0, -1.0], 2)
    assert (episode.session, episode.seat, episode.over, episode.final) == ("s1", 0, True, None)
    assert episode.columns["obs"].tolist() == [[3, 0.5, 0], [2, 0.25, 0]]
    assert episode.columns["action"].tolist() == [3, 2]
    assert episode.columns["reward"].tolist() == [0.5, 0.0], "a declared result does not add to rewards that were given"
    assert episode.columns["legal"].all() and episode.columns["legal"].shape == (2, 4)
    assert episode.acted_by is not None and episode.acted_by.tolist() == [1, 1]


async def test_a_result_is_the_last_reward_where_none_was_given() -> None:
    session = Session(Counter)
    session.ask("start")
    session.ask("tick", b"[[3,0,0],0]")
    session.ask("tick", b"[[3,0,0],0]")
    session.ask("end", b"[1,-1]")
    assert session.director.episodes[0].columns["reward"].tolist() == [0.0, 1.0]


async def test_returns_are_rewards_summed_where_no_result_was_declared() -> None:
    session = Session(Counter)
    session.ask("start")
    session.ask("tick", b"[[3,0,0],0.5]")
    session.ask("tick", b"[[3,0,0],2]")
    session.ask("end")
    assert session.director.results[0].returns.tolist() == [2.5, 0.0]
    assert session.director.episodes[0].columns["reward"].tolist() == [2.0, 0.0], "0.5 came before any decision"


async def test_a_game_that_counts_needs_a_result() -> None:
    session = Session(Counter)
    session.ask("start")
    session.ask("tick", b"[[3,0,0],0]")
    refusal = session.refused("end")
    assert refusal.status == 500 and "without a result" in refusal.text
    assert session.director.results == [] and session.director.episodes == []
    assert len(session.director.aborts) == 1

    served = Session(Counter, cast(purpose="serving"))
    served.ask("start")
    served.ask("end")
    assert served.director.results[0].returns.tolist() == [0.0, 0.0]


@pytest.mark.parametrize(
    ("before", "kind", "words"),
    [
        ([], "tick", "has not started"),
        ([], "end", "has not started"),
        (["start"], "start", "has started already"),
        (["start", "end"], "tick", "is over"),
        (["start", "end"], "end", "is over"),
        (["start", "end"], "start", "is over"),
    ],
)
async def test_requests_out_of_order_are_refused(before: list[str], kind: str, words: str) -> None:
    session = Session(Counter)
    for each in before:
        session.ask(each, b"[0,0]" if each == "end" else b"")
    refusal = session.refused(kind)
    assert refusal.status == 409 and words in refusal.text


async def test_a_tick_while_one_is_under_way_is_refused_and_harms_nothing() -> None:
    model = FakeModel(later=True)
    session = Session(Counter, cast(model))
    session.ask("start")
    first = session.send("tick", b"[[1,0,0],0]")
    assert first == []
    assert "under way" in session.refused("tick", b"[[2,0,0],0]").text
    assert session.runner.busy
    model.answer()
    assert first == [b'{"action":1,"tick":1}'] and not session.runner.busy


async def test_a_body_that_cannot_be_read_is_refused_and_the_session_goes_on() -> None:
    session = Session(Counter)
    session.ask("start")
    refusal = session.refused("tick", b"[[1,")
    assert refusal.status == 400 and "not JSON" in refusal.text
    assert session.ask("tick", b"[[1,0,0],0]") == b'{"action":1,"tick":1}'


async def test_a_start_that_is_refused_leaves_nothing_open() -> None:
    session = Session(Counter)
    assert session.refused("start", b"{").status == 400
    assert session.runner.over and session.closed == 1 and len(session.director.aborts) == 1


class Broken(Counter):
    async def on_tick(self, data: Any) -> Any:
        await self.forward([0, 0, 0])
        raise KeyError("no such unit")


class Exits(Counter):
    def on_tick(self, data: Any) -> Any:
        raise SystemExit(3)


@pytest.mark.parametrize(("agent", "words"), [(Broken, "KeyError: 'no such unit'"), (Exits, "SystemExit: 3")])
async def test_a_failing_agent_aborts_its_session_and_says_where(
    agent: type[Agent], words: str, capsys: pytest.CaptureFixture[str]
) -> None:
    session = Session(agent)
    session.ask("start")
    refusal = session.refused("tick", b"[[1,0,0],0]")
    assert refusal.status == 500
    assert f"{agent.__name__}.on_tick failed: {words} (test_runner.py, line " in refusal.text
    assert session.runner.over and session.closed == 1
    (reason,) = session.director.aborts
    assert words in reason and session.director.results == [] and session.director.episodes == []
    assert "test_runner.py" in capsys.readouterr().out, "the user's own traceback is in the log"
    assert session.refused("tick").status == 409


async def test_a_model_that_fails_fails_the_tick() -> None:
    model = FakeModel()
    model.failure = RuntimeError("no GPU")
    session = Session(Counter, cast(model))
    session.ask("start")
    assert "RuntimeError: no GPU" in session.refused("tick", b"[[1,0,0],0]").text


class Picky(Counter):
    def on_tick(self, data: Any) -> Any:
        raise Refused(422, "only kings")


async def test_an_agent_may_refuse_a_tick_and_go_on() -> None:
    session = Session(Picky)
    session.ask("start")
    refusal = session.refused("tick", b"1")
    assert (refusal.status, refusal.text) == (422, "only kings")
    session.ask("end", b"[0,0]")
    assert len(session.director.results) == 1


async def test_abort_closes_what_runs_and_answers_what_waits() -> None:
    model = FakeModel(later=True)
    session = Session(Counter, cast(model))
    session.ask("start")
    waiting = session.send("tick", b"[[1,0,0],0]")
    session.runner.abort("it fell silent")
    (reply,) = waiting
    assert isinstance(reply, Refused) and reply.status == 410 and "it fell silent" in reply.text
    model.answer()
    assert len(waiting) == 1 and session.director.aborts == ["it fell silent"]
    session.runner.abort("again")
    assert session.director.aborts == ["it fell silent"] and session.closed == 1


class Shaped(Counter):
    episode_length = 2

    async def on_episode(self, episode: Episode) -> Any:
        await asyncio.sleep(0)
        if episode.over:
            return False
        episode.columns["reward"] = episode.columns["reward"] * 2
        return None


async def test_episodes_are_cut_and_pass_through_on_episode() -> None:
    session = Session(Shaped)
    session.ask("start")
    for tick in range(3):
        session.ask("tick", b"[[%d,0.5,0],1]" % tick)
    await turns()
    (episode,) = session.director.episodes
    assert episode.columns["reward"].tolist() == [2.0, 2.0] and not episode.over
    assert episode.final is not None and episode.final["obs"].tolist() == [[2, 0.5, 0]]
    assert episode.final["value"].tolist() == [0.5]
    end = session.send("end", b"[3,0]")
    assert end == [], "the last episode is still with the agent"
    await turns()
    assert end == [b'"bye"'] and len(session.director.episodes) == 1 and len(session.director.results) == 1


class Spoils(Counter):
    def on_episode(self, episode: Episode) -> Any:
        episode.columns["reward"] = np.full(len(episode.columns["reward"]), np.nan)


async def test_rewards_that_are_not_finite_are_refused() -> None:
    session = Session(Spoils)
    session.ask("start")
    session.ask("tick", b"[[1,0,0],0]")
    assert "finite number a row after on_episode" in session.refused("end", b"[1,0]").text
    assert session.director.episodes == [] and session.director.results == []


async def test_auto_is_one_tick_without_a_session() -> None:
    class Plain(Agent):
        async def on_tick(self, data: Any) -> Any:
            return await self.forward(data, seat=1)

    session = Session(Plain, cast(purpose="serving"))
    assert session.ask("auto", b"[2,0,0]") == b"2"
    session.runner.abort("it has no result")
    assert session.director.results == [] and session.director.aborts == ["it has no result"]
    assert Session(Plain).refused("auto", b"[2,0,0]").status == 400


class Unwilling(Counter):
    def on_start(self, data: Any) -> Any:
        raise Refused(403, "not this map")


async def test_an_agent_that_refuses_to_start_leaves_no_session() -> None:
    session = Session(Unwilling)
    assert session.refused("start").status == 403
    assert session.runner.over and session.director.aborts == ["not this map"]


async def test_a_director_that_fails_harms_no_game(capsys: pytest.CaptureFixture[str]) -> None:
    session = Session(Counter)

    def broken(*what: Any) -> None:
        raise OSError("disk full")

    session.director.episode = broken  # type: ignore[method-assign]
    session.ask("start")
    session.ask("tick", b"[[1,0,0],0]")
    assert session.ask("end", b"[1,0]") == b'"bye"'
    assert "disk full" in capsys.readouterr().out
