"""`algorithm`: the learning algorithm of all learning players."""

from __future__ import annotations

from typing import Annotated, ClassVar, Literal

from pydantic import Discriminator, Field, Tag

from orchestrator.catalog import Kind
from orchestrator.spec.components import OTHER, Choice, OtherChoice, own_name, tag_by_id
from orchestrator.spec.values import Flag, NotNegative, Positive, Share


class _Learning(Choice):
    """Options of every built-in algorithm."""

    kind: ClassVar[Kind] = Kind.ALGORITHM
    learning_rate: Annotated[float, Field(strict=True, gt=0, le=1)] = Field(
        default=1e-3, description="step size of Adam"
    )
    gamma: Share = Field(default=1.0, description="discount per own decision of a seat, not per step of the game")
    entropy: NotNegative = Field(
        default=0.05, description="weight of the entropy bonus; too little and self-play collapses onto a few openings"
    )
    value_weight: NotNegative = Field(default=0.5, description="weight of the value loss relative to the policy loss")
    gradient_clip: NotNegative = Field(default=0.5, description="largest norm of a gradient; 0 for no limit")
    rollout_steps: Positive = Field(default=16, description="steps at every table between two updates")
    minibatch: Positive = Field(default=4096, description="rows of one gradient step, over all processes")


class PpoAlgorithm(_Learning):
    """Proximal policy optimisation. The same options, with the same defaults, are in `workers.algorithms.ppo`."""

    id: Literal["ppo"] = Field(default="ppo", description="name of the algorithm")
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


class VtraceAlgorithm(_Learning):
    """V-trace (IMPALA), which corrects for samples of an older policy."""

    id: Literal["vtrace"] = Field(description="name of the algorithm")
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
