"""A population whose members cannot be compared in its game is refused before the trial starts."""

from __future__ import annotations

from pathlib import Path

import pytest

from api.web.temporal.check_components import own_components, unsuited_scores
from lanista.checks.local_checks import try_here
from orchestrator.spec import TrialSpec


def trial(by: str, game: str = "connect_four") -> TrialSpec:
    population = {"size": 2, "exploit": {"by": by}, "explore": {"learning_rate": {"perturb": [0.8, 1.25]}}}
    players = [{"name": "other"}, {"name": "main", "population": population}]
    return TrialSpec.model_validate({"game": {"id": game}, "league": {"preset": "pfsp", "players": players}})


@pytest.mark.parametrize(
    ("by", "teams", "words"),
    [
        ("return", [0, 1], "only games of one team have returns, connect_four has 2 teams; say rating or win_rate"),
        ("rating", [0], "nobody meets an opponent in connect_four, so there is no rating; say return"),
        ("win_rate", [0, 0], "nobody meets an opponent in connect_four, so there is no win_rate; say return"),
    ],
)
def test_a_worker_says_how_many_teams_the_game_has(by: str, teams: list[int], words: str) -> None:
    (game,) = own_components(trial(by))
    (found,) = unsuited_scores(game, teams)
    assert found.path == ("league", "players", 1, "population", "exploit", "by")
    assert (found.name, found.problem) == (by, words)


def test_what_suits_is_not_refused() -> None:
    (game,) = own_components(trial("rating"))
    assert list(unsuited_scores(game, [0, 1])) == []
    assert list(unsuited_scores(game, [])) == [], "a worker of an earlier release does not say"


def test_a_file_is_checked_without_a_stack_too(tmp_path: Path) -> None:
    refused = try_here(trial("return"), [tmp_path])
    assert refused is not None
    assert [each.path[-1] for each in refused] == ["by"]
    assert try_here(trial("win_rate"), [tmp_path]) == []
