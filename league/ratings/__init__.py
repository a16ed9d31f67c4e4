"""Ratings: strength from results with confidence intervals, and measures for intransitive games."""

from league.ratings.alpha_rank import alpha_rank
from league.ratings.bradley_terry import PRIOR_GAMES, bradley_terry
from league.ratings.cycles import Cycle, strongest_cycles
from league.ratings.elo import LiveElo, elo_expected, elo_online
from league.ratings.fitted_ratings import Ratings
from league.ratings.lineups import LineupResult, lineup_skills
from league.ratings.nash import exploitability, max_entropy_nash, nash_average, nash_conv
from league.ratings.plackett_luce import Skill, TeamMatch, team_skills

__all__ = [
    "PRIOR_GAMES",
    "Cycle",
    "LineupResult",
    "LiveElo",
    "Ratings",
    "Skill",
    "TeamMatch",
    "alpha_rank",
    "bradley_terry",
    "elo_expected",
    "elo_online",
    "exploitability",
    "lineup_skills",
    "max_entropy_nash",
    "nash_average",
    "nash_conv",
    "strongest_cycles",
    "team_skills",
]
