"""Options of imitation and offline algorithms: those that learn from data sets."""

from __future__ import annotations

from typing import Annotated, ClassVar, Literal

from pydantic import Field, ValidationInfo, field_validator

from orchestrator.catalog import Kind
from orchestrator.spec.algorithms.actor_critic import PpoOptions
from orchestrator.spec.algorithms.base import AlgorithmOptions
from orchestrator.spec.components import Choice
from orchestrator.spec.section import Section
from orchestrator.spec.values import WHOLE, Count, NotNegative, Positive, Share

Source = Annotated[str, Field(min_length=1, max_length=1000)]
Positives = Annotated[float, Field(strict=True, gt=0, le=1e6)]


class DatasetOptions(Section):
    """Where the data of an imitation or offline algorithm come from."""

    dataset: tuple[Source, ...] = Field(
        min_length=1,
        max_length=1000,
        description="files of decisions (.npz or .parquet, patterns too) in the import folders, or module:attr",
        examples=[["games/train-*.npz"]],
    )
    dataset_weights: tuple[Positives, ...] = Field(
        default=(),
        max_length=1000,
        description="how often rows of each entry of dataset are drawn, as [3, 1]; none: by their number of rows",
    )
    validation_dataset: tuple[Source, ...] = Field(
        default=(), max_length=1000, description="the same, of decisions that are only measured on"
    )
    validation_share: Share = Field(
        default=0.1, description="share of the games to measure on where validation_dataset names none"
    )
    validation_every: Positive = Field(default=50, description="gradient steps between two measurements")
    validation_batches: Positive = Field(default=1, description="minibatches of one measurement")

    @field_validator("dataset_weights")
    @classmethod
    def _one_for_each_entry(cls, weights: tuple[float, ...], info: ValidationInfo) -> tuple[float, ...]:
        entries = len(info.data.get("dataset", weights))
        if weights and len(weights) != entries:
            raise ValueError(f"has {len(weights)} weights for {entries} entries of dataset")
        return weights


class OfflineOptions(DatasetOptions, AlgorithmOptions):
    """Options of algorithms that learn from data sets alone, without playing."""

    minibatch: Positive = Field(default=1024, description="rows of one gradient step, over all processes")
    prefetch: Annotated[int, Field(strict=True, ge=0, le=64), WHOLE] = Field(
        default=0, description="minibatches that a thread prepares while the network learns; 0: none"
    )


class BcOptions(OfflineOptions):
    """Options of behaviour cloning."""

    value_weight: NotNegative = Field(
        default=0.0, description="weight of the value loss: the squared error to the return that followed"
    )
    entropy: NotNegative = Field(default=0.0, description="weight of the entropy bonus")


class IqlOptions(OfflineOptions):
    """Options of implicit Q-learning."""

    gamma: Share = Field(default=0.99, description="discount per own decision of a seat, not per step of the game")
    expectile: Annotated[float, Field(strict=True, ge=0.5, lt=1)] = Field(
        default=0.7,
        description="expectile of the values: 0.5 the mean over the data's actions, towards 1 the best of them",
    )
    temperature: NotNegative = Field(
        default=3.0, description="how strongly actions of a high advantage are preferred; 0: behaviour cloning"
    )
    largest_weight: Positive = Field(default=100, description="most that one decision counts for in the policy loss")
    target_rate: Annotated[float, Field(strict=True, gt=0, le=1)] = Field(
        default=0.005, description="share by which the target network follows the critic at each gradient step"
    )


class SlRlOptions(DatasetOptions, PpoOptions):
    """Options of imitation mixed with reinforcement."""

    imitation: Share = Field(
        default=0.5, description="weight of the imitation loss in the policy's gradient; PPO's has the rest"
    )
    imitation_end: Share = Field(default=0.0, description="the same after imitation_rows")
    imitation_rows: Count = Field(
        default=0, description="own decisions over which the weight changes linearly; 0: it stays as it is"
    )
    imitation_minibatch: Positive = Field(
        default=512, description="rows of the data set in one gradient step, over all processes"
    )


_FILES = frozenset({"dataset", "validation_dataset"})


class BcAlgorithm(BcOptions, Choice):
    """Behaviour cloning: the likelihood of recorded actions."""

    kind: ClassVar[Kind] = Kind.ALGORITHM
    data_files: ClassVar[frozenset[str]] = _FILES
    id: Literal["bc"] = Field(description="name of the algorithm")


class IqlAlgorithm(IqlOptions, Choice):
    """Implicit Q-learning: offline, without asking for actions that are not in the data."""

    kind: ClassVar[Kind] = Kind.ALGORITHM
    data_files: ClassVar[frozenset[str]] = _FILES
    id: Literal["iql"] = Field(description="name of the algorithm")


class SlRlAlgorithm(SlRlOptions, Choice):
    """PPO on one's own games mixed with behaviour cloning of a data set."""

    kind: ClassVar[Kind] = Kind.ALGORITHM
    data_files: ClassVar[frozenset[str]] = _FILES
    id: Literal["sl_rl"] = Field(description="name of the algorithm")
