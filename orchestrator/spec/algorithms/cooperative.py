"""Options of the algorithms for teams."""

from __future__ import annotations

from typing import ClassVar, Literal

from pydantic import Field

from orchestrator.catalog import Kind
from orchestrator.spec.algorithms.base import AlgorithmOptions, ExploreOptions, ReplayOptions
from orchestrator.spec.components import Choice
from orchestrator.spec.values import Count, Flag, NotNegative, Positive, PositiveShare, Share, Width


class TeamOptions(AlgorithmOptions):
    """Options of every algorithm for teams."""

    gamma: Share = Field(default=0.99, description="discount per decision of the team")
    share: Flag = Field(
        default=True, description="whether all mates act by one network; false gives each seat of a team its own"
    )
    seat_ids: Flag = Field(
        default=True, description="whether a shared network is told the number of its seat in the team"
    )


class VdnOptions(ExploreOptions, TeamOptions, ReplayOptions):
    """Options of value decomposition networks."""

    learning_rate: PositiveShare = Field(default=5e-4, description="step size of Adam")
    gradient_clip: NotNegative = Field(default=10.0, description="largest norm of a gradient; 0 for no limit")
    rollout_steps: Positive = Field(default=4, description="steps at every table between two updates")
    minibatch: Positive = Field(default=256, description="team decisions of one gradient step, over all processes")
    replay_ratio: NotNegative = Field(
        default=4.0, description="team decisions learnt from for each new one; sets the gradient steps of an update"
    )
    capacity: Positive = Field(default=50_000, description="team decisions that a process's buffer holds")
    warm_up: Count = Field(default=1_000, description="team decisions in the buffer before the first gradient step")
    target_every: Positive = Field(default=200, description="gradient steps between copies to the lagged networks")
    explore_least: Share = Field(default=0.05, description="chance of a random action at the end of the schedule")
    explore_steps: Positive = Field(default=50_000, description="environment steps of the schedule")


class QmixOptions(VdnOptions):
    """Options of QMIX."""

    embedding: Positive = Field(default=32, description="units of the mixing network")
    hyper_units: Positive = Field(default=64, description="units of the networks that make its weights")


class _CentralOptions(TeamOptions):
    """Options of algorithms with a central critic."""

    critic_hidden: tuple[Width, ...] = Field(
        default=(128, 128), min_length=1, max_length=64, description="hidden layers of the central critic, a perceptron"
    )
    normalise_advantages: Flag = Field(default=True, description="whether the size of advantages is normalised")
    entropy: NotNegative = Field(default=0.01, description="weight of the entropy bonus")


class MappoOptions(_CentralOptions):
    """Options of MAPPO."""

    minibatch: Positive = Field(default=1024, description="rows of one gradient step, over all processes")
    gae_lambda: Share = Field(
        default=0.95, description="lambda of generalised advantage estimation: 0 one decision ahead, 1 to the end"
    )
    clip: NotNegative = Field(default=0.2, description="clip range of the probability ratio")
    value_weight: NotNegative = Field(default=0.5, description="weight of the value loss relative to the policy loss")
    value_clip: NotNegative = Field(default=0.2, description="clip range of the value; 0 for no limit")
    epochs: Positive = Field(default=4, description="passes over each batch")
    target_kl: NotNegative = Field(
        default=0.03, description="an update stops early when the KL divergence exceeds 1.5 times this; 0 for no limit"
    )


class ComaOptions(_CentralOptions):
    """Options of COMA."""

    minibatch: Positive = Field(default=1024, description="rows of one gradient step, over all processes")
    td_lambda: Share = Field(default=0.8, description="lambda of the returns: 0 one decision ahead, 1 to the end")
    critic_learning_rate: PositiveShare = Field(default=1e-3, description="step size of the critic's Adam")
    critic_epochs: Positive = Field(default=4, description="passes over each batch by the critic; policies take one")
    target_every: Positive = Field(default=50, description="gradient steps of the critic between its lagged copies")


class AtocOptions(ComaOptions):
    """Options of ATOC."""

    communicate: Flag = Field(default=True, description="whether mates talk; false cuts all communication")
    thought: Positive = Field(default=32, description="numbers of a thought, which is what mates send each other")
    group_size: Positive = Field(default=3, description="mates of a group, with the one that calls it")
    attention_weight: NotNegative = Field(
        default=1.0, description="weight of the loss that teaches when to call a group"
    )


class VdnAlgorithm(VdnOptions, Choice):
    """Value decomposition networks."""

    kind: ClassVar[Kind] = Kind.ALGORITHM
    id: Literal["vdn"] = Field(description="name of the algorithm")


class QmixAlgorithm(QmixOptions, Choice):
    """QMIX, monotonic value factorisation."""

    kind: ClassVar[Kind] = Kind.ALGORITHM
    id: Literal["qmix"] = Field(description="name of the algorithm")


class MappoAlgorithm(MappoOptions, Choice):
    """PPO for teams with a central critic."""

    kind: ClassVar[Kind] = Kind.ALGORITHM
    id: Literal["mappo"] = Field(description="name of the algorithm")


class ComaAlgorithm(ComaOptions, Choice):
    """Counterfactual multi-agent policy gradients."""

    kind: ClassVar[Kind] = Kind.ALGORITHM
    id: Literal["coma"] = Field(description="name of the algorithm")


class AtocAlgorithm(AtocOptions, Choice):
    """Attentional communication."""

    kind: ClassVar[Kind] = Kind.ALGORITHM
    id: Literal["atoc"] = Field(description="name of the algorithm")
