"""Gates: sequential probability ratio tests that decide promotions with bounded error rates."""

from league.gates.alpha_spending import alpha_for_candidate
from league.gates.forecast import Forecast, forecast, pair_distribution
from league.gates.likelihood_ratio import elo_of_score, log_likelihood_ratio, score_of_elo
from league.gates.sprt import GateVerdict, Sprt, SprtStatus

__all__ = [
    "Forecast",
    "GateVerdict",
    "Sprt",
    "SprtStatus",
    "alpha_for_candidate",
    "elo_of_score",
    "forecast",
    "log_likelihood_ratio",
    "pair_distribution",
    "score_of_elo",
]
