"""`model`: the network of a learning player."""

from __future__ import annotations

from typing import Annotated, ClassVar, Literal

from pydantic import Discriminator, Field, Tag

from orchestrator.catalog import Kind
from orchestrator.spec.components import OTHER, Choice, OtherChoice, own_name, tag_by_id
from orchestrator.spec.values import Flag, Width


class _Network(Choice):
    """Options of every built-in model."""

    kind: ClassVar[Kind] = Kind.MODEL
    added: ClassVar[frozenset[str]] = frozenset({"head"})
    normalise: Flag = Field(
        default=False, description="whether observations are normalised to mean 0 and deviation 1 by running statistics"
    )
    head: Literal["gaussian", "squashed", "beta"] | None = Field(
        default=None,
        description="distribution of Box actions: gaussian, squashed (a tanh onto the bounds) or beta; null: gaussian",
    )


class MlpModel(_Network):
    """A multi-layer perceptron."""

    id: Literal["mlp"] = Field(default="mlp", description="name of the model")
    hidden: tuple[Width, ...] = Field(
        default=(128, 128), min_length=1, max_length=64, description="width of each hidden layer"
    )
    activation: Literal["relu", "tanh"] = Field(default="relu", description="activation function between the layers")


class ConvModel(_Network):
    """A small residual convolutional network, for board games."""

    id: Literal["conv"] = Field(description="name of the model")
    channels: Width = Field(default=32, description="channels of each convolution")
    blocks: Width = Field(default=2, description="residual blocks of two convolutions")
    hidden: Width = Field(default=128, description="width of the dense layer before the heads")


class ConvResModel(_Network):
    """A residual convolutional network for board games, laid out for CPUs."""

    id: Literal["convres"] = Field(description="name of the model")
    channels: Width = Field(default=32, description="channels of each convolution")
    blocks: Width = Field(default=2, description="residual blocks of two convolutions")
    narrow: Width = Field(default=8, description="channels that are left before the dense layer")
    hidden: Width = Field(default=128, description="width of the dense layer before the heads")


class NatureModel(_Network):
    """The convolutional network of Mnih et al. 2015, for images such as Atari's."""

    id: Literal["nature"] = Field(description="name of the model")
    hidden: Width = Field(default=512, description="width of the dense layer before the heads")


class GruModel(_Network):
    """A recurrent network (GRU), for games with hidden information."""

    id: Literal["gru"] = Field(description="name of the model")
    hidden: Width = Field(default=64, description="width of the encoder")
    state: Width = Field(default=64, description="width of the memory")


_TAGS = {"mlp": "<mlp>", "conv": "<conv>", "convres": "<convres>", "nature": "<nature>", "gru": "<gru>"}


class OtherModel(OtherChoice):
    """A user's model."""

    kind: ClassVar[Kind] = Kind.MODEL
    id: str = own_name("name of a model, or module:attr", _TAGS, "my_models:Transformer")


ModelChoice = Annotated[
    Annotated[MlpModel, Tag("<mlp>")]
    | Annotated[ConvModel, Tag("<conv>")]
    | Annotated[ConvResModel, Tag("<convres>")]
    | Annotated[NatureModel, Tag("<nature>")]
    | Annotated[GruModel, Tag("<gru>")]
    | Annotated[OtherModel, Tag(OTHER)],
    Discriminator(tag_by_id(_TAGS, default="mlp")),
]
