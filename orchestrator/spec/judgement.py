"""`league.payoff`, `.snapshot`, `.reset` and `.champion_gate`: decay of results, snapshots, resets, promotion.

The rules themselves are in `league`.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from typing import Annotated, Any, Literal

from pydantic import Field, ValidationInfo, field_validator

from orchestrator.searching import MOST_SIMULATIONS
from orchestrator.spec.probe import ProbeSpec
from orchestrator.spec.section import Contradiction, Section
from orchestrator.spec.values import LARGEST, WHOLE, Count, ErrorRate, Flag, Name, Positive, Share


class PayoffSpec(Section):
    """How win rates are estimated from past games."""

    memory_games: Annotated[int, Field(strict=True, ge=2, le=LARGEST), WHOLE] = Field(
        default=20_000, description="games after which a result has lost two thirds of its weight"
    )
    min_games: Count = Field(default=8, description="games below which a win rate counts as 0.5")
    inherit: Flag = Field(default=False, description="whether a snapshot starts with its player's win rates")

    @property
    def decay(self) -> float:
        """The factor by which each game discounts all earlier results."""
        return 1 - 1 / self.memory_games


class SnapshotSpec(Section):
    """When a learning player is frozen into a historical one."""

    min_steps: Positive = Field(default=4_000_000, description="steps since the last snapshot before another may come")
    win_rate: Share = Field(default=0.7, description="snapshot when the lower bound of the worst win rate exceeds this")
    max_steps: Positive = Field(
        default=8_000_000, validate_default=True, description="steps since the last snapshot after which one comes"
    )

    @field_validator("max_steps")
    @classmethod
    def _after_min_steps(cls, steps: int, info: ValidationInfo) -> int:
        if steps < info.data.get("min_steps", 0):
            raise ValueError(f"max_steps must be at least min_steps ({info.data['min_steps']})")
        return steps


class ResetSpec(Section):
    """The probability that a player is reset after its snapshot, by role, and to which weights."""

    main: Share = Field(default=0.0, description="probability for a main")
    main_exploiter: Share = Field(default=1.0, description="probability for a main_exploiter")
    league_exploiter: Share = Field(default=0.25, description="probability for a league_exploiter")
    past_after_steps: Count | None = Field(
        default=None,
        description="steps of the trial after which a reset goes to a past main; null: always to the initial weights",
    )


Simulations = Annotated[int, Field(strict=True, ge=1, le=MOST_SIMULATIONS), WHOLE]
Elo = Annotated[float, Field(strict=True, ge=-2000, le=2000)]


class PanelSpec(Section):
    """Whom a candidate that beat the champion meets too: it must not be worse against them than the champion is."""

    past_holders: Annotated[int, Field(strict=True, ge=0, le=16), WHOLE] = Field(
        default=3, description="how many of the alias's last holders before the champion"
    )
    mixture: Flag = Field(default=True, description="the Nash mixture of the trial's snapshots, as one member")

    @classmethod
    def contradictions(cls, given: Mapping[str, Any]) -> Iterable[Contradiction]:
        if given.get("past_holders") == 0 and given.get("mixture") is False:
            yield Contradiction(
                path=("past_holders",), value=0, reason="leaves the panel empty without a mixture; say panel: null"
            )


class GateProbeSpec(ProbeSpec):
    """Fresh responders that learn to beat a candidate that beat the champion; see docs/guides/probes.md."""

    limit: Share | None = Field(
        default=None, description="the gate fails if a responder is shown to win more than this; null: no limit"
    )
    margin: Share | None = Field(
        default=None,
        description="the gate fails if a responder is shown to win this much more than one does against the champion, "
        "which is probed too; null: not compared",
    )

    @property
    def decides(self) -> bool:
        """Whether a candidate can fail by it; else its result is only recorded."""
        return self.limit is not None or self.margin is not None


class GateSpec(Section):
    """How a candidate becomes champion: a sequential test on paired games."""

    alias: Name = Field(
        default="champion",
        description="the alias that the winner gets; all trials of one game in a project share an alias of this name",
    )
    test: Literal["sprt"] = Field(default="sprt", description="the sequential probability ratio test")
    elo0: Elo = Field(default=0.0, description="a candidate no stronger than this must not pass")
    elo1: Elo = Field(
        default=35.0, validate_default=True, description="a candidate at least this much stronger should pass"
    )
    alpha: ErrorRate = Field(default=0.05, description="how often a candidate of elo0 may pass")
    beta: ErrorRate = Field(default=0.05, description="how often a candidate of elo1 may fail")
    max_pairs: Annotated[int, Field(strict=True, ge=1, le=10_000_000), WHOLE] = Field(
        default=2000, description="pairs of games after which the gate ends undecided"
    )
    model: Literal["logistic", "normalized"] = Field(
        default="logistic", description="what elo0 and elo1 are: usual Elo, or Elo normalised by the spread of scores"
    )

    search: Simulations | None = Field(
        default=None,
        description="simulations a move with which both sides search in the gate's games; null: by the networks alone",
    )
    panel: PanelSpec | None = Field(
        default=None, description="others that a candidate must not be worse against than the champion; null: none"
    )
    probe: GateProbeSpec | None = Field(
        default=None, description="fresh responders that learn to beat a candidate that beat the champion; null: none"
    )

    @field_validator("elo1")
    @classmethod
    def _above_elo0(cls, elo1: float, info: ValidationInfo) -> float:
        if elo1 <= info.data.get("elo0", float("-inf")):
            raise ValueError(f"elo1 must be greater than elo0 ({info.data['elo0']:g})")
        return elo1


def too_many_teams(game: str, count: int) -> str:
    """Why a game of this many teams has no gate, and what to do instead."""
    return f"a gate compares two teams, {game} has {count}; say champion_gate: null, promote by a tournament"


def needless(part: Literal["panel", "probe"], game: str) -> str:
    """Why a gate in a game of one team has no panel and no probe."""
    return f"nobody meets an opponent in {game}: its gate compares returns; say {part}: null"
