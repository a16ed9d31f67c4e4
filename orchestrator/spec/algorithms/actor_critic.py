"""Options of the actor-critic algorithms."""

from __future__ import annotations

from typing import ClassVar, Literal

from pydantic import Field

from orchestrator.catalog import Kind
from orchestrator.spec.algorithms.base import AlgorithmOptions
from orchestrator.spec.components import Choice
from orchestrator.spec.values import Flag, NotNegative, Positive, Share


class _ActorCritic(AlgorithmOptions):
    """Options of every built-in algorithm."""

    entropy: NotNegative = Field(
        default=0.05, description="weight of the entropy bonus; too little and self-play collapses onto a few openings"
    )
    value_weight: NotNegative = Field(default=0.5, description="weight of the value loss relative to the policy loss")


class PpoOptions(_ActorCritic):
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


class VtraceOptions(_ActorCritic):
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
    epochs: Positive = Field(default=1, description="passes over each batch, with fresh targets in each")


class PpoAlgorithm(PpoOptions, Choice):
    """Proximal policy optimisation."""

    kind: ClassVar[Kind] = Kind.ALGORITHM
    id: Literal["ppo"] = Field(default="ppo", description="name of the algorithm")


class VtraceAlgorithm(VtraceOptions, Choice):
    """V-trace (IMPALA), which corrects for samples of an older policy."""

    kind: ClassVar[Kind] = Kind.ALGORITHM
    id: Literal["vtrace"] = Field(description="name of the algorithm")
