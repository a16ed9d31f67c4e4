"""Canaries: a version that gets a share of the served sessions beside the holder of an alias."""

from __future__ import annotations

from typing import Annotated
from uuid import UUID

from pydantic import Field

from api.schemas.base import LARGEST, Answer, Body, Utc
from api.schemas.enums import CanaryStatus

Count = Annotated[int, Field(ge=0, le=LARGEST)]
Sum = Annotated[float, Field(allow_inf_nan=False)]


class ReportCanary(Body):
    """What a serving process counted since its last report. Sending it again changes nothing."""

    report_id: UUID = Field(description="its id, chosen by the sender")
    champion_version_id: UUID = Field(description="the version that the alias named")
    canary_version_id: UUID = Field(description="the version that got a share of the sessions")
    losses: Count = Field(description="compared sessions in which the canary's return was lower", examples=[12])
    draws: Count = Field(description="compared sessions with equal returns", examples=[3])
    wins: Count = Field(description="compared sessions in which the canary's return was higher", examples=[15])
    champion_sessions: Count = Field(description="sessions of the champion that ended", examples=[270])
    champion_returns: Sum = Field(description="the sum of their returns", examples=[81.5])
    canary_sessions: Count = Field(description="sessions of the canary that ended", examples=[30])
    canary_returns: Sum = Field(description="the sum of their returns", examples=[11])


class Canary(Answer):
    """A canary beside a champion: their results, and what the league's test says of them."""

    champion_version_id: str = Field(description="the version that the alias named")
    canary_version_id: str = Field(description="the version that got a share of the sessions")
    game: str = Field(description="their game", examples=["connect_four"])
    status: CanaryStatus = Field(description="the test's verdict; it stays once a bound is reached")
    llr: float = Field(description="the log-likelihood ratio now", examples=[1.2])
    lower_bound: float = Field(description="log-likelihood ratio that rejects the canary", examples=[-2.94])
    upper_bound: float = Field(description="log-likelihood ratio at which it is better", examples=[2.94])
    elo0: float = Field(description="Elo difference of the null hypothesis", examples=[0])
    elo1: float = Field(description="Elo difference of the alternative hypothesis", examples=[35])
    losses: int = Field(description="compared sessions in which the canary's return was lower", examples=[12])
    draws: int = Field(description="compared sessions with equal returns", examples=[3])
    wins: int = Field(description="compared sessions in which the canary's return was higher", examples=[15])
    champion_sessions: int = Field(description="sessions of the champion that ended", examples=[270])
    champion_mean_return: float | None = Field(description="their mean return; null before the first")
    canary_sessions: int = Field(description="sessions of the canary that ended", examples=[30])
    canary_mean_return: float | None = Field(description="their mean return; null before the first")
    first_reported_at: Utc = Field(description="when its first results were recorded")
    last_reported_at: Utc = Field(description="when its newest results were recorded")
