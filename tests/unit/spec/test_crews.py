"""Algorithms that do not suit the trial's crews are refused before anything runs."""

import pytest

from orchestrator.spec.reading.loading import parse_trial
from orchestrator.spec.reading.problems import InvalidTrial
from orchestrator.spec.trial import TrialSpec

GAME = "game: {id: tic_tac_toe}\n"
OWN = "league: {preset: self_play, players: [{name: main}, {name: other, algorithm: {id: es, population: 64}}]}\n"


@pytest.mark.parametrize(
    ("text", "message"),
    [
        (
            "algorithm: {id: es, population: 64}\ngeneration: {tables: 16, rollout_actors: 2}\n",
            "algorithm es needs 64 tables, one for each member of its population; 16 tables of 2 rollout_actors are 32",
        ),
        ("algorithm: {id: es, population: 2000}\n", "1,024 tables of 1 rollout_actors are 1,024"),
        (OWN + "generation: {tables: 32}\n", "algorithm es needs 64 tables"),
        (
            "algorithm: {id: es}\ngeneration: {topology: asynchronous}\n",
            "algorithm es: its games begin anew with each update, and an asynchronous crew mixes games of several "
            "updates; allowed topologies: fused, split",
        ),
        (OWN + "generation: {topology: asynchronous}\n", "algorithm es: its games begin anew"),
    ],
)
def test_what_no_crew_of_the_trial_can_train_is_refused(text: str, message: str) -> None:
    with pytest.raises(InvalidTrial) as refusal:
        parse_trial(GAME + text)
    (problem,) = refusal.value.problems
    assert problem.path == "generation" and message in problem.message


@pytest.mark.parametrize(
    "text",
    [
        "algorithm: {id: es, population: 64}\ngeneration: {tables: 32, rollout_actors: 2}\n",
        "algorithm: {id: es}\ngeneration: {topology: split, trainers: 1}\n",
        "algorithm: {id: ppo}\ngeneration: {tables: 1, topology: asynchronous}\n",
        # nobody learns by the trial's algorithm
        "algorithm: {id: es}\ngeneration: {tables: 1}\n"
        "league: {preset: self_play, players: [{name: main, algorithm: {id: ppo}}]}\n",
    ],
)
def test_others_are_allowed(text: str) -> None:
    parse_trial(GAME + text)


def test_a_stored_trial_stays_readable() -> None:
    stored = {"game": {"id": "tic_tac_toe"}, "algorithm": {"id": "es"}, "generation": {"tables": 1}}
    assert TrialSpec.model_validate(stored).generation.tables == 1
