"""`league.matchmaking`: the options of the preset's rule. Their meaning is in `league.matchmaking`."""

from __future__ import annotations

from collections.abc import Mapping
from enum import StrEnum
from typing import Annotated, Any, Final, Literal

from pydantic import ConfigDict, Field, JsonValue, ValidationInfo, field_validator

from orchestrator.spec.section import Section
from orchestrator.spec.values import Flag, Name, NotNegative, Share


class Preset(StrEnum):
    """The built-in ways to run a league."""

    SELF_PLAY = "self_play"
    FICTITIOUS = "fictitious"
    PFSP = "pfsp"
    ALPHASTAR = "alphastar"
    OPENAI_FIVE = "openai_five"
    PSRO = "psro"
    FIXED = "fixed"


class Matchmaking(Section):
    """Options of a matchmaker; the base class has none and serves self-play."""


class FictitiousMatchmaking(Matchmaking):
    """Uniform over the past."""

    pool: Literal["all", "own"] = Field(
        default="all", description="which frozen players count: all of the league's or the learner's own"
    )
    include_bots: Flag = Field(default=False, description="whether scripted players count as frozen ones")


class PfspMatchmaking(FictitiousMatchmaking):
    """Prioritised fictitious self-play."""

    weighting: Literal["squared", "hard", "variance", "linear", "linear_capped", "uniform"] = Field(
        default="squared", description="how a win rate becomes a weight"
    )
    power: NotNegative = Field(default=2.0, description="exponent; only of the weighting `hard`")
    self_play_share: Share = Field(default=0.0, description="share of games against the learner's latest self")


class AlphastarMatchmaking(Matchmaking):
    """The AlphaStar roles."""

    pfsp_share: Share = Field(default=0.5, description="main: share of PFSP over all historical players")
    verification_share: Share = Field(
        default=0.15, validate_default=True, description="main: share of checks for exploitation and forgetting"
    )
    exploited_below: Share = Field(
        default=0.3, description="main: a main-exploiter's snapshot with a lower win rate is trained against"
    )
    forgotten_below: Share = Field(
        default=0.7, description="main: a past self with a lower win rate, and lower than before, is trained against"
    )
    main_above: Share = Field(default=0.3, description="main: another main is played live above this win rate")
    exploited_main_above: Share = Field(
        default=0.1, description="main_exploiter: the main is played live above this win rate"
    )
    include_bots: Flag = Field(default=False, description="whether scripted players count as historical ones")

    @field_validator("verification_share")
    @classmethod
    def _within_one(cls, share: float, info: ValidationInfo) -> float:
        if share + info.data.get("pfsp_share", 0.0) > 1:
            raise ValueError("pfsp_share and verification_share must not exceed 1 together")
        return share


class OpenAiFiveMatchmaking(FictitiousMatchmaking):
    """Mostly the latest self, the rest by quality."""

    latest_share: Share = Field(default=0.8, description="share of games against the learner's latest self")


class PsroMatchmaking(FictitiousMatchmaking):
    """The meta-game's solution over the pool."""

    meta_strategy: Literal["nash", "fictitious_play", "alpha_rank", "uniform", "projected_replicator"] = Field(
        default="nash", description="how the meta-game is solved"
    )
    alpha: Annotated[float, Field(strict=True, gt=0)] = Field(
        default=100.0, description="ranking intensity; only of alpha_rank"
    )


class FixedMatchmaking(Matchmaking):
    """Given frozen players and bots, and never the learner itself."""

    shares: dict[Name, NotNegative] = Field(
        default={}, description="shares of games by the names of frozen players and bots; none: all of them alike"
    )


class MatesSpec(Section):
    """Who shares the learner's team in games of teams."""

    past: Share = Field(
        default=0.0, description="share of games in which the learner's mates are one of its past selves"
    )
    league: Share = Field(
        default=0.0,
        validate_default=True,
        description="share of games in which its mates are another player of the league; the rest: the learner itself",
    )
    include_bots: Flag = Field(default=False, description="whether scripted players may be mates")

    @field_validator("league")
    @classmethod
    def _within_one(cls, share: float, info: ValidationInfo) -> float:
        if share + info.data.get("past", 0.0) > 1:
            raise ValueError("past and league must not exceed 1 together")
        return share

    @property
    def any(self) -> bool:
        """Whether the learner ever shares its team."""
        return self.past + self.league > 0


class OtherMatchmaking(Matchmaking):
    """Options of a user's matchmaker, passed on unchecked."""

    model_config = ConfigDict(extra="allow")
    __pydantic_extra__: dict[str, JsonValue] = Field(init=False)


MATCHMAKING: Final[Mapping[str, type[Matchmaking]]] = {
    Preset.SELF_PLAY: Matchmaking,
    Preset.FICTITIOUS: FictitiousMatchmaking,
    Preset.PFSP: PfspMatchmaking,
    Preset.ALPHASTAR: AlphastarMatchmaking,
    Preset.OPENAI_FIVE: OpenAiFiveMatchmaking,
    Preset.PSRO: PsroMatchmaking,
    Preset.FIXED: FixedMatchmaking,
}


def matchmaking_of(preset: str, options: Any, context: Any) -> Matchmaking:
    """The options as the preset's class."""
    return MATCHMAKING.get(preset, OtherMatchmaking).model_validate(options, context=context)
