"""Options of the algorithms for Box actions."""

from __future__ import annotations

from typing import Annotated, ClassVar, Literal

from pydantic import Field

from orchestrator.catalog import Kind
from orchestrator.spec.algorithms.base import ReplayOptions
from orchestrator.spec.components import Choice
from orchestrator.spec.values import Count, Flag, NotNegative, Positive, PositiveShare, Share


class OffPolicyOptions(ReplayOptions):
    """Options of every algorithm with a policy of Box actions and critics of them."""

    learning_rate: PositiveShare = Field(default=1e-3, description="step size of Adam")
    gamma: Share = Field(default=0.99, description="discount per own decision of a seat, not per step of the game")
    gradient_clip: NotNegative = Field(default=0.0, description="largest norm of a gradient; 0 for no limit")
    rollout_steps: Positive = Field(default=1, description="steps at every table between two updates")
    replay_ratio: NotNegative = Field(
        default=256.0,
        description="decisions learnt from for each new one; by default one gradient step for each new decision",
    )
    capacity: Positive = Field(default=200_000, description="decisions that a process's buffer holds")
    warm_up: Count = Field(default=200, description="decisions in the buffer before the first gradient step")
    target_rate: PositiveShare = Field(default=0.01, description="how far a step moves the lagged networks (tau)")


class SacOptions(OffPolicyOptions):
    """Options of soft actor-critic."""

    temperature: Annotated[float, Field(strict=True, gt=0)] = Field(
        default=0.3, description="weight of the policy's entropy; where it is learnt, its first value"
    )
    learn_temperature: Flag = Field(
        default=True, description="whether the temperature is learnt, so that the entropy is about target_entropy"
    )
    target_entropy: float | None = Field(
        default=None, description="entropy in units of half the range; null for minus the numbers of an action"
    )


class DdpgOptions(OffPolicyOptions):
    """Options of deep deterministic policy gradients."""

    noise: Literal["gaussian", "ornstein_uhlenbeck"] = Field(
        default="gaussian", description="what is added to actions while they are sampled"
    )
    noise_scale: NotNegative = Field(
        default=0.1, description="scale of that noise in units of half the range; 1 until warm_up decisions are there"
    )


class Td3Options(DdpgOptions):
    """Options of twin delayed deterministic policy gradients."""

    policy_delay: Positive = Field(default=2, description="critic steps for one step of the policy and lagged networks")
    target_noise: NotNegative = Field(
        default=0.2, description="deviation of the noise on the lagged policy's actions, in units of half the range"
    )
    target_noise_clip: NotNegative = Field(default=0.5, description="largest size of that noise")


class SacAlgorithm(SacOptions, Choice):
    """Soft actor-critic."""

    kind: ClassVar[Kind] = Kind.ALGORITHM
    id: Literal["sac"] = Field(description="name of the algorithm")


class DdpgAlgorithm(DdpgOptions, Choice):
    """Deep deterministic policy gradients."""

    kind: ClassVar[Kind] = Kind.ALGORITHM
    id: Literal["ddpg"] = Field(description="name of the algorithm")


class Td3Algorithm(Td3Options, Choice):
    """Twin delayed deterministic policy gradients."""

    kind: ClassVar[Kind] = Kind.ALGORITHM
    id: Literal["td3"] = Field(description="name of the algorithm")
