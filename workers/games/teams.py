"""Teams: seats that win and lose together, as games and trial files declare them.

See docs/decisions/teams.md.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from typing import Literal

from workers.games.errors import BadGame

Teams = Literal["each", "one"] | Sequence[int] | Mapping[str, int]
"""As an adapter's option: `each` seat for itself, all seats as `one` team, the team of each seat, or the team of each
prefix of the agents' names."""


def checked_teams(teams: Iterable[int], seats: int, game: str) -> tuple[int, ...]:
    """The team of each seat; raises BadGame unless every seat has one and their numbers are 0, 1, ... without a gap."""
    found = tuple(int(team) for team in teams)
    if len(found) != seats:
        raise BadGame(f"{game}: teams {list(found)} name {len(found)} seats, the game has {seats}")
    if sorted(set(found)) != list(range(len(set(found)))):
        raise BadGame(f"{game}: teams are numbered {sorted(set(found))}; allowed: 0, 1, ... without a gap")
    return found


def declared_teams(teams: Teams | None, agents: Sequence[str], game: str) -> tuple[int, ...]:
    """The teams that an adapter's option declares for these agents, one per seat; None is `each`."""
    if teams is None or teams == "each":
        return tuple(range(len(agents)))
    if teams == "one":
        return (0,) * len(agents)
    if isinstance(teams, str):
        raise BadGame(f"{game}: teams is {teams!r}; allowed: each, one, a list such as [0, 0, 1, 1], or a mapping")
    if isinstance(teams, Mapping):
        return checked_teams([_by_prefix(teams, agent, game) for agent in agents], len(agents), game)
    return checked_teams(teams, len(agents), game)


def _by_prefix(teams: Mapping[str, int], agent: str, game: str) -> int:
    found = [prefix for prefix in teams if agent.startswith(prefix)]
    if not found:
        raise BadGame(f"{game}: no prefix of teams fits agent {agent!r}; given: {', '.join(teams) or 'none'}")
    return teams[max(found, key=len)]


def ask_for_teams(game: str, agents: Sequence[str]) -> str:
    """The question that a new trial must answer by its option `teams`, with the answer that the names suggest."""
    kinds = [agent.rstrip("0123456789").rstrip("_- ") for agent in agents]
    numbers = {kind: number for number, kind in enumerate(dict.fromkeys(kinds))}
    by_name = len(numbers) > 1
    example = [numbers[kind] for kind in kinds] if by_name else [seat % 2 for seat in range(len(agents))]
    guess = ", as their names suggest" if by_name and len(numbers) < len(agents) else ""
    return (
        f"{game}: which of {', '.join(agents)} play together? Say teams: each (everyone alone), teams: one (all "
        f"together) or the team of each, such as teams: {example}{guess}"
    )
