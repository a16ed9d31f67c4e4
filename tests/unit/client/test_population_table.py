"""A population's decision in the terminal: scores, donor, and hyperparameters before and after."""

from __future__ import annotations

import io

from rich.console import Console

from lanista.league_view.population_table import population_tables
from league.populations.rules import ExploitRule, ScoreOf
from league.populations.selection import Score, Standings, decide_copy
from league.types import PlayerId

STANDINGS = Standings(
    scores=tuple(
        Score(member=PlayerId(name), name=name, value=value, error=0.5, games=1200)
        for name, value in (("main.1", 12.5), ("main.2", 80.0), ("main.3", 40.0))
    ),
    of=ScoreOf.RETURN,
)


def shown(evidence: dict[str, object]) -> list[list[str]]:
    text = io.StringIO()
    Console(file=text, width=120).print(population_tables(evidence))
    return [line.split() for line in text.getvalue().splitlines() if line.strip()]


def test_members_are_listed_from_the_best_with_the_two_that_were_compared() -> None:
    decision = decide_copy(ExploitRule(), STANDINGS, member=PlayerId("main.1"), seed=1)
    assert shown(decision.evidence) == [
        ["member", "return", "standard", "error", "games"],
        ["main.2", "80", "0.5", "1,200", "looked", "at"],
        ["main.3", "40", "0.5", "1,200"],
        ["main.1", "12.5", "0.5", "1,200", "this", "one"],
    ]


def test_a_copy_shows_what_changed() -> None:
    evidence = {
        "changes": {"learning_rate": {"before": 0.001, "after": 0.0008, "how": "perturbed", "factor": 0.8}},
        "before": {"learning_rate": 0.02},
        "hyperparameters": {"learning_rate": 0.0008},
    }
    assert shown(evidence)[-1] == ["learning_rate", "0.02", "0.001", "0.0008", "perturbed", "by", "0.8"]


def test_nothing_to_compare_shows_nothing() -> None:
    empty = decide_copy(ExploitRule(), Standings(scores=(), of=ScoreOf.RATING), member=PlayerId("main.1"), seed=1)
    assert shown(empty.evidence) == []
