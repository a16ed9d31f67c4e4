"""Players of cooperative algorithms in a league: first weights, matches, annotations and refusals."""

import sys
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from league.types import VersionId
from orchestrator.catalog import Component
from orchestrator.contracts.generations import GenerationTask
from orchestrator.contracts.trials import InitialWeightsRequest
from orchestrator.spec.reading.loading import load_trial_file
from orchestrator.storage.artifacts import ArtifactStore
from tests.unit.algorithms.cooperative.teams import MODEL, TWO_STEP, task, team_spec
from tests.unit.training.learning.test_exact_resume import generation, new_process
from workers.activities.training import WeightsActivities
from workers.algorithms.building import actor_of, build_learner
from workers.algorithms.contract import make_algorithm
from workers.algorithms.cooperative.talk import TalkingPolicy
from workers.algorithms.errors import BadAlgorithm
from workers.checkpoints import load
from workers.games.errors import BadGame
from workers.games.names import make_game
from workers.inference.policy import Places
from workers.matches.annotate import annotate
from workers.matches.play import play_match
from workers.matches.task import Entrant, MatchTask, Randomness

EXAMPLE = Path(__file__).parents[4] / "examples" / "cooperative.yaml"
SIGNALS = Component(id="signals")


@pytest.fixture
def store(tmp_path: Path) -> ArtifactStore:
    return ArtifactStore(str(tmp_path))


def algorithm(id: str, **options: Any) -> Component:
    replayed = {"warm_up": 16, "kept": True} if id in ("vdn", "qmix") else {}
    return Component(id=id, options={"minibatch": 32, "rollout_steps": 4, **replayed, **options})


def test_the_example_starts_from_the_trials_first_weights(store: ArtifactStore) -> None:
    trial = load_trial_file(EXAMPLE)
    request = InitialWeightsRequest(trial="t", game=trial.game.component, model=trial.model.component, seed=1)
    first = WeightsActivities(store).make_initial_weights(request)
    given = GenerationTask(
        game=trial.game.component,
        model=trial.model.component,
        algorithm=trial.algorithm.component,
        steps=trial.generation.steps,
        seed=1,
        checkpoint=first,
        tables=trial.generation.tables,
        player="main",
    )
    actor = new_process(given, store)
    actor.prepare(given, True)
    before = load(store, first).weights
    assert all(np.array_equal(actor._training.learner.weights()[name], before[name]) for name in before)
    report = actor.advance(3)
    ref = actor.save(report.steps, [actor.store_buffer()])
    entrants = (Entrant(id=VersionId("v0"), checkpoint=first), Entrant(id=VersionId("v1"), checkpoint=ref))
    result = play_match(MatchTask(game=given.game, entrants=entrants, pairs=2, seed=1), store=store)
    assert result.mean_return(1) is not None


def talking(store: ArtifactStore) -> Any:
    """A team of random weights that talks, as a checkpoint."""
    given = task(algorithm("atoc", thought=8), SIGNALS)
    actor = new_process(given, store)
    actor.prepare(given, True)
    return actor.save(actor.advance(1).steps, [actor.store_buffer()])


def test_what_a_mate_hears_comes_from_its_own_table(store: ArtifactStore) -> None:
    game = make_game("signals", 6)
    policy = actor_of(load(store, talking(store)), game.spec)
    assert isinstance(policy, TalkingPolicy)
    game.reset(np.arange(6, dtype=np.uint64))
    turn = game.turn()
    together = policy.decide(turn.observations, turn.legal, None, None, Places(turn.tables, turn.seats))
    order = np.random.default_rng(0).permutation(12)
    shuffled = policy.decide(
        turn.observations[order], turn.legal[order], None, None, Places(turn.tables[order], turn.seats[order])
    )
    np.testing.assert_allclose(shuffled.log_probs, together.log_probs[order], rtol=1e-5, atol=1e-6)
    seat = turn.seats == 0
    alone = policy.decide(
        turn.observations[seat], turn.legal[seat], None, None, Places(turn.tables[seat], turn.seats[seat])
    )
    assert not np.allclose(alone.log_probs, together.log_probs[seat], atol=1e-7)
    with pytest.raises(ValueError, match="must be told the table and the seat"):
        policy.decide(turn.observations, turn.legal, None)


def test_a_match_of_a_talking_team_does_not_depend_on_the_tables(store: ArtifactStore) -> None:
    entrants = (Entrant(id=VersionId("team"), checkpoint=talking(store)),)
    games = [
        play_match(
            MatchTask(
                game=SIGNALS, entrants=entrants, pairs=9, seed=3, tables=tables, randomness=Randomness(sampled=True)
            ),
            store=store,
        ).games
        for tables in (2, 9)
    ]
    assert [game.moves for game in games[0]] == [game.moves for game in games[1]]


def test_a_replay_is_annotated_with_what_each_seat_would_do(store: ArtifactStore) -> None:
    spec = make_game("two_step", 1).spec
    given = task(algorithm("mappo", share=False))
    ref, _ = generation(new_process(given, store), given, True)
    found = annotate(TWO_STEP, 1, [0, 1, 1, 1], actor_of(load(store, ref), spec))
    assert [(each.ply, each.seat) for each in found] == [(0, 0), (0, 1), (1, 0), (1, 1)]
    assert found[0].probabilities != found[1].probabilities  # the same sight, another network


@pytest.mark.parametrize(
    ("game", "model", "why"),
    [
        ("tic_tac_toe", MODEL, "its seats move in turn"),
        ("two_step", Component(id="gru"), "needs a model without a recurrent state"),
        ("two_step", Component(id="mlp", options={"normalise": True}), "normalise: true is not supported"),
    ],
)
def test_what_teams_cannot_learn_is_refused(game: str, model: Component, why: str) -> None:
    for id in ("vdn", "qmix", "coma", "mappo", "atoc"):
        with pytest.raises(BadAlgorithm, match=why):
            build_learner(make_algorithm(Component(id=id)), model, make_game(game, 1).spec, 0)


def test_seats_of_a_shared_network_learn_to_differ(store: ArtifactStore) -> None:
    given = task(algorithm("mappo"))
    ref, _ = generation(new_process(given, store), given, True)
    embedding = load(store, ref).learner["nets/seats/embedding"]
    assert embedding.shape == (2, 3) and not np.array_equal(embedding[0], embedding[1])
    plain = build_learner(make_algorithm(algorithm("mappo", seat_ids=False)), MODEL, team_spec(), 0)
    assert not dict(plain.nets["seats"].named_parameters())


def test_the_extra_that_brings_particle_worlds_is_named(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setitem(sys.modules, "mpe2", None)
    with pytest.raises(BadGame, match=r"pip install 'lanista\[mpe\]' brings it"):
        make_game("pettingzoo_parallel", 1, env="mpe2.simple_spread_v3:parallel_env", teams="one")
