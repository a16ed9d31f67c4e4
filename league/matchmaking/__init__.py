"""Matchmaking: the opponents of a learner in a generation, as closed-form mixtures with a reason for each opponent."""

from league.matchmaking.explanation import explain
from league.matchmaking.mates import Mate, MateShares, draw_mates
from league.matchmaking.mixture import MOST_OPPONENTS, Mixture, Share, draw_plan, full_plan, matchmaking_decision
from league.matchmaking.openai_five import joined_qualities, qualities_after_wins, replay_qualities
from league.matchmaking.pfsp import WEIGHTINGS, pfsp
from league.matchmaking.registry import BUILT_INS, Matchmaker, matchmaker, mix
from league.matchmaking.roster import Member, Request, Roster

__all__ = [
    "BUILT_INS",
    "MOST_OPPONENTS",
    "WEIGHTINGS",
    "Matchmaker",
    "Mate",
    "MateShares",
    "Member",
    "Mixture",
    "Request",
    "Roster",
    "Share",
    "draw_mates",
    "draw_plan",
    "explain",
    "full_plan",
    "joined_qualities",
    "matchmaker",
    "matchmaking_decision",
    "mix",
    "pfsp",
    "qualities_after_wins",
    "replay_qualities",
]
