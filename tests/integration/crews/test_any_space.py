"""Generations and matches in games of any space, by each adapter."""

from dataclasses import replace
from functools import partial
from typing import Any

import pytest

from orchestrator.catalog import Component
from orchestrator.contracts.generations import GenerationOutcome, GenerationTask, PlannedOpponent
from orchestrator.storage.artifacts import ArtifactStore
from tests.unit.training.generation_task import TASK
from workers.crews.generation import run_generation
from workers.games.names import make_game
from workers.games.replay import replay
from workers.matches.play import play_match
from workers.matches.result import MatchResult
from workers.matches.task import Entrant, MatchTask

pytestmark = pytest.mark.usefixtures("local_ray")

OPTIONS: dict[str, Any] = {"rollout_steps": 16, "minibatch": 256, "gamma": 0.9, "entropy": 0.001}
SQUASHED = Component(id="mlp", options={"hidden": [32], "head": "squashed"})


def run(task: GenerationTask, store: ArtifactStore) -> GenerationOutcome:
    return run_generation(task, store=store, progress=lambda _: None, should_stop=lambda: False)


def against_random(game: Component, result: GenerationOutcome, store: ArtifactStore, pairs: int = 20) -> MatchResult:
    trained = Entrant(id="trained", checkpoint=result.checkpoint)  # type: ignore[arg-type]
    task = MatchTask(
        game=game,
        entrants=(trained, Entrant(id="random", bot="random")),  # type: ignore[arg-type]
        pairs=pairs,
        seed=3,
        tables=16,
    )
    return play_match(task, store=store)


def test_a_model_over_a_dict_observation_learns_a_box_action(store: ArtifactStore) -> None:
    courier = {"env": "examples.own_model:Courier", "max_steps": 16, "workers": 1}
    game = Component(id="gymnasium", options=courier)
    task = replace(
        TASK,
        game=game,
        model=Component(id="examples.own_model:CourierNet", options={"head": "squashed"}),
        algorithm=Component(id="ppo", options=OPTIONS),
        tables=32,
        steps=12_000,
    )
    match = against_random(game, run(task, store), store)
    trained, random = match.mean_return(0), match.mean_return(1)
    assert trained is not None and random is not None and trained > random + 1
    played = match.games[0]
    *_, last = replay(partial(make_game, "gymnasium", **courier), played.seed, played.moves)
    assert last.done and last.returns == pytest.approx(played.returns)


def test_a_parallel_game_of_box_actions_is_learnt_against_a_bot(store: ArtifactStore) -> None:
    game = Component(
        id="pettingzoo_parallel", options={"env": "tests.unit.games.environments:Tug", "max_steps": 9, "teams": "each"}
    )
    opponents = (PlannedOpponent(player="random", version="random", probability=1.0, bot="random"),)
    task = replace(
        TASK, game=game, model=SQUASHED, algorithm=Component(id="ppo", options=OPTIONS), opponents=opponents, tables=32
    )
    result = run(replace(task, steps=8_000), store)
    assert sum(tally.games for tally in result.tallies) > 500
    score = against_random(game, result, store).mean_score(0)
    assert score is not None and score > 0.7


def test_an_environment_of_envpool_is_trained_and_matched(store: ArtifactStore) -> None:
    pytest.importorskip("envpool")
    game = Component(id="envpool", options={"env": "Pendulum-v1"})
    algorithm = Component(id="ppo", options=OPTIONS)
    task = replace(TASK, game=game, model=SQUASHED, algorithm=algorithm, tables=16, steps=4_000)
    first, again = run(task, store), run(task, store)
    assert first.checkpoint == again.checkpoint, "the same task gives the same weights"
    assert first.returns is not None and -2_000 < first.returns.mean < -500
    assert len(against_random(game, first, store, pairs=2).games) == 4
