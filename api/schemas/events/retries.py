"""Events about failed attempts, which are retried or dropped.

Kinds that workflows name have an underscore where others have a dot: histories contain these names, so they cannot
change.
"""

from __future__ import annotations

from typing import Any

from pydantic import Field, model_validator

from api.schemas.events.base import EventPayload, Id, Level
from api.schemas.events.wording import because, counted, seconds, sentence_case


class FailedAttempt(EventPayload):
    """One failed attempt of an activity."""

    failure: str = Field("", description="the kind of failure", examples=["worker_lost"])
    problem: str = Field("", description="what went wrong, in words", examples=["the worker sent no heartbeat in time"])
    tries: int = Field(0, description="attempts so far", examples=[2])
    delay_seconds: float = Field(0.0, description="the wait before the next attempt", examples=[5.0])
    lost_steps: int = Field(0, description="steps of the attempt, which are made again", examples=[40_000])

    @property
    def level(self) -> Level:
        return "bad"

    @property
    def trouble(self) -> str:
        """What went wrong, at the end of a sentence."""
        return because(self.problem or self.failure.replace("_", " "))

    def tried_again(self, what: str) -> str:
        """The sentence about a failed attempt that is retried."""
        which = f"attempt {self.tries}" if self.tries else "an attempt"
        soon = f", the next in {seconds(self.delay_seconds)}" if self.delay_seconds else ", tried again at once"
        lost = f" and lost {counted(self.lost_steps, 'step')}" if self.lost_steps else ""
        return f"{what}: {which} failed{lost}{soon}{self.trouble}"


class PlayersFailedAttempt(FailedAttempt):
    """About a player's generation."""

    player_id: Id = ""
    player: str = Field("", description="the player's name", examples=["main"])
    name: str = Field("", description="the same as `player`", examples=["main"])
    generation: int | None = Field(None, examples=[7])

    @model_validator(mode="before")
    @classmethod
    def _name_the_player(cls, payload: Any) -> Any:
        """Workflows, and events of earlier releases, hold the id as `player` and the name as `name`."""
        if isinstance(payload, dict) and "player" in payload and "player_id" not in payload:
            name = payload.get("name", "")
            return {**payload, "player_id": payload["player"], "player": name}
        return payload

    @property
    def numbered(self) -> str:
        """Which generation of which player."""
        which = "a generation" if self.generation is None else f"generation {self.generation}"
        return f"{which} of {self.player}" if self.player else which


class GenerationRetried(PlayersFailedAttempt, kind="generation_retried"):
    """An attempt at a generation failed and is retried."""

    @property
    def text(self) -> str:
        return self.tried_again(sentence_case(self.numbered))


class EvaluationRetried(PlayersFailedAttempt, kind="evaluation_retried"):
    """An attempt at an evaluation against the target failed and is retried."""

    @property
    def text(self) -> str:
        return self.tried_again(f"Evaluation after {self.numbered}")


class EvaluationDropped(PlayersFailedAttempt, kind="evaluation_dropped"):
    """An evaluation was dropped: a later version is measured instead."""

    @property
    def text(self) -> str:
        return f"Evaluation after {self.numbered} was dropped{self.trouble}"


class GateRetried(FailedAttempt, kind="gate_retried"):
    """An attempt at a gate's games failed and is retried."""

    gate_id: Id = ""
    alias: str = Field("", examples=["champion"])

    @model_validator(mode="before")
    @classmethod
    def _name_the_gate(cls, payload: Any) -> Any:
        """Workflows, and events of earlier releases, hold the id as `gate`."""
        if isinstance(payload, dict) and "gate" in payload and "gate_id" not in payload:
            return {**payload, "gate_id": payload["gate"]}
        return payload

    @property
    def text(self) -> str:
        return self.tried_again(f"Gate for {self.alias}" if self.alias else "A gate")


class WeightsRetried(FailedAttempt, kind="weights_retried"):
    """An attempt to make the initial weights failed and is retried."""

    @property
    def text(self) -> str:
        return self.tried_again("Initial weights")


class PairingRetried(FailedAttempt, kind="pairing.retried"):
    """An attempt at a pairing's games failed and is retried."""

    tournament_id: Id = ""
    name: str = Field("", description="the tournament's name", examples=["nightly"])
    round: int = Field(0, examples=[1])
    pair: int = Field(0, examples=[3])
    first: str | None = Field(None, description="the first entrant's name", examples=["main-1"])
    second: str | None = Field(None, description="the second entrant's name", examples=["random"])

    @property
    def text(self) -> str:
        tournament = f"Tournament {self.name}" if self.name else "A tournament"
        met = f", {self.first} against {self.second}" if self.first and self.second else ", a pairing"
        return self.tried_again(tournament + met)
