"""Fakes: set answers, scripted games, percentiles, random models behind real agents, made-up experience."""

from __future__ import annotations

import asyncio
import json
import random
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from typer.testing import CliRunner

from lanista.cli import app
from lanista.fakes.answers import Answers
from lanista.fakes.buffer import updates
from lanista.fakes.gamecore import GameLoad, Load
from lanista.fakes.latencies import Latencies
from lanista.fakes.made_up_game import MadeUpGame
from lanista.fakes.model import FakeActor
from lanista.fakes.scripts import BadScript, load
from lanista.simulator.wire import Address, BadAddress
from orchestrator.spec.reading.loading import parse_trial
from tests.unit.gamecores.conftest import Served, serving
from workers.games.names import make_game
from workers.gateway.options import GatewayOptions

both = pytest.mark.parametrize("scheme", ["http", "tcp"])


def test_percentiles_of_latencies_are_right_to_four_per_cent() -> None:
    rng = random.Random(7)
    drawn = [rng.lognormvariate(-7, 1) for _ in range(5000)]
    latencies = Latencies()
    for each in drawn:
        latencies.add(each)
    for share in (0.5, 0.9, 0.99, 1.0):
        exact = float(np.quantile(drawn, share, method="inverted_cdf"))
        assert latencies.percentile(share) == pytest.approx(exact, rel=0.04)
    assert Latencies().percentile(0.5) == 0.0


def test_percentiles_since_a_copy() -> None:
    latencies = Latencies()
    latencies.add(1.0)
    before = latencies.copy()
    for _ in range(10):
        latencies.add(0.001)
    assert latencies.since(before).total == 10
    assert latencies.since(before).percentile(1.0) == pytest.approx(0.001, rel=0.04)


# Games


@both
async def test_fake_games_play_through_a_gateway(served: Served, answers: Answers, scheme: str) -> None:
    wanted = Load(Address.parse(served.url(scheme)), sessions=5, connections=2, ticks=3, games=11)
    outcome = await GameLoad(wanted).run()
    assert (outcome.finished, outcome.open, outcome.ticks.total) == (11, 0, 33)
    assert (answers.started, answers.ended, answers.ticks) == (11, 11, 33)
    assert not outcome.refused and not outcome.lost


async def test_all_sessions_are_open_before_the_first_ends(served: Served, answers: Answers) -> None:
    open_at_end: list[int] = []
    answers.script = {"end": lambda session, body: open_at_end.append(answers.started - answers.ended)}
    await GameLoad(Load(Address.parse(served.http), sessions=20, connections=1, ticks=1, games=20)).run()
    assert open_at_end[0] == 20


async def test_a_rate_paces_requests(served: Served) -> None:
    run = GameLoad(Load(Address.parse(served.http), sessions=4, connections=4, ticks=10, rate=200.0))
    outcome = await run.run(0.5)
    assert 1 <= outcome.requests <= 0.5 * 200 + 4  # on a slow machine fewer, never more


async def test_refusals_are_counted_and_the_games_go_on(served: Served, answers: Answers) -> None:
    answers.fail_every = 4
    outcome = await GameLoad(Load(Address.parse(served.http), sessions=1, ticks=3, games=3)).run()
    assert dict(outcome.refused) == {"500: A made-up failure: every 4th tick fails.": 1}
    assert (outcome.finished, answers.ended, answers.aborts) == (2, 2, 1)


async def test_a_lost_connection_is_opened_again(answers: Answers) -> None:
    with serving(lambda gateway: gateway.play(answers, answers.runner)) as first:
        port = first.gateway.ports["http"]
        run = GameLoad(Load(Address.parse(first.http), sessions=2, ticks=1_000_000))
        playing = asyncio.create_task(run.run())
        while not run.outcome.ticks.total:
            await asyncio.sleep(0.01)
    again = GatewayOptions(http_port=port, tcp_port=0)
    with serving(lambda gateway: gateway.play(answers, answers.runner), again):
        before = run.outcome.ticks.total
        while run.outcome.ticks.total == before:
            await asyncio.sleep(0.01)
    playing.cancel()
    assert run.outcome.lost >= 2


async def test_a_script_decides_what_games_send(served: Served, answers: Answers, tmp_path: Path) -> None:
    seen: list[tuple[str, bytes]] = []
    answers.on_step = lambda step, answer: seen.append((step.kind.value, step.body))
    path = tmp_path / "game.py"
    path.write_text(
        "def start(game): return f'game {game}'\n"
        "def tick(game, tick, reply): return reply + b'!' if tick < 2 else None\n"
        "def end(game, reply): return 'end'\n"
    )
    script = load(path, ("start", "tick", "end"))
    await GameLoad(Load(Address.parse(served.http), games=1, script=script)).run()
    assert seen == [("start", b"game 1"), ("tick", b"hello!"), ("tick", b"right!"), ("end", b"end")]


async def test_an_error_of_the_script_is_its_own(served: Served) -> None:
    def tick(game: int, tick: int, reply: bytes) -> bytes:
        raise KeyError("my own mistake")

    with pytest.raises(KeyError, match="my own mistake"):
        await GameLoad(Load(Address.parse(served.http), script={"tick": tick})).run()


def test_bad_scripts_are_explained(tmp_path: Path) -> None:
    path = tmp_path / "script.py"
    with pytest.raises(BadScript, match="there is no script"):
        load(path, ("tick",))
    path.write_text("def tok(): ...")
    with pytest.raises(BadScript, match="none of the functions that are called: tick"):
        load(path, ("tick",))
    path.write_text("tick = 3")
    with pytest.raises(BadScript, match="tick is a int, not a function"):
        load(path, ("tick",))


def test_bad_addresses_are_explained() -> None:
    with pytest.raises(BadAddress, match="http://HOST:PORT"):
        Address.parse("localhost:8810")


def test_the_command_prints_percentiles_and_throughput(served: Served) -> None:
    command = ["fake", "gamecore", served.tcp, "--sessions", "4", "--games", "8", "--ticks", "5", "--json"]
    done = CliRunner().invoke(app, command)
    assert done.exit_code == 0, done.output
    record = json.loads(done.stdout)
    assert (record["ticks"], record["finished"]) == (40, 8)
    assert 0 < record["p50_ms"] <= record["p99_ms"] <= record["max_ms"] and record["ticks_per_s"] > 0


def test_the_command_says_where_no_gateway_is() -> None:
    done = CliRunner().invoke(app, ["fake", "gamecore", "http://127.0.0.1:9", "--games", "1"])
    assert done.exit_code == 1
    assert "no gateway can be reached there" in done.stderr


# Agents


async def test_the_fake_agent_scripts_and_delays(answers: Answers) -> None:
    answers.script = {"tick": lambda session, body: f"{session}: {body.decode()}"}
    answers.delay = 0.001
    with serving(lambda gateway: gateway.play(answers, answers.runner)) as served:
        seen: list[Any] = []
        answers.on_step = lambda step, answer: seen.append(answer)
        await GameLoad(Load(Address.parse(served.http), ticks=1, games=1, body=b"x")).run()
    assert len(seen) == 3 and seen[0] == b"hello" and seen[1].endswith(b"-1: x")


async def test_a_failing_script_of_the_fake_agent_is_a_refusal(served: Served, answers: Answers) -> None:
    answers.script = {"tick": lambda session, body: {}}
    outcome = await GameLoad(Load(Address.parse(served.http), ticks=1, games=1)).run()
    assert list(outcome.refused) == [
        "500: The script's tick() failed: BadScript: tick() returned a dict; it must return bytes, text or None"
    ]


# Models and buffers


def test_a_fake_model_draws_legal_actions() -> None:
    spec = make_game("tic_tac_toe", 1).spec
    legal = np.zeros((50, 9), np.bool_)
    legal[:, [2, 5]] = True
    actions = FakeActor(spec).act({"obs": np.zeros((50, *spec.observation_shape)), "legal": legal}, None)["action"]
    assert set(actions.tolist()) == {2, 5}


def test_a_fake_model_by_a_script() -> None:
    spec = make_game("tic_tac_toe", 1).spec
    rows = {"obs": np.zeros((3, *spec.observation_shape))}
    assert FakeActor(spec, {"act": lambda rows, rng: [4] * 3}).act(rows, None)["action"].tolist() == [4, 4, 4]
    with pytest.raises(BadScript, match=r"act\(\) returned shape \(2,\)"):
        FakeActor(spec, {"act": lambda rows, rng: [4] * 2}).act(rows, None)


@pytest.mark.parametrize("game", ["connect_four", "rock_paper_scissors"])
def test_made_up_games_fit_their_spaces(game: str) -> None:
    spec = make_game(game, 1).spec
    made = MadeUpGame(spec, 8, mean_length=3)
    made.reset(np.arange(8, dtype=np.uint64))
    ended = 0
    for _ in range(30):
        turn = made.turn()
        assert turn.observations.shape[1:] == spec.observation_shape
        ended += int(made.step(made.layout.draw(np.random.rand(len(turn.tables), 1))).done.sum())
    assert ended > 0


@pytest.mark.parametrize(
    "algorithm",
    [
        "{id: ppo, rollout_steps: 8, minibatch: 64}",
        "{id: dqn, rollout_steps: 8, minibatch: 32, warm_up: 64, capacity: 1000, replay_ratio: 1}",
    ],
)
def test_an_algorithm_trains_on_made_up_experience(algorithm: str) -> None:
    trial = parse_trial(f"game: {{id: tic_tac_toe}}\nalgorithm: {algorithm}")
    made = list(updates(trial, count=2, tables=16, mean_length=4, script={}))
    assert [update.number for update in made] == [1, 2]
    assert all(update.rows > 0 and np.isfinite(list(update.metrics.values())).all() for update in made)


def test_the_command_trains_on_made_up_experience(tmp_path: Path) -> None:
    path, script = tmp_path / "trial.yaml", tmp_path / "script.py"
    path.write_text("game: {id: tic_tac_toe}\nalgorithm: {id: ppo, rollout_steps: 8, minibatch: 64}\n")
    script.write_text("def rewards(tables, seats, rng): return rng.normal(size=(tables, seats))\n")
    command = ["fake", "buffer", str(path), "--updates", "1", "--tables", "8", "--script", str(script), "--json"]
    done = CliRunner().invoke(app, command)
    assert done.exit_code == 0, done.output
    (update,) = json.loads(done.stdout)
    assert update["rows"] > 0 and "entropy" in update["metrics"]


def test_a_fake_agent_listens_on_this_machine_only_unless_it_has_a_token() -> None:
    done = CliRunner().invoke(app, ["fake", "agent", "--host", "0.0.0.0", "--port", "0"])
    assert done.exit_code != 0
    assert "LANISTA_GATEWAY_TOKEN" in str(done.exception)
