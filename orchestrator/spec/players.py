"""`league.players`: the players of a league, and the default players of each preset."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any, Final

from pydantic import Field, ValidationInfo, field_validator

from league.types import Role
from orchestrator.catalog import Kind
from orchestrator.spec.algorithms.choice import AlgorithmChoice
from orchestrator.spec.components import KnownNames, check_name
from orchestrator.spec.matchmaking import Preset
from orchestrator.spec.model import ModelChoice
from orchestrator.spec.population import PopulationSpec
from orchestrator.spec.section import Section
from orchestrator.spec.values import Name, is_id

FILE_NEEDS_IMPORT: Final = (
    "must be a version's id; import a file into a trial of the same game and model first, by "
    "`lanista model import TRIAL NAME FILE` or POST /versions, and give the id that it says"
)


EXAMPLES: Final = {"algorithm": "vtrace", "model": "mlp"}


class PlayerSpec(Section):
    """One player of the league."""

    name: Name = Field(description="name of the player, unique within the trial")
    role: Role = Field(
        default=Role.MAIN, description="main, main_exploiter, league_exploiter, historical (frozen) or bot (scripted)"
    )
    bot: str | None = Field(
        default=None,
        validate_default=True,
        description="which bot a player of the role bot is: random, mcts-100, ... or module:attr",
    )
    weights: str | None = Field(
        default=None,
        validate_default=True,
        min_length=1,
        description="version id of weights: what a historical player is, and where a learning one starts "
        "(null: at the trial's initial_weights); a file is imported first",
    )
    algorithm: AlgorithmChoice | None = Field(
        default=None,
        description="how this player learns, with its id; it replaces the trial's as a whole (null: the trial's)",
    )
    model: ModelChoice | None = Field(
        default=None,
        description="the network of this player, with its id; it replaces the trial's as a whole (null: the trial's)",
    )

    population: PopulationSpec | None = Field(
        default=None,
        description="as many members of this role, which copy better ones and vary their hyperparameters; null: one",
    )

    @property
    def members(self) -> tuple[PlayerSpec, ...]:
        """The players that this entry makes: itself, or the members of its population."""
        if self.population is None:
            return (self,)
        numbers = range(1, self.population.size + 1)
        return tuple(self.model_copy(update={"name": member_name(self.name, number)}) for number in numbers)

    @field_validator("bot")
    @classmethod
    def _bot_has_a_name(cls, bot: str | None, info: ValidationInfo) -> str | None:
        role = info.data.get("role")
        if role is Role.BOT and bot is None:
            raise ValueError("a player of the role bot needs the name of its bot, as bot: random")
        if bot is not None and role not in (Role.BOT, None):
            raise ValueError(f"only a player of the role bot can have a bot; this one has the role {role}")
        return bot if bot is None else check_name(Kind.BOT, bot, info)

    @field_validator("weights")
    @classmethod
    def _historical_has_weights(cls, weights: str | None, info: ValidationInfo) -> str | None:
        role = info.data.get("role")
        if role is Role.HISTORICAL and weights is None:
            raise ValueError("a historical player needs weights: a version id")
        if weights is not None and role is Role.BOT:
            raise ValueError("a bot has no weights")
        # only new trials are refused: stored ones must stay readable
        if weights is not None and isinstance(info.context, KnownNames) and not is_id(weights):
            raise ValueError(FILE_NEEDS_IMPORT)
        return weights

    @field_validator("population")
    @classmethod
    def _members_learn(cls, population: PopulationSpec | None, info: ValidationInfo) -> PopulationSpec | None:
        role = info.data.get("role")
        if population is not None and role is not None and not role.learns:
            raise ValueError(f"a player of the role {role} does not learn: it can have no population")
        return population

    @field_validator("algorithm", "model", mode="before")
    @classmethod
    def _is_complete(cls, choice: Any, info: ValidationInfo) -> Any:
        role = info.data.get("role")
        if choice is None or role is None:
            return choice
        if role is Role.BOT or (role is Role.HISTORICAL and info.field_name == "algorithm"):
            raise ValueError(f"a player of the role {role} has no {info.field_name} of its own")
        if isinstance(choice, Mapping) and "id" not in choice:
            raise ValueError(
                f"needs an id, as {{id: {EXAMPLES[str(info.field_name)]}}}: it replaces the trial's as a whole"
            )
        return choice


def member_name(population: str, number: int) -> str:
    """The name of a member; a name of the trial file has no dot, so that the two cannot be equal."""
    return f"{population}.{number}"


MAIN: Final = PlayerSpec(name="main", role=Role.MAIN)

DEFAULT_PLAYERS: Final[Mapping[str, tuple[PlayerSpec, ...]]] = {
    Preset.ALPHASTAR: (
        MAIN,
        PlayerSpec(name="main-exploiter", role=Role.MAIN_EXPLOITER),
        PlayerSpec(name="league-exploiter", role=Role.LEAGUE_EXPLOITER),
    ),
}
"""The players of a trial file that names none; presets not listed here start with one main."""

EXPLOITERS: Final = (Role.MAIN_EXPLOITER, Role.LEAGUE_EXPLOITER)


def default_players(preset: str) -> tuple[PlayerSpec, ...]:
    """The default players of a preset."""
    return DEFAULT_PLAYERS.get(preset, (MAIN,))


def allows_exploiters(preset: str) -> bool:
    """Whether the preset may have rules for exploiters; a user's matchmaker may."""
    return preset == Preset.ALPHASTAR or preset not in set(Preset)
