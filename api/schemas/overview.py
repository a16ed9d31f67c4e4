"""Whether a trial goes well: the few facts that answer it at a glance."""

from __future__ import annotations

from pydantic import Field

from api.schemas.base import Answer, Utc
from api.schemas.enums import GateStatus
from api.schemas.failures import RecordedFailure


class Champion(Answer):
    """The version that the trial's gate has to beat."""

    version_id: str = Field(description="the version")
    trial_id: str = Field(description="the trial that it comes from: champions belong to a project and its game")
    trial: str = Field(description="that trial's name", examples=["first-league"])
    player: str = Field(description="its player's name", examples=["main-3"])
    number: int = Field(description="its number", examples=[0])
    alias: str = Field(description="the alias that names it", examples=["champion"])
    since: Utc = Field(description="when it became champion")


class ChampionElsewhere(Answer):
    """A move of the trial's champion alias to a version of another trial of the project."""

    revision: int = Field(description="the alias's revision after it", examples=[3])
    alias: str = Field(description="the alias", examples=["champion"])
    at: Utc = Field(description="when it moved")
    version_id: str = Field(description="the version that it names since then")
    player: str = Field(description="that version's player", examples=["main-23"])
    number: int = Field(description="its number", examples=[0])
    trial_id: str = Field(description="the trial of that version")
    trial: str = Field(description="that trial's name", examples=["second-league"])
    gate_id: str | None = Field(description="that trial's gate that moved it; null: it was moved otherwise")
    reason: str = Field(description="why it moved", examples=["the gate passed: LLR 2.96 reached 2.94"])


class Gain(Answer):
    """Rating gained per million steps, over the later half of the training of one player."""

    player: str = Field(description="the player", examples=["main"])
    player_id: str | None = Field(default=None, description="its id")
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
    champion_trial: str | None = Field(
        default=None, description="the champion's trial by name, where that is another one", examples=["second-league"]
    )
    status: str = Field(description="running or waiting", examples=["running"])
    pairs: int = Field(description="pairs of games played", examples=[120])
    max_pairs: int = Field(description="pairs of games after which it ends undecided", examples=[2000])
    llr: float = Field(description="the log-likelihood ratio now", examples=[1.2])
    lower_bound: float = Field(description="the ratio that rejects the candidate", examples=[-2.94])
    upper_bound: float = Field(description="the ratio that promotes it", examples=[2.94])


class EndedGate(Answer):
    """The trial's gate that ended last."""

    id: str = Field(description="its id")
    candidate: str = Field(description="the candidate", examples=["main v12"])
    champion: str | None = Field(description="the champion; null if there was none", examples=["main-3 v0"])
    champion_trial: str | None = Field(
        default=None, description="the champion's trial by name, where that is another one", examples=["second-league"]
    )
    status: GateStatus = Field(description="how it ended", examples=["failed"])
    reason: str | None = Field(description="why", examples=["LLR -2.97 reached -2.94"])
    at: Utc | None = Field(description="when it ended")


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
    champion_elsewhere: list[ChampionElsewhere] = Field(
        default_factory=list,
        description="the last moves of its champion alias to versions of other trials, newest first",
    )
    last_gate: EndedGate | None = Field(default=None, description="the gate that ended last; null before the first")
    gates: list[OpenGate] = Field(description="gates under way, the newest first")
    tournaments: list[OpenTournament] = Field(description="tournaments under way, the newest first")
    problems_last_hour: int = Field(description="failures in the last hour", examples=[2])
    newest_problem: RecordedFailure | None = Field(description="the newest failure, however old")
