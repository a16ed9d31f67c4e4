"""Options of the algorithms without gradients."""

from __future__ import annotations

from typing import Annotated, ClassVar, Literal

from pydantic import Field

from orchestrator.catalog import Kind
from orchestrator.spec.algorithms.base import AlgorithmOptions
from orchestrator.spec.components import Choice
from orchestrator.spec.values import Flag, NotNegative, Positive


class EsOptions(AlgorithmOptions):
    """Options of evolution strategies."""

    learning_rate: Annotated[float, Field(strict=True, gt=0, le=1)] = Field(
        default=0.05, description="step size of Adam"
    )
    gradient_clip: NotNegative = Field(default=0.0, description="largest norm of a gradient; 0 for no limit")
    rollout_steps: Positive = Field(
        default=500,
        description="steps at every table between two updates; games begin anew with each update and should fit in",
    )
    population: Annotated[int, Field(strict=True, ge=2, multiple_of=2)] = Field(
        default=32, description="perturbed policies, in pairs of opposite noise; at least as many tables are needed"
    )
    noise_scale: Annotated[float, Field(strict=True, gt=0)] = Field(
        default=0.1, description="standard deviation of the noise on the weights (sigma)"
    )
    weight_decay: NotNegative = Field(default=0.005, description="how strongly weights are pulled towards 0")
    sampled: Flag = Field(
        default=False, description="whether actions are drawn from the policy's distribution; else the best is played"
    )


class EsAlgorithm(EsOptions, Choice):
    """Evolution strategies."""

    kind: ClassVar[Kind] = Kind.ALGORITHM
    restarts: ClassVar[bool] = True
    id: Literal["es"] = Field(description="name of the algorithm")

    @property
    def least_tables(self) -> int:
        return self.population
