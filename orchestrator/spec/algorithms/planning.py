"""Options of the algorithms that plan: those whose targets come from a tree search."""

from __future__ import annotations

from typing import Annotated, ClassVar, Literal

from pydantic import Field

from orchestrator.catalog import Kind
from orchestrator.spec.algorithms.base import ReplayOptions
from orchestrator.spec.components import Choice
from orchestrator.spec.values import Flag, NotNegative, Positive, PositiveShare, Share


class AlphaZeroOptions(ReplayOptions):
    """Options of AlphaZero."""

    learning_rate: PositiveShare = Field(default=2e-3, description="step size of Adam")
    gradient_clip: NotNegative = Field(default=1.0, description="largest norm of a gradient; 0 for no limit")
    rollout_steps: Positive = Field(default=4, description="steps at every table between two updates")
    minibatch: Positive = Field(default=512, description="rows of one gradient step, over all processes")
    replay_ratio: NotNegative = Field(
        default=4.0, description="decisions learnt from for each new one; sets the gradient steps of an update"
    )
    capacity: Positive = Field(default=200_000, description="decisions that a process's buffer holds")
    n_step: Positive = Field(default=64, description="rewards summed before the value of a later position is used")
    simulations: Annotated[int, Field(strict=True, ge=1, le=10_000)] = Field(
        default=32, description="simulations of the search for each decision"
    )
    method: Literal["gumbel", "puct"] = Field(
        default="gumbel", description="the search: gumbel (few simulations suffice) or puct with Dirichlet noise"
    )
    considered: Positive = Field(default=16, description="actions that gumbel tries at the root, at most")
    value_scale: NotNegative = Field(
        default=0.1, description="how much the values of the search weigh against the logits in gumbel"
    )
    exploration: NotNegative = Field(default=1.5, description="c of PUCT: how much the prior weighs against values")
    noise_share: Share = Field(default=0.25, description="how much of the root's prior is Dirichlet noise in puct")
    precision: Literal["auto", "f32", "bf16"] = Field(
        default="auto",
        description="the type in which the search computes the network; auto: bf16 for convres on CPUs that have it",
    )
    mirror: Flag = Field(
        default=True, description="whether half of the rows are learnt mirrored, in games that are the same in a mirror"
    )
    value_weight: NotNegative = Field(default=1.0, description="weight of the value loss")
    search_value_share: Share = Field(
        default=0.5, description="weight of the search's own value in the value's target; the rest is the outcome"
    )


class AlphaZeroAlgorithm(AlphaZeroOptions, Choice):
    """AlphaZero: the network learns the improved policy of a search, and the outcome."""

    kind: ClassVar[Kind] = Kind.ALGORITHM
    id: Literal["alphazero"] = Field(description="name of the algorithm")
