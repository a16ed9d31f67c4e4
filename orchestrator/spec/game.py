"""`game`: what is played."""

from __future__ import annotations

import re
from typing import Annotated, Any, ClassVar, Literal

from pydantic import (
    Discriminator,
    Field,
    JsonValue,
    Tag,
    ValidationError,
    ValidatorFunctionWrapHandler,
    WrapValidator,
    field_validator,
)

from orchestrator.catalog import Kind, built_in_names
from orchestrator.spec.components import OTHER, Choice, OtherChoice, own_name, tag_by_id
from orchestrator.spec.remote import RemoteGame
from orchestrator.spec.section import one_of
from orchestrator.spec.values import ExtraProcesses, Flag, Positive, TeamNumber


def _in_one_sentence(value: Any, check: ValidatorFunctionWrapHandler) -> Any:
    """A union reports the problem of each of its members; one sentence says what is allowed."""
    try:
        return check(value)
    except ValidationError:
        raise ValueError(
            "must be each, one, a list of the seats' team numbers such as [0, 0, 1, 1], or (PettingZoo) team numbers "
            "by the beginning of the agents' names"
        ) from None


_Seats = Literal["each", "one"] | tuple[TeamNumber, ...]
Teams = Annotated[_Seats | None, WrapValidator(_in_one_sentence)]
TeamsByName = Annotated[_Seats | dict[str, TeamNumber] | None, WrapValidator(_in_one_sentence)]
_TEAMS = (
    "which seats play together: each, one, a list such as [0, 0, 1, 1], or by the agents' names, as {red: 0, blue: 1}"
)

_VARIANTS = "further options; each game draws one of them from its seed"
_WORKERS = "processes that step the environments of each rollout process; 0: none, it steps them itself"

_ADAPTERS = {
    "openspiel": "<openspiel>",
    "gymnasium": "<gymnasium>",
    "envpool": "<envpool>",
    "pettingzoo_aec": "<pettingzoo>",
    "pettingzoo_parallel": "<pettingzoo>",
    "remote": "<remote>",
}
"""Built-in names that have options, each with the tag of its class below."""
_PLAIN = [name for name in built_in_names(Kind.GAME) if name not in _ADAPTERS]


class BuiltInGame(Choice):
    """A built-in game; it has no options."""

    kind: ClassVar[Kind] = Kind.GAME
    id: str = Field(description="name of the game", json_schema_extra={"enum": list(_PLAIN)})

    @field_validator("id")
    @classmethod
    def _built_in(cls, name: str) -> str:
        if name not in _PLAIN:
            raise ValueError(one_of(name, _PLAIN))
        return name


class OpenSpielGame(Choice):
    """Any game of OpenSpiel."""

    kind: ClassVar[Kind] = Kind.GAME
    added: ClassVar[frozenset[str]] = frozenset({"teams"})
    id: Literal["openspiel"] = Field(description="name of the adapter")
    game: str = Field(min_length=1, description="OpenSpiel's name, parameters in brackets: hex(board_size=7)")
    sight: Literal["auto", "observation", "information_state"] = Field(
        default="auto", description="what a seat sees: the present state, or everything it has seen so far"
    )
    teams: Teams = Field(
        default=None, description="which seats play together: each, one, or a list such as [0, 1, 0, 1]"
    )


class GymnasiumGame(Choice):
    """Any one-seat Gymnasium environment."""

    kind: ClassVar[Kind] = Kind.GAME
    added: ClassVar[frozenset[str]] = frozenset({"variants", "workers", "vector"})
    id: Literal["gymnasium"] = Field(description="name of the adapter")
    env: str = Field(min_length=1, description="registered id, or module:attr of a class: CartPole-v1")
    options: dict[str, JsonValue] = Field(default={}, description="arguments of the environment")
    max_steps: Positive | None = Field(default=None, description="longest game; null: the environment's own limit")
    variants: list[dict[str, JsonValue]] | None = Field(default=None, min_length=1, description=_VARIANTS)
    workers: ExtraProcesses = Field(default=0, description=_WORKERS)
    vector: Flag = Field(
        default=False,
        description="whether rollouts use the environment's own vector entry point, for all tables",
    )


class EnvPoolGame(Choice):
    """Any one-player environment of EnvPool, stepped in C++."""

    kind: ClassVar[Kind] = Kind.GAME
    id: Literal["envpool"] = Field(description="name of the adapter")
    env: str = Field(min_length=1, description="EnvPool's name of the task: Pong-v5, Pendulum-v1, HalfCheetah-v4")
    options: dict[str, JsonValue] = Field(default={}, description="arguments of envpool.make")
    max_steps: Positive | None = Field(default=None, description="longest game; null: the environment's own limit")
    threads: Positive = Field(default=1, description="threads of each rollout process that step its tables")


class PettingZooGame(Choice):
    """Any PettingZoo environment."""

    kind: ClassVar[Kind] = Kind.GAME
    added: ClassVar[frozenset[str]] = frozenset({"teams", "variants", "workers"})
    id: Literal["pettingzoo_aec", "pettingzoo_parallel"] = Field(description="name of the adapter")
    env: str = Field(min_length=1, description="registered id, or module:attr of a class: classic/tictactoe_v3")
    options: dict[str, JsonValue] = Field(default={}, description="arguments of the environment")
    max_steps: Positive = Field(default=1000, description="longest game")
    hidden_information: Flag = Field(default=True, description="whether seats see different things")
    teams: TeamsByName = Field(default=None, description=_TEAMS)
    variants: list[dict[str, JsonValue]] | None = Field(default=None, min_length=1, description=_VARIANTS)
    workers: ExtraProcesses = Field(default=0, description=_WORKERS)


_PLAYERS = re.compile(r"\bplayers=(\d+)")


def declared_team_count(game: Choice) -> int | None:
    """How many teams the section itself says that the game has; None where only the game knows."""
    if isinstance(game, RemoteGame):
        return game.spec.team_count
    teams = getattr(game, "teams", None)
    if teams == "one":
        return 1
    if isinstance(teams, tuple | dict):
        return len(set(teams.values() if isinstance(teams, dict) else teams))
    players = _PLAYERS.search(game.game) if isinstance(game, OpenSpielGame) else None
    return int(players.group(1)) if players else None


_TAGS = dict.fromkeys(_PLAIN, "<built-in>") | _ADAPTERS


class OtherGame(OtherChoice):
    """A user's game."""

    kind: ClassVar[Kind] = Kind.GAME
    id: str = own_name("name of a game, or module:attr", _TAGS, "my_games:Nim")


GameChoice = Annotated[
    Annotated[BuiltInGame, Tag("<built-in>")]
    | Annotated[OpenSpielGame, Tag("<openspiel>")]
    | Annotated[GymnasiumGame, Tag("<gymnasium>")]
    | Annotated[EnvPoolGame, Tag("<envpool>")]
    | Annotated[PettingZooGame, Tag("<pettingzoo>")]
    | Annotated[RemoteGame, Tag("<remote>")]
    | Annotated[OtherGame, Tag(OTHER)],
    Discriminator(tag_by_id(_TAGS)),
]
