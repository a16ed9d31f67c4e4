"""Gates: sequential probability ratio tests that decide promotions with bounded error rates."""

from league.gates.alpha_spending import alpha_for_candidate
from league.gates.forecast import Forecast, forecast, pair_distribution
from league.gates.likelihood_ratio import elo_of_score, log_likelihood_ratio, score_of_elo
from league.gates.panel import MemberStatus, MemberVerdict, compare_games, judge_member, member_test, share_pairs
from league.gates.probing import Exploitation, ProbeVerdict, judge_probe
from league.gates.sprt import GateVerdict, Sprt, SprtStatus

__all__ = [
    "Exploitation",
    "Forecast",
    "GateVerdict",
    "MemberStatus",
    "MemberVerdict",
    "ProbeVerdict",
    "Sprt",
    "SprtStatus",
    "alpha_for_candidate",
    "compare_games",
    "elo_of_score",
    "forecast",
    "judge_member",
    "judge_probe",
    "log_likelihood_ratio",
    "member_test",
    "pair_distribution",
    "score_of_elo",
    "share_pairs",
]
