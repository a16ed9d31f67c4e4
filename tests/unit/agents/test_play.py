"""What agents may do: models by name, overrides, truncation, recurrent state, metrics, seats."""

from __future__ import annotations

from dataclasses import replace
from typing import Any

import numpy as np
import pytest
from gymnasium import spaces

from lanista.agents import Agent
from tests.unit.agents.sessions import FakeModel, Session, cast
from workers.agents.play import MOST_METRICS
from workers.games.protocol import GameSpec


class Script(Agent):
    """Runs the lines of a test: `script` is called with the agent at every tick."""

    script: Any = None

    def on_start(self, data: Any) -> Any:
        self.seat = 0

    def on_tick(self, data: Any) -> Any:
        return type(self).script(self)

    def on_end(self, data: Any) -> Any:
        self.result([1, 0])


def scripted(script: Any, **attributes: Any) -> type[Agent]:
    return type("Scripted", (Script,), {"script": staticmethod(script), **attributes})


def problem(script: Any, played: Any = None) -> str:
    """The words with which a tick fails."""
    session = Session(scripted(script), played)
    session.ask("start")
    return session.refused("tick").text


async def test_the_model_of_a_seat_or_one_by_name_decides() -> None:
    mine, other, extra = FakeModel("main-3"), FakeModel("rival-1"), FakeModel("teacher")
    played = replace(cast(mine, other), models={"teacher": extra})

    async def script(agent: Agent) -> Any:
        await agent.forward([1, 0, 0])
        await agent.forward([2, 0, 0], seat=1)
        await agent.forward([3, 0, 0], model="rival-1")
        return await agent.forward([0, 0, 0], model="teacher")

    session = Session(scripted(script), played)
    session.ask("start")
    session.ask("tick")
    assert [len(model.rows) for model in (mine, other, extra)] == [1, 2, 1]
    session.ask("end")
    assert session.director.episodes[0].columns["action"].tolist() == [1], "only the learner's own decisions are learnt"
    unknown = problem(lambda agent: agent.forward([0, 0, 0], model="x"))
    assert "there is no model 'x' in this session; it has fake" in unknown


async def test_a_seat_that_the_game_plays_has_no_model_and_may_be_named() -> None:
    played = cast(FakeModel(), None)
    assert "seat 1 is played by the game itself" in problem(lambda agent: agent.forward([0, 0, 0], seat=1), played)

    def script(agent: Agent) -> None:
        agent.played_by(1, "grandmaster")

    session = Session(scripted(script), played)
    session.ask("start")
    session.ask("tick")
    session.ask("end")
    assert session.director.results[0].outside == {1: "grandmaster"}
    assert "seat 0 was played by fake" in problem(lambda agent: agent.played_by(0, "me"))


async def test_the_only_seat_of_a_model_is_meant_where_none_is_named() -> None:
    def script(agent: Agent) -> Any:
        agent.seat = None
        return agent.forward([2, 0, 0])

    session = Session(scripted(script), cast(None, FakeModel(), learning=(1,)))
    session.ask("start")
    assert session.ask("tick") == b"2"
    session.ask("end")
    assert [episode.seat for episode in session.director.episodes] == [1]
    assert "say which seat: models play seats [0, 1]" in problem(script)
    assert "there is no seat 2; the game has seats 0 to 1" in problem(lambda agent: agent.reward(1, seat=2))
    assert "there is no seat -1" in problem(lambda agent: agent.forward([0, 0, 0], seat=-1))


@pytest.mark.parametrize(("log_prob", "actions"), [(True, [1, 1]), (False, [1, 3, 1])])
async def test_overridden_decisions_are_learnt_from_only_without_probabilities(
    log_prob: bool, actions: list[int]
) -> None:
    async def script(agent: Agent) -> Any:
        chosen = await agent.forward([1, 0, 0])
        if agent.tick == 2:
            chosen = agent.override(3)
        agent.reward(agent.tick)
        return chosen

    session = Session(scripted(script), cast(FakeModel(log_prob=log_prob)))
    session.ask("start")
    assert [session.ask("tick") for _ in range(3)] == [b"1", b"3", b"1"]
    session.ask("end")
    (episode,) = session.director.episodes
    assert episode.columns["action"].tolist() == actions
    assert episode.columns["reward"].tolist() == ([3.0, 3.0] if log_prob else [1.0, 2.0, 3.0]), "no reward is lost"


async def test_a_tree_that_decides_alone_leaves_earlier_decisions_as_they_are() -> None:
    async def script(agent: Agent) -> Any:
        return agent.override(3) if agent.tick == 2 else await agent.forward([1, 0, 0])

    session = Session(scripted(script))
    session.ask("start")
    assert [session.ask("tick") for _ in range(3)] == [b"1", b"3", b"1"]
    session.ask("end")
    assert session.director.episodes[0].columns["action"].tolist() == [1, 1]


async def test_an_override_must_be_an_action() -> None:
    assert "9 is no action of Discrete(4)" in problem(lambda agent: agent.override(9))
    assert "1.5 is no action of Discrete(4)" in problem(lambda agent: agent.override(1.5))
    assert "'left' is no action" in problem(lambda agent: agent.override("left"))


async def test_a_truncated_game_bootstraps_from_its_final_observation() -> None:
    async def script(agent: Agent) -> Any:
        if agent.tick == 2:
            agent.truncated([0, 0.75, 0])
            return None
        return await agent.forward([1, 0, 0])

    session = Session(scripted(script))
    session.ask("start")
    session.ask("tick")
    session.ask("tick")
    session.ask("end")
    (episode,), (result,) = session.director.episodes, session.director.results
    assert result.truncated and not episode.over and episode.final is not None
    assert episode.final["value"].tolist() == [0.75]


async def test_recurrent_state_is_kept_for_each_seat() -> None:
    model = FakeModel(state=2)

    async def script(agent: Agent) -> Any:
        await agent.forward([1, 0, 0])
        return await agent.forward([1, 0, 0], seat=1)

    session = Session(scripted(script, episode_length=2), cast(model))
    session.ask("start")
    for _ in range(3):
        session.ask("tick")
    session.ask("end")
    first, last = session.director.episodes
    assert first.columns["state"].tolist() == [[0, 0], [1, 1]], "the state before each decision"
    assert first.final is not None and first.final["state"].tolist() == [[2, 2]]
    assert last.columns["state"].tolist() == [[2, 2]]


async def test_a_recurrent_seat_decides_one_at_a_time() -> None:
    def script(agent: Agent) -> Any:
        agent.forward([1, 0, 0])
        agent.forward([1, 0, 0])

    assert "await that decision first" in problem(script, cast(FakeModel(state=2, later=True)))


async def test_weights_of_another_shape_begin_with_a_new_state() -> None:
    model = FakeModel(state=2)
    session = Session(scripted(lambda agent: agent.forward([1, 0, 0])), cast(model, learning=()))
    session.ask("start")
    session.ask("tick")
    model.actor = FakeModel(state=3).actor
    session.ask("tick")
    assert model.rows[-1]["state"].tolist() == [[0, 0, 0]]


async def test_metrics_are_averaged_and_limited() -> None:
    def script(agent: Agent) -> Any:
        agent.metric("damage", agent.tick)

    session = Session(scripted(script))
    session.ask("start")
    for _ in range(3):
        session.ask("tick")
    session.ask("end")
    assert session.director.results[0].metrics == {"damage": 2.0}
    assert "metric 'x' is nan; allowed: a finite number" in problem(lambda agent: agent.metric("x", np.nan))
    assert "metric 'x' is 'much'; allowed: a number" in problem(lambda agent: agent.metric("x", "much"))

    def many(agent: Agent) -> None:
        for number in range(MOST_METRICS + 1):
            agent.metric(f"m{number}", 1)

    assert f"at most {MOST_METRICS} metrics" in problem(many)


async def test_numbers_that_are_wrong_are_refused() -> None:
    assert "a reward is inf; allowed: a finite number" in problem(lambda agent: agent.reward(float("inf")))
    assert "a reward is 1e+31; allowed: at most 1e+30" in problem(lambda agent: agent.reward(1e31))
    assert "a return for each of the 2 seats, not [1]" in problem(lambda agent: agent.result([1]))
    assert "not {0: 1}" in problem(lambda agent: agent.result({0: 1}))


async def test_a_game_longer_than_its_max_steps_is_refused_where_it_counts() -> None:
    spec = GameSpec(id="short", seats=1, observation_shape=(3,), actions=4, max_steps=2)
    for purpose in ("training", "serving"):
        session = Session(scripted(lambda agent: agent.forward([1, 0, 0])), cast(spec=spec, purpose=purpose))
        session.ask("start")
        session.ask("tick")
        session.ask("tick")
        if purpose == "training":
            assert "at most max_steps: 2" in session.refused("tick").text
        else:
            assert session.ask("tick") == b"1"


async def test_random_numbers_come_from_the_sessions_seed() -> None:
    session, same = (Session(scripted(lambda agent: agent.rng.integers(1000))) for _ in range(2))
    for each in (session, same):
        each.ask("start")
    assert session.ask("tick") == same.ask("tick")


async def test_a_mask_can_be_made_of_numbers_and_must_allow_something() -> None:
    model = FakeModel()
    session = Session(scripted(lambda agent: agent.forward([1, 0, 0], agent.mask([1, 3]))), cast(model))
    session.ask("start")
    session.ask("tick")
    assert model.rows[0]["legal"].tolist() == [[False, True, False, True]]
    assert "forbids all actions" in problem(lambda agent: agent.forward([1, 0, 0], [0, 0, 0, 0]))
    assert "has shape (2,); the game has (4,)" in problem(lambda agent: agent.forward([1, 0, 0], [1, 3]))
    assert "other numbers than 0 and 1" in problem(lambda agent: agent.forward([1, 0, 0], [0, 1, 2, 3]))


@pytest.mark.parametrize(
    ("observation", "words"),
    [
        ([1, 2], "the observation has shape (2,); the game's space has (3,)"),
        (["a", "b", "c"], "cannot be read as float32"),
        ([1, 2, float("nan")], "holds a number that is not finite"),
        ([[1], [2, 3]], "cannot be read as float32"),
    ],
)
async def test_observations_that_do_not_fit_are_refused(observation: Any, words: str) -> None:
    assert words in problem(lambda agent: agent.forward(observation))


async def test_an_observation_is_copied() -> None:
    board = np.zeros(3, np.float32)

    def script(agent: Agent) -> Any:
        board[:] = agent.tick
        return agent.forward(board)

    session = Session(scripted(script))
    session.ask("start")
    session.ask("tick")
    session.ask("tick")
    session.ask("end")
    assert session.director.episodes[0].columns["obs"][:, 0].tolist() == [1, 2]


async def test_spaces_of_parts_and_continuous_actions() -> None:
    observation = spaces.Dict(
        {"map": spaces.Box(0, 255, (2, 2), np.uint8), "unit": spaces.Dict({"kind": spaces.Discrete(3)})}
    )
    action = spaces.Dict({"aim": spaces.Box(-1, 1, (2,), np.float32), "fire": spaces.Discrete(2, start=1)})
    spec = GameSpec(id="tank", seats=1, observation=observation, action=action, max_steps=9)

    class Aims(FakeModel):
        def _decide(self, rows: Any) -> Any:
            return {"action": np.array([[0.5, 4.0, 1.0]], np.float32)}

    model = Aims()

    async def script(agent: Agent) -> Any:
        chosen = await agent.forward({"map": [[1, 2], [3, 4]], "unit": {"kind": 2}})
        assert agent.override(chosen)["fire"] == chosen["fire"] == 2
        return chosen

    session = Session(scripted(script), cast(model, spec=spec))
    session.ask("start")
    assert session.ask("tick") == b'{"aim":[0.5,1.0],"fire":2}', "numbers of a Box are clipped to its bounds"
    assert model.rows[0]["obs/map"].dtype == np.uint8 and model.rows[0]["obs/unit/kind"].tolist() == [2]
    for wrong, words in (
        ({"map": [[1, 2], [3, 400]], "unit": {"kind": 2}}, "numbers that this type does not have"),
        ({"map": [[1, 2], [3, 0.5]], "unit": {"kind": 2}}, "numbers that this type does not have"),
        ({"map": [[1, 2], [3, 4]]}, "the game's space has map, unit"),
        ({"map": [[1, 2], [3, 4]], "unit": 3}, "observation 'unit' is a int; the game's space has kind"),
    ):
        assert words in problem(lambda agent, wrong=wrong: agent.forward(wrong), cast(model, spec=spec))
