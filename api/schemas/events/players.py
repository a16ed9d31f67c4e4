"""Events about a player: its generations, versions, membership and evaluations."""

from __future__ import annotations

import json
from typing import Any

from pydantic import Field

from api.schemas.events.base import Commit, EventPayload, Id, Level, OptionalId
from api.schemas.events.wording import because, counted, joined, spelled

ORIGINS = {"initial": "initial weights", "imported": "imported weights", "bot": "a scripted bot"}


def _number(value: Any) -> str:
    return f"{value:.4g}" if isinstance(value, float) else json.dumps(value)


class PlayerPayload(EventPayload):
    """About one player."""

    player_id: Id = ""
    player: str = Field("", description="the player's name", examples=["main"])

    @property
    def named(self) -> str:
        """The player in words."""
        return self.player or "A player"


class GenerationRecorded(PlayerPayload, kind="generation.recorded"):
    """A generation was recorded: a new version, its games and metrics."""

    generation: int | None = Field(None, examples=[7])
    commit: Commit = None
    version_id: Id = ""
    steps: int | None = Field(None, description="environment steps of this generation", examples=[200_000])
    player_steps: int | None = Field(None, description="of all the player's generations", examples=[1_400_000])
    games: int | None = Field(None, examples=[5_120])
    payoff_revision: int | None = Field(None, examples=[12])

    @property
    def text(self) -> str:
        which = "a generation" if self.generation is None else f"generation {self.generation}"
        done = joined(
            "" if self.steps is None else counted(self.steps, "step"),
            "" if self.games is None else counted(self.games, "game"),
        )
        return f"{self.named} finished {which}{because(done)}"


class VersionRecorded(PlayerPayload, kind="version.recorded"):
    """A player got its first version."""

    version_id: Id = ""
    origin: str = Field("", description="initial, imported or bot", examples=["initial"])

    @property
    def text(self) -> str:
        origin = f" ({ORIGINS.get(self.origin, spelled(self.origin))})" if self.origin else ""
        return f"{self.named} has its first version{origin}"


class CopiedVersion(PlayerPayload):
    """A new version with the weights of another, by one commit."""

    version_id: Id = ""
    steps: int = Field(0, examples=[4_000_000])
    commit: Commit = None


class PlayerSnapshot(CopiedVersion, kind="player.snapshot"):
    """A player was frozen as a historical player of the league."""

    snapshot: str = Field("", description="the historical player's name", examples=["main-1"])
    snapshot_player_id: Id = ""

    @property
    def text(self) -> str:
        return f"{self.named} was frozen as {self.snapshot or 'a historical player'}"

    @property
    def level(self) -> Level:
        return "good"


class PlayerReset(CopiedVersion, kind="player.reset"):
    """A player starts again from another version's weights."""

    to_version_id: Id = ""
    to_version: str | None = Field(None, description="the version it starts from, by name", examples=["main v0"])

    @property
    def text(self) -> str:
        return f"{self.named} was reset to {self.to_version or 'earlier weights'}"


class PlayerCopied(CopiedVersion, kind="player.copied"):
    """A member of a population took over the weights of a better one, and varied its hyperparameters."""

    donor_id: Id = ""
    donor: str = Field("", description="the better member's name", examples=["main.3"])
    donor_version_id: Id = ""
    donor_version: str = Field("", description="the version whose weights it has now, by name", examples=["main.3 v12"])
    p_value: float | None = Field(None, description="of the test that the donor is better", examples=[0.0031])
    hyperparameters: dict[str, Any] = Field(
        default_factory=dict,
        description="the player's own hyperparameters from now on, which override the trial's",
        examples=[{"learning_rate": 0.0008}],
    )
    before: dict[str, Any] = Field(
        default_factory=dict,
        description="the player's own hyperparameters until now",
        examples=[{"learning_rate": 0.02}],
    )

    @property
    def text(self) -> str:
        changed = (
            f"{name} {_number(self.before[name]) + ' → ' if name in self.before else ''}{_number(value)}"
            for name, value in sorted(self.hyperparameters.items())
        )
        return (
            f"{self.named} copied {self.donor_version or self.donor or 'a better member'}{because(', '.join(changed))}"
        )


class PlayerRolledBack(CopiedVersion, kind="player.rollback"):
    """A player went back from a damaged version to its last good one."""

    reason: str = Field("", examples=["version 4 of main is damaged; it goes on from version 3"])

    @property
    def text(self) -> str:
        return f"{self.named} was rolled back to its last good version{because(self.reason)}"

    @property
    def level(self) -> Level:
        return "bad"


class PlayerAdded(PlayerPayload, kind="player.added"):
    """A player joined a running league."""

    role: str = Field("", examples=["main_exploiter"])
    commit: Commit = None
    hyperparameters: dict[str, Any] = Field(
        default_factory=dict,
        description="the player's own hyperparameters, which override the trial's",
        examples=[{"learning_rate": 0.001}],
    )

    @property
    def text(self) -> str:
        return f"{self.named} joined the league" + (f" as {spelled(self.role)}" if self.role else "")


class PlayerRetired(PlayerPayload, kind="player.retired"):
    """A player retired: it no longer trains or plays."""

    reason: str = Field("", examples=["on request"])
    commit: Commit = None

    @property
    def text(self) -> str:
        return f"{self.named} retired{because(self.reason)}"


class PlayerRetuned(PlayerPayload, kind="player.retuned"):
    """A player's own hyperparameters were replaced."""

    hyperparameters: dict[str, Any] = Field(
        default_factory=dict,
        description="the player's own hyperparameters, which override the trial's",
        examples=[{"learning_rate": 0.001}],
    )
    commit: Commit = None

    @property
    def text(self) -> str:
        if not self.hyperparameters:
            return f"{self.named} has the trial's hyperparameters again"
        values = (f"{name} {json.dumps(value)}" for name, value in sorted(self.hyperparameters.items()))
        return f"{self.named} has new hyperparameters: {', '.join(values)}"


class CheckpointDamaged(PlayerPayload, kind="checkpoint.damaged"):
    """A damaged checkpoint was found, and what was done about it."""

    verdict: str = Field(
        "", description="retired (a frozen player) or avoided (a learner's version)", examples=["retired"]
    )
    version_id: Id = ""
    reason: str = Field(
        "",
        description="which checkpoint, and what is done about it",
        examples=["the checkpoint of main-1 is damaged and a frozen player has no other"],
    )
    problem: str = Field("", description="what is wrong with the file", examples=["the file is cut short"])

    @property
    def text(self) -> str:
        if not (self.reason or self.problem):
            return f"Damaged checkpoint, found by {self.player}" if self.player else "Damaged checkpoint"
        return f"Damaged checkpoint{because(self.reason or self.problem)}"

    @property
    def level(self) -> Level:
        return "bad"


class EvaluationRecorded(PlayerPayload, kind="evaluation.recorded"):
    """A version was measured against the trial's target."""

    generation: int | None = Field(None, examples=[5])
    version_id: Id = ""
    target: str = Field("", description="the opponent's name", examples=["mcts-100"])
    tournament_id: OptionalId = None
    win_rate: float | None = Field(None, examples=[0.925])
    low: float | None = Field(None, description="lower end of the 95% interval", examples=[0.88])
    high: float | None = Field(None, description="upper end of the 95% interval", examples=[0.954])
    games: int | None = Field(None, examples=[200])
    reached: bool = Field(False, description="whether the win rate ends the trial", examples=[True])

    @property
    def text(self) -> str:
        rate = "evaluated" if self.win_rate is None else f"win rate {self.win_rate:.1%}"
        games = "" if self.games is None else f" in {counted(self.games, 'game')}"
        reached = ": the target is reached" if self.reached else ""
        return f"{self.named} against {self.target or 'the target'}: {rate}{games}{reached}"

    @property
    def level(self) -> Level:
        return "good" if self.reached else "plain"
