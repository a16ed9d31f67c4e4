"""Generations on games that call in: exact batches, tallies by opponent and seat, and connections that are lost."""

import time
from collections.abc import Iterator
from dataclasses import replace
from pathlib import Path

import numpy as np
import pytest
import torch

from lanista.agents import GenericAgent
from orchestrator.catalog import Component
from orchestrator.contracts.generations import GenerationTask, PlannedOpponent
from tests.unit.gateway.league_games import GAME, GatewayThread
from workers.activities.gamecores import GamecoreWatch
from workers.algorithms.building import build_learner
from workers.algorithms.contract import make_algorithm
from workers.crews.generation import crew_plan
from workers.crews.remote_rollouts import RemoteRollouts
from workers.games.names import make_game
from workers.games.remote import RemoteGame
from workers.rollout.remote import RemoteSampler
from workers.rollout.seating import seat
from workers.user_errors import UserCodeError

PPO = Component(id="ppo", options={"rollout_steps": 8, "minibatch": 32})
MLP = Component(id="mlp", options={"hidden": [16]})


class Failing(GenericAgent):
    """Raises in every game."""

    async def on_tick(self, data: object) -> object:
        raise ValueError("the user's own")


def opponent(bot: str, share: float) -> PlannedOpponent:
    return PlannedOpponent(player=bot, version=bot, probability=share, bot=bot, player_name=bot)


def task(*opponents: PlannedOpponent, **more: object) -> GenerationTask:
    return GenerationTask(
        player="main",
        version="v1",
        checkpoint=None,
        game=GAME,
        model=MLP,
        algorithm=PPO,
        steps=512,
        seed=3,
        opponents=opponents,
        tables=16,
        **more,
    )


@pytest.fixture
def gateway(tmp_path: Path) -> Iterator[GatewayThread]:
    thread = GatewayThread(tmp_path)
    yield thread
    thread.stop()


class Trainer:
    """The sampling side of a crew, without Ray."""

    def __init__(self, given: GenerationTask, *gateways: GatewayThread) -> None:
        access = replace(gateways[0].access, addresses=tuple(each.access.addresses[0] for each in gateways))
        plan = replace(crew_plan(given), gateways=access)
        game = make_game(given.game.id, given.tables, **given.game.options)
        assert isinstance(game, RemoteGame)
        self.rollouts = RemoteRollouts(plan, game, 0)
        self.algorithm = make_algorithm(given.algorithm)
        self.learner = build_learner(self.algorithm, given.model, game.spec, given.seed)
        self.given, self.spec = given, game.spec
        self.stopped = False

    def sampler(self) -> RemoteSampler:
        rng = np.random.default_rng(1)
        seating = seat(tables=self.given.tables, teams=self.spec.teams, shares=self.given.shares, rng=rng)
        actor = self.algorithm.actor(self.learner.all_nets())
        return self.rollouts.sampler(self.given, seating, actor, self.algorithm, self.learner.nets, self._check)

    def _check(self) -> None:
        if self.stopped:
            raise InterruptedError

    def close(self) -> None:
        self.rollouts.close()


def play_out(sampler: RemoteSampler) -> None:
    deadline = time.monotonic() + 10
    while sampler.play_out(1):
        assert time.monotonic() < deadline


def test_a_generation_collects_exact_batches_and_counts_results(gateway: GatewayThread) -> None:
    trainer = Trainer(task(opponent("random", 0.5), opponent("outside-house", 0.5)), gateway)
    sampler = trainer.sampler()
    for update in range(1, 4):
        sampler.acted_by = update
        batch = sampler.collect()
        assert batch.trainable_rows == 8 * 16 // 2  # the learner has one of two seats
        assert batch.acted_by.max() <= update
        assert np.isfinite(batch.log_probs).all()
        with torch.no_grad():
            for parameter in trainer.learner.nets.parameters():
                parameter += 0.01
    assert sampler.steps == 3 * 8 * 16
    play_out(sampler)
    counts = sampler.board.counts()
    assert counts.games == counts.outcomes.sum() > 10
    by_opponent = counts.outcomes.sum(axis=(2, 3))
    assert (by_opponent > 0).all()  # both opponents, with the learner in both seats
    total, games = counts.metrics["agent/moves"]
    assert games == counts.games
    assert 5 <= total / games <= 9
    trainer.close()


def test_weights_that_are_pushed_decide_from_then_on(gateway: GatewayThread) -> None:
    trainer = Trainer(task(), gateway)
    sampler = trainer.sampler()
    newest = 0
    for update in range(1, 21):  # a batch may have been decided by weights of two batches before
        sampler.acted_by = update
        with torch.no_grad():
            trainer.learner.nets["policy"].linears()[-1].bias[-1] = 100.0 * update  # the value
        batch = sampler.collect()
        values = batch.values[batch.trainable]
        updates = batch.acted_by[batch.trainable]
        np.testing.assert_allclose(np.round(values / 100.0), updates, atol=0.2)
        newest = int(updates.max())
    assert newest >= 3
    play_out(sampler)
    counts = sampler.board.counts()
    assert counts.games > 0 and counts.outcomes.sum() == 0  # self-play has no results
    trainer.close()


def test_a_stopped_generation_aborts_its_games_and_another_begins(gateway: GatewayThread) -> None:
    trainer = Trainer(task(opponent("random", 1.0)), gateway)
    for _ in range(50):  # until a game was under way when its generation was stopped
        sampler = trainer.sampler()
        sampler.collect()
        trainer.stopped = True
        with pytest.raises(InterruptedError):
            while True:
                sampler.collect()
        trainer.stopped = False
        if any("given up" in words for words in gateway.refused):
            break
    later = trainer.sampler()
    later.collect()
    play_out(later)
    assert later.board.counts().games > 0
    assert any("given up" in words for words in gateway.refused)
    trainer.close()


def test_a_gateway_that_dies_costs_what_it_had_and_others_go_on(tmp_path: Path) -> None:
    first, second = GatewayThread(tmp_path), GatewayThread(tmp_path)
    trainer = Trainer(task(opponent("random", 1.0)), first, second)
    sampler = trainer.sampler()
    sampler.collect()
    first.stop()
    for _ in range(3):
        sampler.collect()
    again = GatewayThread(tmp_path, port=first.port)
    deadline = time.monotonic() + 10
    while not again.played:
        sampler.collect()
        assert time.monotonic() < deadline
    play_out(sampler)
    # nothing is counted twice: no more results than games that ended somewhere
    assert 0 < sampler.board.counts().games <= first.played + second.played + again.played
    trainer.close()
    again.stop()
    second.stop()


def test_decisions_are_counted_for_the_version_that_is_trained(gateway: GatewayThread) -> None:
    trainer = Trainer(task(opponent("random", 1.0)), gateway)
    with (
        GamecoreWatch(gateway.access, GAME, 60, "v1") as own,
        GamecoreWatch(gateway.access, GAME, 60, "v2") as other,
        GamecoreWatch(gateway.access, GAME, 60) as match,
    ):
        sampler = trainer.sampler()
        sampler.collect()
        deadline = time.monotonic() + 10
        while not own.rows:
            assert (own.problem, other.problem, match.problem) == (None, None, None)
            assert time.monotonic() < deadline
            time.sleep(0.02)
        assert other.rows == match.rows == 0
    play_out(sampler)
    trainer.close()


def test_a_trainer_that_dies_aborts_its_games(gateway: GatewayThread) -> None:
    trainer = Trainer(task(opponent("random", 1.0)), gateway)
    trainer.sampler().collect()
    trainer.close()
    deadline = time.monotonic() + 10
    while not any("nothing to play" in words for words in gateway.refused[-4:]):
        assert time.monotonic() < deadline
        time.sleep(0.02)


def test_an_agent_that_cannot_be_loaded_ends_the_generation_with_words(gateway: GatewayThread) -> None:
    game = Component(id="remote", options={**GAME.options, "agent": "no_such_module:Agent"})
    sampler = Trainer(replace(task(), game=game), gateway).sampler()
    with pytest.raises(UserCodeError, match="no_such_module"):
        sampler.collect()


def test_an_agent_that_fails_again_and_again_ends_the_generation(gateway: GatewayThread) -> None:
    game = Component(id="remote", options={**GAME.options, "agent": f"{__name__}:Failing"})
    sampler = Trainer(replace(task(), game=game), gateway).sampler()
    with pytest.raises(UserCodeError, match=r"20 games in a row .* ValueError: the user's own"):
        sampler.collect()
