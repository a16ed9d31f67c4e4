"""Names for your own algorithms: `from lanista.algorithms import Algorithm, ReplayOptions`.

An algorithm is named `module:Class` in a trial file. docs/guides/models-and-algorithms.md explains how to write one.
"""

from orchestrator.spec.algorithms.actor_critic import PpoOptions, VtraceOptions
from orchestrator.spec.algorithms.base import AlgorithmOptions, ReplayOptions
from workers.algorithms.actor_critic.ppo import Ppo
from workers.algorithms.actor_critic.vtrace import Vtrace
from workers.algorithms.contract import Algorithm, Metrics, NetFactory
from workers.algorithms.errors import BadAlgorithm
from workers.algorithms.evaluation import evaluate
from workers.algorithms.learner import Learner
from workers.algorithms.optimiser import FlatAdam
from workers.algorithms.targets.gae import Targets, gae
from workers.inference.actor import Actor, Columns
from workers.inference.greedy import EpsilonGreedy
from workers.inference.policy import Policy
from workers.rollout.batch import PENDING, TERMINAL, Experience

__all__ = [
    "PENDING",
    "TERMINAL",
    "Actor",
    "Algorithm",
    "AlgorithmOptions",
    "BadAlgorithm",
    "Columns",
    "EpsilonGreedy",
    "Experience",
    "FlatAdam",
    "Learner",
    "Metrics",
    "NetFactory",
    "Policy",
    "Ppo",
    "PpoOptions",
    "ReplayOptions",
    "Targets",
    "Vtrace",
    "VtraceOptions",
    "evaluate",
    "gae",
]
