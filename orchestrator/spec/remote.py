"""`game: {id: remote}`: a game that calls in, declared by its seats and spaces."""

from __future__ import annotations

import math
import re
from collections.abc import Iterable, Iterator, Mapping
from typing import Annotated, Any, ClassVar, Literal

from pydantic import Discriminator, Field, JsonValue, Tag, ValidationInfo, field_validator

from orchestrator.catalog import Kind
from orchestrator.spec.components import Choice, check_name
from orchestrator.spec.section import Contradiction, Section, one_of
from orchestrator.spec.values import Flag, Number, Positive, TeamNumber, Width

REMOTE = "remote"
"""The name of games that call in."""
_FUNCTION = re.compile(r"[A-Za-z_][\w.]*:[A-Za-z_][\w.]*")
_NAME = re.compile(r"[\w.-]{1,64}")
MOST_NUMBERS = 1 << 24
"""The most numbers of one observation or action."""

Bound = Number | None | list[Any]
"""A bound of a box: one number for all, nested lists of the box's shape, or null for none."""


class DiscreteSpace(Section):
    """One of n choices."""

    type: Literal["discrete"] = Field(description="discrete")
    n: Width = Field(description="how many choices there are, numbered from 0")


class MultiDiscreteSpace(Section):
    """Several choices at once."""

    type: Literal["multi_discrete"] = Field(description="multi_discrete")
    n: tuple[Width, ...] = Field(min_length=1, max_length=4096, description="the choices of each number, as [3, 3, 2]")


class MultiBinarySpace(Section):
    """Several switches at once."""

    type: Literal["multi_binary"] = Field(description="multi_binary")
    n: Width = Field(description="how many switches there are")


class BoxSpace(Section):
    """An array of numbers."""

    type: Literal["box"] = Field(description="box")
    shape: tuple[Positive, ...] = Field(max_length=8, description="the array's shape, as [3, 3]; [] is one number")
    low: Bound = Field(default=None, description="least value: one for all, or lists of the shape; null: none")
    high: Bound = Field(default=None, description="greatest value, likewise")
    dtype: Literal["float32", "float64", "uint8", "int8", "int16", "int32", "int64"] = Field(
        default="float32", description="type of the numbers"
    )

    @classmethod
    def contradictions(cls, given: Mapping[str, Any]) -> Iterable[Contradiction]:
        shape = given.get("shape")
        if not isinstance(shape, list | tuple) or not all(isinstance(size, int) and size > 0 for size in shape):
            return
        if math.prod(shape) > MOST_NUMBERS:
            yield Contradiction(
                path=("shape",), value=shape, reason=f"has {math.prod(shape)} numbers, at most {MOST_NUMBERS} allowed"
            )
        low, high = given.get("low"), given.get("high")
        if isinstance(low, int | float) and isinstance(high, int | float) and low > high:
            yield Contradiction(path=("low",), value=low, reason=f"must not be above high, {high}")
        for name in ("low", "high"):
            bound = given.get(name)
            if isinstance(bound, list | tuple) and not _has_shape(bound, tuple(shape)):
                yield Contradiction(
                    path=(name,), value=bound, reason=f"must be one number or lists of numbers of shape {list(shape)}"
                )


class DictSpace(Section):
    """Named parts, each a space of its own."""

    type: Literal["dict"] = Field(description="dict")
    spaces: dict[str, Space] = Field(min_length=1, max_length=64, description="the parts by name")


class TupleSpace(Section):
    """Numbered parts, each a space of its own."""

    type: Literal["tuple"] = Field(description="tuple")
    spaces: tuple[Space, ...] = Field(min_length=1, max_length=64, description="the parts in order")


class UnknownSpace(Section):
    """A space of a type that there is not; it always fails."""

    type: str = Field(description="the kind of space: box, discrete, multi_discrete, multi_binary, dict or tuple")

    @field_validator("type")
    @classmethod
    def _known(cls, kind: str) -> str:
        raise ValueError(one_of(kind, _SPACES))


_SPACES = ("box", "discrete", "multi_discrete", "multi_binary", "dict", "tuple")


def _space_tag(value: Any) -> str:
    kind = value.get("type") if isinstance(value, Mapping) else getattr(value, "type", None)
    return f"<{kind}>" if kind in _SPACES else "<unknown>"


Space = Annotated[
    Annotated[BoxSpace, Tag("<box>")]
    | Annotated[DiscreteSpace, Tag("<discrete>")]
    | Annotated[MultiDiscreteSpace, Tag("<multi_discrete>")]
    | Annotated[MultiBinarySpace, Tag("<multi_binary>")]
    | Annotated[DictSpace, Tag("<dict>")]
    | Annotated[TupleSpace, Tag("<tuple>")]
    | Annotated[UnknownSpace, Tag("<unknown>")],
    Discriminator(_space_tag),
]
DictSpace.model_rebuild()
TupleSpace.model_rebuild()


class RemoteSpec(Section):
    """What a game that calls in looks like: seats, spaces and teams."""

    observation: Space = Field(description="what a seat sees, as {type: box, shape: [9]}")
    action: Space = Field(description="what a seat does, as {type: discrete, n: 9}")
    seats: Annotated[int, Field(strict=True, ge=1, le=64)] = Field(default=2, description="how many seats it has")
    teams: tuple[TeamNumber, ...] | None = Field(
        default=None, description="the team of each seat, as [0, 0, 1, 1]; null: each seat is a team of its own"
    )
    max_steps: Positive = Field(default=10_000, description="most ticks of one game; a longer one is aborted")
    simultaneous: Flag = Field(default=False, description="whether seats decide at the same time")
    action_names: tuple[str, ...] = Field(default=(), description="what people call the choices of a discrete action")

    @classmethod
    def contradictions(cls, given: Mapping[str, Any]) -> Iterable[Contradiction]:
        seats, teams, names, action = (given.get(key) for key in ("seats", "teams", "action_names", "action"))
        seats = 2 if seats is None else seats
        if isinstance(teams, list | tuple) and isinstance(seats, int):
            if len(teams) != seats:
                yield Contradiction(path=("teams",), value=teams, reason=f"names {len(teams)} seats, there are {seats}")
            elif all(isinstance(team, int) for team in teams) and sorted(set(teams)) != [*range(len(set(teams)))]:
                yield Contradiction(path=("teams",), value=teams, reason="must be numbered 0, 1, ... without a gap")
        if names and isinstance(action, Mapping) and len(names) != action.get("n"):
            yield Contradiction(
                path=("action_names",), value=names, reason="must name every choice of a discrete action, in order"
            )

    @property
    def team_count(self) -> int:
        """How many teams there are."""
        return self.seats if self.teams is None else len(set(self.teams))


class Dump(Section):
    """Which games are kept tick by tick."""

    every: Positive = Field(description="the first game of a gateway process and then each n-th one is kept")
    keep: Positive = Field(default=100, description="so many games of the trial stay; older ones are removed")
    render: str | list[str] | None = Field(
        default=None,
        description="module:function that draws a tick, for the page; a list: their pictures one below the other; "
        "null: none",
    )

    @field_validator("render")
    @classmethod
    def _names_functions(cls, render: str | list[str] | None) -> str | list[str] | None:
        for name in [render] if isinstance(render, str) else render or []:
            if _FUNCTION.fullmatch(name) is None:
                raise ValueError("must be an import path module:function, as my_game.agent:draw, or a list of them")
        return render


class RemoteGame(Choice):
    """A game in a process of its own, which calls in at a gateway."""

    kind: ClassVar[Kind] = Kind.GAME
    id: Literal["remote"] = Field(description="name of games that call in")
    agent: JsonValue = Field(
        default="generic",
        description="what turns the game's bytes into observations: generic (JSON), or module:Class; also {id: "
        "module:Class, options: {...}}, a list of these, or these by the names of a game's several agents",
    )
    spec: RemoteSpec = Field(description="seats, spaces and teams of the game")
    name: str = Field(
        default="", description="what processes of the game must say that they play; empty: they say nothing"
    )
    episode_length: Positive | None = Field(
        default=None, description="decisions of a seat after which its episode is cut; null: the agent's own"
    )
    dump: Dump | None = Field(
        default=None, description="which games are kept tick by tick, as {every: 1000}; null: none"
    )

    @field_validator("agent")
    @classmethod
    def _names_agents(cls, agent: JsonValue, info: ValidationInfo) -> JsonValue:
        for name in _agents_in(agent):
            if not isinstance(name, str):
                raise ValueError("must be generic, or an import path module:Class, as my_game.agent:MyAgent")
            check_name(Kind.AGENT, name, info)
        return agent

    @field_validator("name")
    @classmethod
    def _plain_name(cls, name: str) -> str:
        if name and _NAME.fullmatch(name) is None:
            raise ValueError("must be 1 to 64 letters, digits, dots, hyphens and underscores")
        return name


def _agents_in(agent: JsonValue) -> Iterator[JsonValue]:
    """The names of agents in what a trial file says of them."""
    if isinstance(agent, dict) and "id" in agent:
        if unknown := sorted(agent.keys() - {"id", "options"}):
            raise ValueError(f"has no field {', '.join(unknown)}; allowed: id, options")
        if not isinstance(agent.get("options") or {}, dict):
            raise ValueError("options must be a mapping of options, as {name: value}")
        yield agent["id"]
    elif isinstance(agent, dict | list) and agent:
        for each in agent.values() if isinstance(agent, dict) else agent:
            yield from _agents_in(each)
    else:
        yield agent


def _has_shape(value: Any, shape: tuple[int, ...]) -> bool:
    """Whether nested lists of numbers have this shape."""
    if not shape:
        return isinstance(value, int | float) and not isinstance(value, bool)
    listed = isinstance(value, list | tuple) and len(value) == shape[0]
    return listed and all(_has_shape(part, shape[1:]) for part in value)
