"""The fixed properties of a game: its seats, spaces, teams and scoring."""

from collections.abc import Sequence
from dataclasses import dataclass
from functools import cached_property
from typing import Any, Literal, Self

from gymnasium import spaces

from workers.games import spaces as game_spaces
from workers.games.errors import BadGame
from workers.games.spaces import ActionValue, Part
from workers.games.teams import checked_teams


@dataclass(frozen=True, init=False)
class GameSpec:
    """The fixed properties of a game.

    `observation` and `action` are spaces of Gymnasium. The short form is `observation_shape=(2, 3)` for a box of
    float32, and `actions=9` for `Discrete(9)`.
    """

    id: str
    seats: int
    observation: spaces.Space[Any]
    """What a seat sees, always from its own point of view: see `workers.games.spaces.observation_parts`."""
    action: spaces.Space[Any]
    """What a seat may do: see `workers.games.spaces.check_action`."""
    max_steps: int
    """Upper bound on the steps of one game."""
    simultaneous: bool = False
    hidden_information: bool = False
    chance: bool = False
    """Dice, cards or the like, drawn from the seed, so that games of deterministic players differ too."""
    teams: tuple[int, ...] = ()
    """The team of each seat, numbered from 0: seats that win and lose together. By default each seat is a team."""
    scoring: Literal["outcome", "returns"] = "outcome"
    """`returns` for games of one team, which have no opponent: returns are tallied instead of wins."""
    action_names: tuple[str, ...] = ()
    """What people call the actions of a Discrete space; empty means by number."""
    openspiel: str | None = None
    """OpenSpiel's name of the same game, whose states `history` replays; None where there is none."""
    state: spaces.Space[Any] | None = None
    """A box of what `VectorGame.global_state` shows, for critics that see more than a seat; None where it has none."""
    mirrored: tuple[int, ...] = ()
    """What each action becomes when the last axis of observations is reversed, in games that are the same then; empty:
    the game is not. `alphazero` learns from both sides of the mirror."""

    def __init__(
        self,
        *,
        id: str,
        seats: int,
        max_steps: int,
        observation: spaces.Space[Any] | None = None,
        action: spaces.Space[Any] | None = None,
        observation_shape: Sequence[int] | None = None,
        actions: int | None = None,
        simultaneous: bool = False,
        hidden_information: bool = False,
        chance: bool = False,
        teams: tuple[int, ...] = (),
        scoring: Literal["outcome", "returns"] = "outcome",
        action_names: tuple[str, ...] = (),
        openspiel: str | None = None,
        state: spaces.Space[Any] | None = None,
        mirrored: tuple[int, ...] = (),
    ) -> None:
        values = {
            "id": id,
            "seats": seats,
            "observation": game_spaces.observation_space(id, observation, observation_shape),
            "action": game_spaces.action_space(id, action, actions),
            "max_steps": max_steps,
            "simultaneous": simultaneous,
            "hidden_information": hidden_information,
            "chance": chance,
            "teams": teams,
            "scoring": scoring,
            "action_names": action_names,
            "openspiel": openspiel,
            "state": state,
            "mirrored": mirrored,
        }
        for name, value in values.items():
            object.__setattr__(self, name, value)
        for name in ("seats", "max_steps"):
            if getattr(self, name) < 1:
                raise BadGame(f"{id}: {name} must be at least 1, not {getattr(self, name)}")
        object.__setattr__(self, "teams", checked_teams(teams or range(seats), seats, id))
        if self.team_count == 1:
            object.__setattr__(self, "scoring", "returns")
        if state is not None and not isinstance(state, spaces.Box):
            raise BadGame(f"{id}: its global state is {state}; allowed: Box")
        if mirrored and sorted(mirrored) != list(range(self.actions)):
            raise BadGame(f"{id}: mirrored must name each of the {self.actions} actions once, not {mirrored}")
        if action_names and len(action_names) != self.actions:
            raise BadGame(f"{id}: {len(action_names)} action names for {self.actions} actions")

    def seeing(self, observation: spaces.Space[Any]) -> Self:
        """The same game with another space to observe, for networks that see something else than a seat does."""
        values = {name: getattr(self, name) for name in self.__dataclass_fields__}
        return type(self)(**values | {"observation": observation})

    @cached_property
    def actions(self) -> int:
        """The number of actions of a Discrete space; other action spaces have none."""
        if not isinstance(self.action, spaces.Discrete):
            raise BadGame(f"{self.id}: actions are {self.action}; only Discrete actions have a number")
        return int(self.action.n)

    @property
    def observation_shape(self) -> tuple[int, ...]:
        """The shape of an observation that is one array; a Dict or Tuple has named parts instead."""
        parts = self.observation_parts
        if list(parts) != [""]:
            raise BadGame(f"{self.id}: observations have the parts {', '.join(parts)}, not one shape")
        return parts[""].shape

    @property
    def observation_parts(self) -> dict[str, Part]:
        """The arrays of an observation by name; one array has the name ""."""
        return game_spaces.observation_parts(self.observation)

    @cached_property
    def discrete(self) -> bool:
        """Whether an action is one number of 0 to n-1."""
        return isinstance(self.action, spaces.Discrete)

    @property
    def team_count(self) -> int:
        """The number of teams; 1 in one-seat games and in fully cooperative ones."""
        return max(self.teams) + 1

    @property
    def open_board(self) -> bool:
        """Whether several seats move in turn and see everything, so that random opening moves reveal nothing."""
        return self.discrete and not (self.simultaneous or self.hidden_information or self.seats == 1)

    def action_name(self, action: ActionValue) -> str:
        """What people call an action: its name, or its number or numbers."""
        if self.action_names:
            return self.action_names[int(action)]  # type: ignore[arg-type]
        if isinstance(action, list | tuple):
            return "(" + ", ".join(f"{number:.4g}" for number in action) + ")"
        return str(action)
