"""Skill in games of n players or of teams, by the openskill package's Plackett-Luce model."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from openskill.models import PlackettLuce

from league.errors import InvalidInput
from league.validation import finite


@dataclass(frozen=True)
class TeamMatch:
    """One match: the teams (of one or more players) and the place each took, equal places a draw."""

    teams: tuple[tuple[Any, ...], ...]
    places: tuple[int, ...]

    def __post_init__(self) -> None:
        if len(self.teams) < 2 or len(self.teams) != len(self.places):
            raise InvalidInput(f"a match has two teams or more and a place for each, got {self!r}")
        players = [player for team in self.teams for player in team]
        if not all(self.teams) or len(set(players)) != len(players):
            raise InvalidInput(f"every team has a player, and every player one team, got {self.teams!r}")
        for place in self.places:
            finite(place, "a place")


@dataclass(frozen=True)
class Skill:
    """A belief about a player's skill; `ordinal` is a conservative estimate to rank by."""

    mu: float
    sigma: float

    @property
    def ordinal(self) -> float:
        return self.mu - 3 * self.sigma


def team_skills(matches: Iterable[TeamMatch], start: Mapping[Any, Skill] | None = None) -> dict[Any, Skill]:
    """Skills after the matches, in their order (this model learns online), from `start` on."""
    model = PlackettLuce()
    skills = dict(start or {})
    for match in matches:
        teams = [[_rating(model, skills.get(player)) for player in team] for team in match.teams]
        rated: Sequence[Sequence[Any]] = model.rate(teams, ranks=[float(place) for place in match.places])
        for team, ratings in zip(match.teams, rated, strict=True):
            for player, rating in zip(team, ratings, strict=True):
                skills[player] = Skill(rating.mu, rating.sigma)
    return skills


def _rating(model: Any, skill: Skill | None) -> Any:
    return model.rating() if skill is None else model.rating(mu=skill.mu, sigma=skill.sigma)
