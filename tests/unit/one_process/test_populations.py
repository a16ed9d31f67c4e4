"""Populations in one process: members copy weights and optimiser, and train on with other hyperparameters."""

from __future__ import annotations

from typing import Any

import pytest

import lanista
from lanista.cli.local.try_display import line_of
from orchestrator.spec import InvalidTrial
from workers.checkpoints import decode


def cartpole(**exploit: Any) -> dict[str, Any]:
    """Two members, one of which hardly learns; a level near chance, so that a copy comes soon."""
    explore = {"learning_rate": {"initial": [1e-6, 1e-2], "perturb": [0.8, 1.25]}}
    population = {"size": 2, "every_generations": 1, "exploit": {"by": "return", **exploit}, "explore": explore}
    return {
        "game": {"id": "gymnasium", "env": "CartPole-v1"},
        "model": {"id": "mlp", "hidden": [16]},
        "algorithm": {"id": "ppo", "rollout_steps": 32, "minibatch": 64, "epochs": 4},
        "league": {"players": [{"name": "main", "population": population}], "champion_gate": None},
        "generation": {"steps": 1_024, "tables": 8},
        "budget": {"steps": 60_000},
    }


def test_a_copy_goes_on_with_the_donors_weights_and_optimiser() -> None:
    run = lanista.train(cartpole(level=0.49), games=0)
    copied = next(each for each in run if each.copied is not None)
    donor = run.league.players[str(copied.copied)]
    member = run.league.players[copied.player]
    assert member.version.checkpoint == donor.version.checkpoint
    assert member.version.number == copied.number + 1
    factor = member.hyperparameters["learning_rate"] / donor.hyperparameters["learning_rate"]
    assert factor in (pytest.approx(0.8), pytest.approx(1.25))
    assert copied.hyperparameters != member.hyperparameters, "a row has what the generation was trained with"
    assert f"copied {donor.name}" in line_of(copied)
    before = donor.version.checkpoint
    following = next(each for each in run if each.player == copied.player)
    assert following.hyperparameters == member.hyperparameters or following.copied is not None
    assert before is not None
    old, new = (decode(run._store.get(ref)).learner for ref in (before, following.checkpoint))
    steps = [int(state["optimisers/policy/updates"]) for state in (old, new)]
    assert 0 < steps[0] < steps[1], "the optimiser's moments and counters came along"


def test_ratings_need_a_stack() -> None:
    file = cartpole() | {"game": {"id": "tic_tac_toe"}}
    file["league"]["players"][0]["population"]["exploit"]["by"] = "rating"
    with pytest.raises(InvalidTrial, match="one process fits no ratings"):
        lanista.train(file)
