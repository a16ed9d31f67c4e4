"""Whether a trial goes well: the few facts that answer it at a glance."""

from __future__ import annotations

from pydantic import Field

from api.schemas.base import Answer, Utc
from api.schemas.failures import RecordedFailure


class Champion(Answer):
    """The version that the trial's gate has to beat."""

    version_id: str = Field(description="the version")
    trial_id: str = Field(description="the trial that it comes from: champions belong to a project and its game")
    player: str = Field(description="its player's name", examples=["main-3"])
    number: int = Field(description="its number", examples=[0])
    alias: str = Field(description="the alias that names it", examples=["champion"])
    since: Utc = Field(description="when it became champion")


class Gain(Answer):
    """Rating gained per million steps, over the later half of the training of one player."""

    player: str = Field(description="the player", examples=["main"])
    per_million_steps: float = Field(description="Elo per million steps", examples=[35.0])
    low: float | None = Field(description="lower end of the 95 % interval; null where it is not known", examples=[12.0])
    high: float | None = Field(description="upper end", examples=[58.0])
    from_steps: int = Field(description="the player's steps at the earlier version", examples=[5_000_000])
    to_steps: int = Field(description="the player's steps at the newest rated version", examples=[10_000_000])


class OpenGate(Answer):
    """A gate that is not decided yet."""

    id: str = Field(description="its id")
    candidate: str = Field(description="the candidate", examples=["main v12"])
    champion: str | None = Field(description="the champion; null if there is none", examples=["main-3 v0"])
    status: str = Field(description="running or waiting", examples=["running"])
    pairs: int = Field(description="pairs of games played", examples=[120])
    max_pairs: int = Field(description="pairs of games after which it ends undecided", examples=[2000])
    llr: float = Field(description="the log-likelihood ratio now", examples=[1.2])
    lower_bound: float = Field(description="the ratio that rejects the candidate", examples=[-2.94])
    upper_bound: float = Field(description="the ratio that promotes it", examples=[2.94])


class OpenTournament(Answer):
    """A tournament that is being played."""

    id: str = Field(description="its id")
    name: str = Field(description="its name", examples=["nightly"])
    format: str = Field(description="its format", examples=["swiss"])
    pairings_played: int = Field(description="pairings recorded", examples=[30])
    pairings_known: int = Field(description="pairings planned so far", examples=[66])


class TrialOverview(Answer):
    """Whether a trial goes well."""

    champion: Champion | None = Field(description="null until there is one")
    gain: Gain | None = Field(description="null until two versions of a learning player are rated")
    gates: list[OpenGate] = Field(description="gates under way, the newest first")
    tournaments: list[OpenTournament] = Field(description="tournaments under way, the newest first")
    problems_last_hour: int = Field(description="failures in the last hour", examples=[2])
    newest_problem: RecordedFailure | None = Field(description="the newest failure, however old")
