"""What a population must suit: its algorithm, its game and the league's preset."""

from __future__ import annotations

from collections.abc import Iterator

from league.populations.rules import ScoreOf
from league.types import Role
from orchestrator.spec.components import Choice
from orchestrator.spec.game import declared_team_count
from orchestrator.spec.league import MOST_PLAYERS, LeagueSpec
from orchestrator.spec.matchmaking import Preset
from orchestrator.spec.players import PlayerSpec


def population_problems(league: LeagueSpec, algorithm: Choice, game: Choice) -> Iterator[str]:
    """Why these populations cannot be trained, each with its path below `league`."""
    if len(league.members) > MOST_PLAYERS:
        yield f"players: {len(league.members)} with all members of populations, at most {MOST_PLAYERS} are allowed"
    for number, player in enumerate(league.players):
        if player.population is None:
            continue
        path = f"players[{number}].population"
        for problem in player.population.problems(player.algorithm or algorithm):
            yield f"{path}.{problem}"
        for problem in _misfits(player, league, declared_team_count(game), game.id):
            yield f"{path}.exploit.by: {problem}"


def unsuited_score(by: ScoreOf, teams: int, game: str) -> str | None:
    """Why members cannot be compared so in a game of this many teams; None if they can."""
    if by is ScoreOf.RETURN and teams > 1:
        return f"only games of one team have returns, {game} has {teams} teams; say rating or win_rate"
    if by is not ScoreOf.RETURN and teams == 1:
        return f"nobody meets an opponent in {game}, so there is no {by}; say return"
    return None


def _misfits(player: PlayerSpec, league: LeagueSpec, teams: int | None, game: str) -> Iterator[str]:
    assert player.population is not None
    by = player.population.exploit.by
    if teams is not None and (problem := unsuited_score(by, teams, game)) is not None:
        yield problem
    if by is ScoreOf.RATING and player.role is not Role.MAIN:
        yield f"only mains play rating games, not a player of the role {player.role}; say win_rate"
    if by is ScoreOf.WIN_RATE and league.preset == Preset.SELF_PLAY:
        yield "with the preset self_play members meet only themselves; say rating, or choose another preset"
