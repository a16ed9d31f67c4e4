"""`game`: what is played."""

from __future__ import annotations

from typing import Annotated, ClassVar, Literal

from pydantic import Discriminator, Field, JsonValue, Tag

from orchestrator.catalog import Kind
from orchestrator.spec.components import OTHER, Choice, OtherChoice, own_name, tag_by_id
from orchestrator.spec.values import Flag, Positive

OwnGame = Literal["connect_four", "tic_tac_toe", "rock_paper_scissors", "kuhn_poker", "leduc_poker"]


class BuiltInGame(Choice):
    """A game of Lanista's own; they have no options."""

    kind: ClassVar[Kind] = Kind.GAME
    id: OwnGame = Field(description="name of the game")


class OpenSpielGame(Choice):
    """Any game of OpenSpiel."""

    kind: ClassVar[Kind] = Kind.GAME
    id: Literal["openspiel"] = Field(description="name of the adapter")
    game: str = Field(min_length=1, description="OpenSpiel's name, parameters in brackets: hex(board_size=7)")
    sight: Literal["auto", "observation", "information_state"] = Field(
        default="auto", description="what a seat sees: the state as it stands, or all it has seen so far"
    )


class GymnasiumGame(Choice):
    """Any one-seat Gymnasium environment."""

    kind: ClassVar[Kind] = Kind.GAME
    id: Literal["gymnasium"] = Field(description="name of the adapter")
    env: str = Field(min_length=1, description="registered id, or factory module:attr: CartPole-v1")
    options: dict[str, JsonValue] = Field(default={}, description="arguments of the environment")
    max_steps: Positive | None = Field(default=None, description="longest game; null: the environment's own limit")


class PettingZooGame(Choice):
    """Any PettingZoo environment."""

    kind: ClassVar[Kind] = Kind.GAME
    id: Literal["pettingzoo_aec", "pettingzoo_parallel"] = Field(description="name of the adapter")
    env: str = Field(min_length=1, description="registered id, or factory module:attr: classic/tictactoe_v3")
    options: dict[str, JsonValue] = Field(default={}, description="arguments of the environment")
    max_steps: Positive = Field(default=1000, description="longest game")
    hidden_information: Flag = Field(default=True, description="whether seats see different things")


_TAGS = {
    **dict.fromkeys(("connect_four", "tic_tac_toe", "rock_paper_scissors", "kuhn_poker", "leduc_poker"), "<built-in>"),
    **dict.fromkeys(("pettingzoo_aec", "pettingzoo_parallel"), "<pettingzoo>"),
    "openspiel": "<openspiel>",
    "gymnasium": "<gymnasium>",
}


class OtherGame(OtherChoice):
    """A game of one's own."""

    kind: ClassVar[Kind] = Kind.GAME
    id: str = own_name("name of a game, or module:attr", _TAGS, "my_games:Nim")


GameChoice = Annotated[
    Annotated[BuiltInGame, Tag("<built-in>")]
    | Annotated[OpenSpielGame, Tag("<openspiel>")]
    | Annotated[GymnasiumGame, Tag("<gymnasium>")]
    | Annotated[PettingZooGame, Tag("<pettingzoo>")]
    | Annotated[OtherGame, Tag(OTHER)],
    Discriminator(tag_by_id(_TAGS)),
]
