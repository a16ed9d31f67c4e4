"""Options of the actor-critic algorithms."""

from __future__ import annotations

from typing import Annotated, ClassVar, Literal, Self

from pydantic import Field, model_validator

from orchestrator.catalog import Kind
from orchestrator.spec.algorithms.base import AlgorithmOptions
from orchestrator.spec.components import Choice
from orchestrator.spec.values import Count, Flag, NotNegative, Positive, PositiveShare, Share

Size = Annotated[float, Field(strict=True, gt=0)]


class ActorCriticOptions(AlgorithmOptions):
    """Options of every actor-critic algorithm."""

    entropy: NotNegative = Field(
        default=0.05, description="weight of the entropy bonus; too little and self-play collapses onto a few openings"
    )
    value_weight: NotNegative = Field(default=0.5, description="weight of the value loss relative to the policy loss")
    anchor: Literal["none", "initial", "lagged"] = Field(
        default="none",
        description="policy that the player stays near to: initial: the weights that it started from; lagged: a copy "
        "of itself, renewed every anchor_every gradient steps",
    )
    anchor_weight: NotNegative = Field(default=0.1, description="weight of the KL divergence from the anchor")
    anchor_every: Positive = Field(default=1000, description="gradient steps after which a lagged anchor is renewed")
    learning_rate_steps: Count = Field(
        default=0,
        description="environment steps of the player, counted across resets, over which learning_rate falls in a "
        "straight line to its share learning_rate_left; 0: it stays",
    )
    learning_rate_left: Share = Field(default=0.0, description="share of learning_rate at the end of the line")


class PolicyGradientOptions(ActorCriticOptions):
    """Options of the algorithms that use each batch once."""

    epochs: Positive = Field(default=1, description="passes over each batch, with fresh targets in each")


class A2cOptions(PolicyGradientOptions):
    """Options of advantage actor-critic."""

    learning_rate: PositiveShare = Field(default=2e-3, description="step size of Adam")
    gamma: Share = Field(default=0.99, description="discount per own decision of a seat, not per step of the game")
    entropy: NotNegative = Field(default=0.01, description="weight of the entropy bonus")
    minibatch: Positive = Field(default=512, description="rows of one gradient step, over all processes")
    gae_lambda: Share = Field(
        default=1.0, description="lambda of generalised advantage estimation: 0 one decision ahead, 1 to the end"
    )
    normalise_advantages: Flag = Field(default=False, description="whether advantages get mean 0 and deviation 1")


class PpoOptions(ActorCriticOptions):
    """Options of proximal policy optimisation."""

    gae_lambda: Share = Field(
        default=0.95, description="lambda of generalised advantage estimation: 0 one decision ahead, 1 to the end"
    )
    clip: NotNegative = Field(default=0.2, description="clip range of the probability ratio")
    value_clip: NotNegative = Field(default=0.2, description="clip range of the value; 0 for no limit")
    epochs: Positive = Field(default=4, description="passes over each batch")
    minibatch: Positive = Field(default=1024, description="rows of one gradient step, over all processes")
    normalise_advantages: Flag = Field(default=True, description="whether advantages get mean 0 and deviation 1")
    target_kl: NotNegative = Field(
        default=0.03, description="an update stops early when the KL divergence exceeds 1.5 times this; 0 for no limit"
    )
    upgo: NotNegative = Field(default=0.0, description="weight of the upgoing advantage, which is added to the other")


class MmdOptions(PpoOptions):
    """Options of magnetic mirror descent."""

    learning_rate: PositiveShare = Field(default=5e-3, description="step size of Adam at the start")
    rollout_steps: Positive = Field(default=8, description="steps at every table between two updates")
    entropy: NotNegative = Field(default=0.2, description="temperature alpha, the weight of the magnet, at the start")
    step_size: Size = Field(default=0.3, description="step size eta at the start: 1 / eta weighs the KL divergence")
    anneal_steps: Count = Field(
        default=1000,
        description="gradient steps after which learning_rate, entropy and step_size have shrunk to 1 / sqrt(2); "
        "0: they stay",
    )
    value_clip: NotNegative = Field(default=0.0, description="clip range of the value; 0 for no limit")
    clip: NotNegative = Field(default=0.0, description="clip range of the probability ratio; 0 for no limit")
    normalise_advantages: Flag = Field(
        default=False,
        description="whether advantages get mean 0 and deviation 1; otherwise they are divided by the returns' spread",
    )
    target_kl: NotNegative = Field(
        default=0.0, description="an update stops early when the KL divergence exceeds 1.5 times this; 0 for no limit"
    )

    @model_validator(mode="after")
    def _shrinks_by_one_rule(self) -> Self:
        if self.learning_rate_steps and self.anneal_steps:
            raise ValueError("learning_rate_steps and anneal_steps both shrink the learning rate; set one of them to 0")
        return self


class VtraceOptions(PolicyGradientOptions):
    """Options of V-trace."""

    trace_lambda: Share = Field(
        default=0.95, description="lambda of the value targets: 0 one decision ahead, 1 to the end"
    )
    rho_clip: NotNegative = Field(
        default=1.0, description="clip of the importance weight rho; decides which policy the values converge to"
    )
    trace_clip: NotNegative = Field(
        default=1.0, description="clip of the trace weight c; a lower one has less variance and learns more slowly"
    )
    upgo: NotNegative = Field(default=0.0, description="weight of the upgoing advantage, which is added to V-trace's")


class ImpalaOptions(VtraceOptions):
    """Options of IMPALA."""

    trace_lambda: Share = Field(
        default=1.0, description="lambda of the value targets: 0 one decision ahead, 1 to the end"
    )


class UpgoOptions(VtraceOptions):
    """Options of AlphaStar's policy update."""

    upgo: NotNegative = Field(default=1.0, description="weight of the upgoing advantage, which is added to V-trace's")
    value_lambda: Share = Field(
        default=0.8, description="lambda of the value targets, which are TD(lambda)'s: 0 one decision ahead"
    )


class A2cAlgorithm(A2cOptions, Choice):
    """Advantage actor-critic."""

    kind: ClassVar[Kind] = Kind.ALGORITHM
    id: Literal["a2c"] = Field(description="name of the algorithm")


class PpoAlgorithm(PpoOptions, Choice):
    """Proximal policy optimisation."""

    kind: ClassVar[Kind] = Kind.ALGORITHM
    id: Literal["ppo"] = Field(default="ppo", description="name of the algorithm")


class VtraceAlgorithm(VtraceOptions, Choice):
    """V-trace (IMPALA), which corrects for samples of an older policy."""

    kind: ClassVar[Kind] = Kind.ALGORITHM
    id: Literal["vtrace"] = Field(description="name of the algorithm")


class ImpalaAlgorithm(ImpalaOptions, Choice):
    """IMPALA: V-trace for asynchronous crews."""

    kind: ClassVar[Kind] = Kind.ALGORITHM
    asynchronous: ClassVar[bool] = True
    id: Literal["impala"] = Field(description="name of the algorithm")


class UpgoAlgorithm(UpgoOptions, Choice):
    """AlphaStar's policy update: V-trace, upgoing returns, TD(lambda) values."""

    kind: ClassVar[Kind] = Kind.ALGORITHM
    id: Literal["upgo"] = Field(description="name of the algorithm")


class MmdAlgorithm(MmdOptions, Choice):
    """Magnetic mirror descent."""

    kind: ClassVar[Kind] = Kind.ALGORITHM
    id: Literal["mmd"] = Field(description="name of the algorithm")
