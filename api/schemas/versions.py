"""Model versions: checkpoints of players, with their lineage."""

from __future__ import annotations

from pydantic import Field

from api.schemas.base import Answer, Utc
from api.schemas.enums import VersionOrigin


class Version(Answer):
    """One immutable checkpoint of a player."""

    id: str = Field(description="its id")
    trial_id: str = Field(description="its trial")
    player_id: str = Field(description="its player")
    player: str = Field(description="the player's name", examples=["main"])
    number: int = Field(description="its number among the player's versions", examples=[12])
    origin: VersionOrigin = Field(description="how it was made")
    parent_id: str | None = Field(description="the version whose weights it started from")
    steps: int = Field(description="environment steps its player was trained on until then", examples=[24_000_000])
    uri: str | None = Field(
        description="location of the checkpoint, without credentials; null for a bot",
        examples=["file:///srv/lanista/artifacts/checkpoint/9f/9f86d0..."],
    )
    sha256: str | None = Field(description="hash of the checkpoint; null for a bot")
    size: int | None = Field(description="size of the checkpoint in bytes", examples=[51_208])
    commit: int = Field(description="the trial's commit that recorded it", examples=[17])
    created_at: Utc = Field(description="when it was recorded")


class VersionReturns(Answer):
    """Returns of a version of a single-player game, in the generation that made it."""

    games: int = Field(description="number of games", examples=[512])
    mean: float = Field(description="mean return", examples=[187.5])
    deviation: float | None = Field(description="standard deviation of a game's return; null for a single game")


class VersionDetail(Version):
    """A version with its aliases and its lineage."""

    pruned_at: Utc | None = Field(
        description="when retention gave up its checkpoint, which can no longer be loaded or played; null: it is kept"
    )
    damaged: bool = Field(default=False, description="whether the league found its checkpoint damaged")
    returns: VersionReturns | None = Field(description="its training returns; null for a game with opponents")
    aliases: list[str] = Field(description="the aliases that point at it now", examples=[["champion"]])
    lineage: list[Version] = Field(description="its ancestors, the nearest first, at most a thousand")
