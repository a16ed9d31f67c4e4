"""Players of a league."""

from __future__ import annotations

from typing import Any

from pydantic import Field

from api.schemas.base import Answer, Body, Name, Utc
from api.schemas.enums import PlayerStatus
from league.types import Role


class Player(Answer):
    """A player of a league."""

    id: str = Field(description="its id")
    trial_id: str = Field(description="its trial")
    name: str = Field(description="its name", examples=["main"])
    role: Role = Field(description="its role in the league")
    status: PlayerStatus = Field(description="active or retired")
    bot: str | None = Field(description="for a bot: which one", examples=["mcts-100"])
    parent_id: str | None = Field(description="for a historical player: the player it is a snapshot of")
    forked_from_player_id: str | None = Field(description="the player it was forked from")
    population: str | None = Field(
        default=None, description="the population that it is a member of, by its name in the trial file"
    )
    hyperparameters: dict[str, Any] = Field(
        description="its own hyperparameters, which override the trial's", examples=[{"entropy": 0.02}]
    )
    algorithm: dict[str, Any] | None = Field(
        default=None,
        description="its own algorithm, the id and the options; null: the trial's",
        examples=[{"id": "vtrace", "learning_rate": 0.0005}],
    )
    model: dict[str, Any] | None = Field(
        default=None, description="its own model, the id and the options; null: the trial's", examples=[{"id": "mlp"}]
    )
    revision: int = Field(description="number of changes by users and by copies; the ETag", examples=[1])
    created_commit: int = Field(description="the commit that added it", examples=[0])
    generation: int = Field(description="its newest recorded generation", examples=[12])
    steps: int = Field(description="environment steps it was trained on", examples=[24_000_000])
    steps_at_snapshot: int = Field(description="its steps at its last snapshot", examples=[20_000_000])
    version_id: str | None = Field(description="its newest version; null before the first one")
    version_number: int | None = Field(description="number of that version", examples=[12])
    created_at: Utc = Field(description="when it was added")
    retired_at: Utc | None = Field(description="when it was retired")


class PlayerDetail(Player):
    """A player with why it retired, and whether its newest version can be played."""

    retired_reason: str | None = Field(
        default=None, description="why it was retired; null: it is active", examples=["on request"]
    )
    version_damaged: bool = Field(
        default=False, description="whether the league found the checkpoint of its newest version damaged"
    )


class NewPlayer(Body):
    """A player to add to a running league."""

    name: Name = Field(examples=["second-main"])
    role: Role = Field(default=Role.MAIN, description="its role in the league")
    bot: str | None = Field(default=None, description="for a bot: which one", examples=["mcts-100"])
    hyperparameters: dict[str, Any] = Field(
        default_factory=dict, description="options of the algorithm that differ from the trial's"
    )
    algorithm: dict[str, Any] | None = Field(
        default=None,
        description="its own algorithm, the id and the options; null: the trial's",
        examples=[{"id": "vtrace", "learning_rate": 0.0005}],
    )
    model: dict[str, Any] | None = Field(
        default=None, description="its own model, the id and the options; null: the trial's", examples=[{"id": "mlp"}]
    )


class PlayerEdit(Body):
    """Changes to a player."""

    retire: bool = Field(default=False, strict=True, description="true: it neither trains nor plays any more")
    hyperparameters: dict[str, Any] | None = Field(
        default=None, description="its own options of the algorithm, from its next generation on", examples=[{}]
    )
