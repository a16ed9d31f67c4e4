"""Options of the value-based algorithms."""

from __future__ import annotations

from typing import Annotated, ClassVar, Literal, Self

from pydantic import Field, model_validator

from orchestrator.catalog import Kind
from orchestrator.spec.algorithms.base import ExploreOptions, ReplayOptions
from orchestrator.spec.components import Choice
from orchestrator.spec.values import Count, Flag, NotNegative, Number, Positive, PositiveShare, Share, Width


class ValueOptions(ReplayOptions):
    """Options of every algorithm that learns the values of Discrete actions."""

    learning_rate: PositiveShare = Field(default=1e-3, description="step size of Adam")
    gamma: Share = Field(default=0.99, description="discount per own decision of a seat, not per step of the game")
    gradient_clip: NotNegative = Field(default=10.0, description="largest norm of a gradient; 0 for no limit")
    rollout_steps: Positive = Field(default=8, description="steps at every table between two updates")
    minibatch: Positive = Field(default=128, description="rows of one gradient step, over all processes")
    replay_ratio: NotNegative = Field(
        default=64.0, description="decisions learnt from for each new one; sets the gradient steps of an update"
    )
    n_step: Positive = Field(default=10, description="rewards summed before the value of a later position is used")
    target_rate: PositiveShare = Field(default=0.02, description="how far the target network moves to the network")
    target_every: Positive = Field(default=1, description="gradient steps between two moves of the target network")
    prioritised: Flag = Field(default=False, description="whether decisions that surprise are drawn more often")
    priority_alpha: Share = Field(default=0.6, description="power of a decision's error in its chance to be drawn")
    priority_beta: Share = Field(default=0.4, description="how far weights correct for unequal chances: 1 fully")


class DoubleOptions(ValueOptions):
    """Options of those with one network and its target network."""

    double: Flag = Field(
        default=True, description="whether the network chooses the action that the target network values (double DQN)"
    )


class ExploringOptions(ExploreOptions, DoubleOptions):
    """Options of those that explore by random actions."""


class DqnOptions(ExploringOptions):
    """Options of DQN."""

    dueling: Flag = Field(
        default=False, description="whether values are the position's value plus each action's advantage"
    )
    loss: Literal["squared", "huber"] = Field(default="squared", description="loss of the error: squared or huber")


class ApexOptions(DqnOptions):
    """Options of Ape-X."""

    n_step: Positive = Field(default=3, description="rewards summed before the value of a later position is used")
    dueling: Flag = Field(
        default=True, description="whether values are the position's value plus each action's advantage"
    )
    prioritised: Flag = Field(default=True, description="whether decisions that surprise are drawn more often")
    explore_start: Share = Field(default=0.4, description="epsilon of the first table at the start")
    explore_least: Share = Field(default=0.4, description="epsilon of the first table at the end of the schedule")
    explore_spread: NotNegative = Field(
        default=7.0, description="table i of N explores at epsilon^(1 + explore_spread * i / (N - 1))"
    )


class RainbowOptions(DoubleOptions):
    """Options of Rainbow."""

    prioritised: Flag = Field(default=True, description="whether decisions that surprise are drawn more often")
    dueling: Flag = Field(
        default=True, description="whether values are the position's value plus each action's advantage"
    )
    noise: NotNegative = Field(
        default=0.5, description="initial noise of the linear layers after the first, which explores; 0 for none"
    )
    atoms: Annotated[int, Field(strict=True, ge=2, le=1001)] = Field(
        default=51, description="values that a distribution of returns is made of"
    )
    value_low: Number = Field(default=0.0, description="the lowest of these values; lower returns count as this")
    value_high: Number = Field(default=100.0, description="the highest of these values; higher returns count as this")

    @model_validator(mode="after")
    def _is_a_range(self) -> Self:
        if self.value_low >= self.value_high:
            raise ValueError(f"value_low, {self.value_low}, must be below value_high, {self.value_high}")
        return self


class QrdqnOptions(ExploringOptions):
    """Options of QR-DQN."""

    minibatch: Positive = Field(default=64, description="rows of one gradient step, over all processes")
    replay_ratio: NotNegative = Field(
        default=32.0, description="decisions learnt from for each new one; sets the gradient steps of an update"
    )
    quantiles: Width = Field(default=16, description="quantiles of the return that are learnt for each action")
    kappa: Annotated[float, Field(strict=True, gt=0)] = Field(
        default=1.0, description="error up to which the quantile Huber loss is quadratic"
    )


class SqnOptions(ValueOptions):
    """Options of soft Q-learning."""

    temperature: Annotated[float, Field(strict=True, gt=0)] = Field(
        default=0.2, description="temperature at the start, in units of the rewards"
    )
    automatic: Flag = Field(default=True, description="whether the temperature is learnt")
    entropy_share: Share = Field(
        default=0.1, description="entropy that a learnt temperature aims at, as a share of uniform play's"
    )


class R2d2Options(ExploringOptions):
    """Options of R2D2."""

    minibatch: Positive = Field(default=512, description="rows of one gradient step, over all processes")
    n_step: Positive = Field(default=5, description="rewards summed before the value of a later position is used")
    prioritised: Flag = Field(default=True, description="whether decisions that surprise are drawn more often")
    dueling: Flag = Field(
        default=False, description="whether values are the position's value plus each action's advantage"
    )
    length: Positive = Field(default=16, description="decisions of a sequence that are learnt from")
    burn_in: Count = Field(default=4, description="decisions before them that bring the state up to date")
    priority_eta: Share = Field(
        default=0.9, description="weight of a sequence's largest error in its priority; the rest is the mean error"
    )


class DqnAlgorithm(DqnOptions, Choice):
    """Deep Q-learning with double, dueling, n-step and prioritised variants."""

    kind: ClassVar[Kind] = Kind.ALGORITHM
    id: Literal["dqn"] = Field(description="name of the algorithm")


class ApexAlgorithm(ApexOptions, Choice):
    """Ape-X: prioritised replay fed by many actors, each with an exploration rate of its own."""

    kind: ClassVar[Kind] = Kind.ALGORITHM
    id: Literal["apex"] = Field(description="name of the algorithm")


class RainbowAlgorithm(RainbowOptions, Choice):
    """Rainbow: distributions of returns (C51), noisy layers, dueling, double, n-step, prioritised."""

    kind: ClassVar[Kind] = Kind.ALGORITHM
    id: Literal["rainbow"] = Field(description="name of the algorithm")


class QrdqnAlgorithm(QrdqnOptions, Choice):
    """Quantile-regression DQN."""

    kind: ClassVar[Kind] = Kind.ALGORITHM
    id: Literal["qrdqn"] = Field(description="name of the algorithm")


class SqnAlgorithm(SqnOptions, Choice):
    """Soft Q-learning with a learnt temperature: discrete SAC."""

    kind: ClassVar[Kind] = Kind.ALGORITHM
    id: Literal["sqn"] = Field(description="name of the algorithm")


class R2d2Algorithm(R2d2Options, Choice):
    """R2D2: DQN of a recurrent model, by sequences with stored states."""

    kind: ClassVar[Kind] = Kind.ALGORITHM
    id: Literal["r2d2"] = Field(description="name of the algorithm")
