"""`algorithm`: the learning algorithm of all learning players. Algorithms take their options from here."""

from __future__ import annotations

from typing import Annotated, ClassVar, Literal

from pydantic import Discriminator, Field, Tag

from orchestrator.catalog import Kind
from orchestrator.spec.components import OTHER, Choice, OtherChoice, own_name, tag_by_id
from orchestrator.spec.section import Section
from orchestrator.spec.values import Count, Flag, NotNegative, Positive, Share


class AlgorithmOptions(Section):
    """Options of every algorithm; a user's own algorithm adds its options in a subclass."""

    learning_rate: Annotated[float, Field(strict=True, gt=0, le=1)] = Field(
        default=1e-3, description="step size of Adam"
    )
    gamma: Share = Field(default=1.0, description="discount per own decision of a seat, not per step of the game")
    gradient_clip: NotNegative = Field(default=0.5, description="largest norm of a gradient; 0 for no limit")
    rollout_steps: Positive = Field(default=16, description="steps at every table between two updates")
    minibatch: Positive = Field(default=4096, description="rows of one gradient step, over all processes")


class ReplayOptions(AlgorithmOptions):
    """Options of algorithms that learn from a buffer of past experience, for use in a user's own."""

    minibatch: Positive = Field(default=256, description="rows of one gradient step, over all processes")
    replay_ratio: NotNegative = Field(
        default=1.0,
        description="decisions learnt from for each new one; sets the gradient steps of an update",
    )
    capacity: Positive = Field(default=100_000, description="decisions that a process's buffer holds")
    warm_up: Count = Field(default=1_000, description="decisions in the buffer before the first gradient step")
    n_step: Positive = Field(default=1, description="rewards summed before the value of a later position is used")
    kept: Flag = Field(
        default=False, description="whether the buffer is part of the checkpoint, so that a generation resumes exactly"
    )
    compressed: Flag = Field(default=False, description="whether observations are compressed in memory")


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


_TAGS = {"ppo": "<ppo>", "vtrace": "<vtrace>"}


class OtherAlgorithm(OtherChoice):
    """A user's algorithm."""

    kind: ClassVar[Kind] = Kind.ALGORITHM
    id: str = own_name("name of an algorithm, or module:attr", _TAGS, "my_algorithms:Ppg")


AlgorithmChoice = Annotated[
    Annotated[PpoAlgorithm, Tag("<ppo>")]
    | Annotated[VtraceAlgorithm, Tag("<vtrace>")]
    | Annotated[OtherAlgorithm, Tag(OTHER)],
    Discriminator(tag_by_id(_TAGS, default="ppo")),
]
