"""Environments as outside processes: any space and any number of seats, played by the ready-made agent."""

from __future__ import annotations

import asyncio
from collections.abc import Callable
from typing import Any

import numpy as np
import pytest
import yaml
from typer.testing import CliRunner

from lanista.cli import app
from lanista.fakes.model import FakeActor, FakeCasting
from lanista.simulator.declaring import declaration
from lanista.simulator.environments import BadEnvironment, game_id, make_environment
from lanista.simulator.playing import PlayCounts, Quota, Table
from lanista.simulator.wire import Address
from workers.agents.agent_set import load_agents
from workers.agents.environment_agent import EnvironmentAgent
from workers.agents.runner import AgentRunner
from workers.games.protocol import GameSpec
from workers.games.remote import declared_spec
from workers.gateway.contract import Cast, Episode, GameAnswer, Refused
from workers.gateway.models import BatchedModel
from workers.gateway.options import GatewayOptions
from workers.gateway.server import Gateway


class Recording(FakeCasting):
    """Keeps episodes and results."""

    def __post_init__(self) -> None:
        super().__post_init__()
        self.episodes: list[Episode] = []

    def episode(self, cast: Cast, episode: Episode) -> None:
        self.episodes.append(episode)


async def play(env: str, games: int, *, scheme: str = "http", tables: int = 2, **given: Any) -> tuple[Any, PlayCounts]:
    """Play games of an environment through a gateway whose models act at random."""
    made = [
        make_environment(env, given.get("game"), given.get("options", {}), given.get("max_steps"), {})
        for _ in range(tables)
    ]
    spec = declared_spec(declaration(made[0].spec))
    loop, tally = asyncio.get_running_loop(), PlayCounts()
    casting = Recording(spec, BatchedModel(FakeActor(spec), spec, "fake"))
    agents = load_agents(EnvironmentAgent)
    async with Gateway(GatewayOptions(http_port=0, tcp_port=0)) as gateway:
        gateway.play(casting, lambda session, cast: AgentRunner(session, cast, agents, casting, loop))
        await gateway.listen()
        address = Address.parse(f"{scheme}://127.0.0.1:{gateway.ports[scheme]}")
        quota = Quota(games)
        await asyncio.gather(*(Table(table, address, tally).play(quota) for table in made))
    return casting, tally


@pytest.mark.parametrize("scheme", ["http", "tcp"])
async def test_a_gymnasium_environment(scheme: str) -> None:
    casting, tally = await play("CartPole-v1", 5, scheme=scheme)
    assert (tally.games, casting.finished_sessions, tally.refused) == (5, 5, 0), tally
    assert not casting.aborts
    assert casting.returns[0] == pytest.approx(tally.returns[0])
    rows = [len(episode.columns["action"]) for episode in casting.episodes]
    assert sum(rows) == tally.ticks == casting.returns[0]  # a reward of 1 for each step
    assert all(
        episode.over and episode.columns["reward"].sum() == len(episode.columns["reward"])
        for episode in casting.episodes
    )


async def test_truncation_gives_the_final_observation() -> None:
    casting, _ = await play("Pendulum-v1", 2, max_steps=7)
    assert len(casting.episodes) == 2
    for episode in casting.episodes:
        assert not episode.over and episode.final is not None
        assert len(episode.columns["action"]) == 7
        assert episode.columns["obs"].shape == (7, 3) and episode.final["obs"].shape == (1, 3)
        assert not np.array_equal(episode.final["obs"][0], episode.columns["obs"][-1])


async def test_a_turn_based_pettingzoo_game() -> None:
    casting, tally = await play("classic/tictactoe_v3", 4)
    assert (tally.games, casting.finished_sessions) == (4, 4)
    assert casting.returns.sum() == pytest.approx(0)
    for episode in casting.episodes:
        taken = episode.columns["action"]
        assert episode.columns["legal"][np.arange(len(taken)), taken].all()
        assert len(set(taken.tolist())) == len(taken)


async def test_a_simultaneous_game_asks_all_seats_in_one_tick() -> None:
    casting, tally = await play("rock_paper_scissors", 3)
    assert tally.games == 3
    assert {episode.seat for episode in casting.episodes} == {0, 1}


async def test_a_parallel_pettingzoo_game() -> None:
    casting, tally = await play("classic/rps_v2", 2, game="pettingzoo_parallel", max_steps=5)
    assert tally.games == 2 and not casting.aborts


async def test_a_game_without_a_reward_has_a_result_too() -> None:
    casting, tally = await play("rock_paper_scissors", 20, tables=1)
    assert tally.games == casting.finished_sessions == 20 and not casting.aborts


class Ordered(Recording):
    """Has nothing to play at first; whoever asks gets a ticket."""

    def __post_init__(self) -> None:
        super().__post_init__()
        self.tickets: list[str] = []
        self.asked: list[str] = []

    def cast(self, session: str, ticket: str) -> Cast:
        self.tickets.append(ticket)
        if len(self.tickets) == 1:
            raise Refused(503, "nothing to play", 0.01)
        return super().cast(session, ticket)

    def next_game(self, seconds: float, answer: GameAnswer, name: str = "") -> Callable[[], None]:
        self.asked.append(name)
        answer({"ticket": "handed-out", "seed": 1})
        return lambda: None


@pytest.mark.parametrize("scheme", ["http", "tcp"])
async def test_a_simulator_says_which_game_it_plays(scheme: str) -> None:
    table = make_environment("CartPole-v1", None, {}, None, {})
    spec = declared_spec(declaration(table.spec))
    loop, tally = asyncio.get_running_loop(), PlayCounts()
    casting, agents = Ordered(spec, BatchedModel(FakeActor(spec), spec, "fake")), load_agents(EnvironmentAgent)
    async with Gateway(GatewayOptions(http_port=0, tcp_port=0)) as gateway:
        gateway.play(casting, lambda session, cast: AgentRunner(session, cast, agents, casting, loop), casting)
        await gateway.listen()
        address = Address.parse(f"{scheme}://127.0.0.1:{gateway.ports[scheme]}")
        await Table(table, address, tally, "my poles").play(Quota(2))
    assert (casting.asked, casting.tickets) == (["my poles"], ["my poles", "handed-out", "my poles"])


def test_names_of_environments() -> None:
    assert game_id("CartPole-v1") == "gymnasium"
    assert game_id("classic/tictactoe_v3") == "pettingzoo_aec"
    assert game_id("connect_four") == "connect_four"
    with pytest.raises(BadEnvironment, match="pettingzoo_parallel"):
        make_environment("CartPole-v1", "openspiel", {}, None, {})


@pytest.mark.parametrize("env", ["CartPole-v1", "Pendulum-v1", "classic/connect_four_v3", "Taxi-v4", "Blackjack-v1"])
def test_a_declaration_is_the_same_spec(env: str) -> None:
    spec = make_environment(env, None, {}, 50, {}).spec
    again: GameSpec = declared_spec(yaml.safe_load(yaml.safe_dump(declaration(spec))))
    assert (again.seats, again.max_steps, again.simultaneous) == (spec.seats, spec.max_steps, spec.simultaneous)
    assert {name: (part.shape, part.dtype) for name, part in again.observation_parts.items()} == {
        name: (part.shape, part.dtype) for name, part in spec.observation_parts.items()
    }
    assert declaration(again)["action"] == declaration(spec)["action"]


def test_the_command_prints_the_section_of_a_trial_file() -> None:
    done = CliRunner().invoke(app, ["simulator", "--env", "CartPole-v1", "--spec"])
    assert done.exit_code == 0, done.output
    section = yaml.safe_load(done.stdout)["game"]
    assert section["agent"] == "lanista.agents:EnvironmentAgent"
    assert section["spec"]["action"] == {"type": "discrete", "n": 2}


def test_the_command_says_what_is_wrong() -> None:
    for arguments, words in (
        (["--env", "NoSuchEnv-v0", "--gateway", "http://127.0.0.1:1"], "NoSuchEnv"),
        (["--env", "CartPole-v1"], "http://HOST:PORT"),
        (["--env", "CartPole-v1", "--options", "{"], "not JSON"),
    ):
        done = CliRunner().invoke(app, ["simulator", *arguments])
        assert done.exit_code == 1 and words in done.stderr, done.output
