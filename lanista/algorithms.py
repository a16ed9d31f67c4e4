"""Names for your own algorithms: `from lanista.algorithms import Algorithm, ReplayOptions`.

An algorithm is named `module:Class` in a trial file. docs/guides/models-and-algorithms.md explains how to write one.
"""

from orchestrator.spec.algorithms.actor_critic import (
    A2cOptions,
    ActorCriticOptions,
    ImpalaOptions,
    MmdOptions,
    PolicyGradientOptions,
    PpoOptions,
    UpgoOptions,
    VtraceOptions,
)
from orchestrator.spec.algorithms.base import AlgorithmOptions, ExploreOptions, ReplayOptions
from orchestrator.spec.algorithms.continuous import DdpgOptions, OffPolicyOptions, SacOptions, Td3Options
from orchestrator.spec.algorithms.cooperative import AtocOptions, ComaOptions, MappoOptions, QmixOptions, VdnOptions
from orchestrator.spec.algorithms.evolution import EsOptions
from orchestrator.spec.algorithms.imitation import BcOptions, DatasetOptions, IqlOptions, OfflineOptions, SlRlOptions
from orchestrator.spec.algorithms.value_based import (
    ApexOptions,
    DoubleOptions,
    DqnOptions,
    ExploringOptions,
    QrdqnOptions,
    R2d2Options,
    RainbowOptions,
    SqnOptions,
    ValueOptions,
)
from workers.algorithms.actor_critic.a2c import A2c
from workers.algorithms.actor_critic.anchor import ActorCritic
from workers.algorithms.actor_critic.impala import Impala
from workers.algorithms.actor_critic.mmd import Mmd
from workers.algorithms.actor_critic.policy_gradient import PolicyGradient
from workers.algorithms.actor_critic.ppo import Ppo
from workers.algorithms.actor_critic.upgo import Upgo
from workers.algorithms.actor_critic.vtrace import Vtrace
from workers.algorithms.continuous.ddpg import Ddpg
from workers.algorithms.continuous.sac import Sac
from workers.algorithms.continuous.td3 import Td3
from workers.algorithms.contract import Algorithm, Metrics, NetFactory
from workers.algorithms.cooperative.atoc import Atoc
from workers.algorithms.cooperative.coma import Coma
from workers.algorithms.cooperative.mappo import Mappo
from workers.algorithms.cooperative.qmix import Qmix
from workers.algorithms.cooperative.vdn import Vdn
from workers.algorithms.errors import BadAlgorithm
from workers.algorithms.evaluation import evaluate
from workers.algorithms.evolution.es import Es
from workers.algorithms.exploration.discrete import boltzmann, epsilon_greedy
from workers.algorithms.exploration.noise import gaussian, ornstein_uhlenbeck
from workers.algorithms.exploration.schedules import scheduled
from workers.algorithms.imitation.bc import Bc
from workers.algorithms.imitation.iql import Iql
from workers.algorithms.imitation.offline import Offline
from workers.algorithms.imitation.sl_rl import SlRl
from workers.algorithms.learner import Learner
from workers.algorithms.optimiser import FlatAdam
from workers.algorithms.targets.gae import Targets, gae
from workers.algorithms.targets.td_lambda import td_lambda
from workers.algorithms.targets.upgo import upgo
from workers.algorithms.targets.vtrace import vtrace
from workers.algorithms.value_based.apex import Apex
from workers.algorithms.value_based.dqn import Dqn
from workers.algorithms.value_based.qrdqn import Qrdqn
from workers.algorithms.value_based.r2d2 import R2d2
from workers.algorithms.value_based.rainbow import Rainbow
from workers.algorithms.value_based.sqn import Sqn
from workers.inference.actor import Actor, Columns
from workers.inference.greedy import EpsilonGreedy
from workers.inference.policy import Policy
from workers.rollout.batch import PENDING, TERMINAL, Experience

__all__ = [
    "PENDING",
    "TERMINAL",
    "A2c",
    "A2cOptions",
    "Actor",
    "ActorCritic",
    "ActorCriticOptions",
    "Algorithm",
    "AlgorithmOptions",
    "Apex",
    "ApexOptions",
    "Atoc",
    "AtocOptions",
    "BadAlgorithm",
    "Bc",
    "BcOptions",
    "Columns",
    "Coma",
    "ComaOptions",
    "DatasetOptions",
    "Ddpg",
    "DdpgOptions",
    "DoubleOptions",
    "Dqn",
    "DqnOptions",
    "EpsilonGreedy",
    "Es",
    "EsOptions",
    "Experience",
    "ExploreOptions",
    "ExploringOptions",
    "FlatAdam",
    "Impala",
    "ImpalaOptions",
    "Iql",
    "IqlOptions",
    "Learner",
    "Mappo",
    "MappoOptions",
    "Metrics",
    "Mmd",
    "MmdOptions",
    "NetFactory",
    "OffPolicyOptions",
    "Offline",
    "OfflineOptions",
    "Policy",
    "PolicyGradient",
    "PolicyGradientOptions",
    "Ppo",
    "PpoOptions",
    "Qmix",
    "QmixOptions",
    "Qrdqn",
    "QrdqnOptions",
    "R2d2",
    "R2d2Options",
    "Rainbow",
    "RainbowOptions",
    "ReplayOptions",
    "Sac",
    "SacOptions",
    "SlRl",
    "SlRlOptions",
    "Sqn",
    "SqnOptions",
    "Targets",
    "Td3",
    "Td3Options",
    "Upgo",
    "UpgoOptions",
    "ValueOptions",
    "Vdn",
    "VdnOptions",
    "Vtrace",
    "VtraceOptions",
    "boltzmann",
    "epsilon_greedy",
    "evaluate",
    "gae",
    "gaussian",
    "ornstein_uhlenbeck",
    "scheduled",
    "td_lambda",
    "upgo",
    "vtrace",
]
