"""Rules of sweeps: which hyperparameters a trial gets, how far it trains, and when it is stopped early."""

from league.sweeps.early_stopping import RungValue, judge_asha, judge_halving, rank_of
from league.sweeps.importance import importances
from league.sweeps.rungs import Bracket, Rungs, hyperband_brackets, one_bracket
from league.sweeps.space import Choice, Dimension, Integer, Space, Uniform, grid_points, random_point

__all__ = [
    "Bracket",
    "Choice",
    "Dimension",
    "Integer",
    "RungValue",
    "Rungs",
    "Space",
    "Uniform",
    "grid_points",
    "hyperband_brackets",
    "importances",
    "judge_asha",
    "judge_halving",
    "one_bracket",
    "random_point",
    "rank_of",
]
