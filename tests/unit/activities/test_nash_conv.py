"""NashConv of checkpoints and mixtures, computed as a worker does."""

from __future__ import annotations

from pathlib import Path

import pyspiel
import pytest
from temporalio.exceptions import ApplicationError

from orchestrator.catalog import Component, Kind
from orchestrator.contracts.errors import Failure
from orchestrator.contracts.interactive import ComponentCheck
from orchestrator.contracts.nash_conv import NashConvRequest, PolicyMixture
from orchestrator.contracts.play import Contender
from orchestrator.storage.artifacts import ArtifactStore
from workers.activities.component_checks import try_component
from workers.activities.nash_conv import NashConvActivities
from workers.algorithms.building import fresh_weights
from workers.checkpoints import Checkpoint, save
from workers.games.names import make_game

KUHN = Component(id="kuhn_poker")
MODEL = Component(id="mlp", options={"hidden": [8]})
UNIFORM = Contender(version="v", player="p", bot="random")


def trained(store: ArtifactStore, algorithm: str = "ppo") -> Contender:
    spec = make_game(KUHN.id, 1).spec
    weights, made = fresh_weights(MODEL, Component(id=algorithm), spec, 0)
    checkpoint = Checkpoint(model=MODEL, game=KUHN, weights=weights, algorithm=made)
    return Contender(version="v", player="p", checkpoint=save(store, checkpoint))


def request(*mixtures: PolicyMixture, game: Component = KUHN) -> NashConvRequest:
    return NashConvRequest(trial="t", player="p", generation=5, game=game, mixtures=list(mixtures))


def alone(contender: Contender) -> PolicyMixture:
    return PolicyMixture(metric="nash_conv", contenders=[contender], weights=[1.0])


def test_the_random_bot_is_as_far_from_equilibrium_as_openspiel_says(tmp_path: Path) -> None:
    game = pyspiel.load_game("kuhn_poker")
    found = NashConvActivities(ArtifactStore(str(tmp_path))).compute_nash_conv(request(alone(UNIFORM)))
    expected = pyspiel.nash_conv(game, pyspiel.UniformRandomPolicy(game))
    assert found.values == {"nash_conv": pytest.approx(expected)}
    assert (found.player, found.generation) == ("p", 5)


@pytest.mark.parametrize("algorithm", ["ppo", "dqn"])
def test_a_checkpoint_and_a_mixture_have_a_nash_conv_each(tmp_path: Path, algorithm: str) -> None:
    store = ArtifactStore(str(tmp_path))
    version = trained(store, algorithm)
    mixture = PolicyMixture(metric="nash_conv_mixture", contenders=[version, UNIFORM], weights=[0.25, 0.75])
    asked = request(alone(version), mixture)
    activities = NashConvActivities(store)
    found = activities.compute_nash_conv(asked).values
    assert set(found) == {"nash_conv", "nash_conv_mixture"} and all(0 < value <= 4 for value in found.values())
    assert found["nash_conv"] != found["nash_conv_mixture"]
    assert activities.compute_nash_conv(asked).values == found, "a second delivery computes the same"


def test_what_cannot_be_measured_is_refused_for_good(tmp_path: Path) -> None:
    activities = NashConvActivities(ArtifactStore(str(tmp_path)))
    with pytest.raises(ApplicationError, match="the bot mcts-10 does not tell") as bot:
        activities.compute_nash_conv(request(alone(Contender(version="v", player="p", bot="mcts-10"))))
    with pytest.raises(ApplicationError, match="more than 50,000 histories"):
        activities.compute_nash_conv(request(alone(UNIFORM), game=Component(id="connect_four")))
    assert bot.value.type == Failure.BAD_INPUT and bot.value.non_retryable


def test_a_trial_is_told_before_it_starts_that_its_game_is_too_large() -> None:
    def verdict(game: str, model: Component) -> str:
        check = ComponentCheck(kind=Kind.GAME, component=Component(id=game), model=model, nash_conv=True)
        return try_component(check).no_nash_conv

    assert verdict("kuhn_poker", MODEL) == ""
    assert "more than 50,000 histories" in verdict("tic_tac_toe", MODEL)
    assert "without recurrent state" in verdict("kuhn_poker", Component(id="gru"))
