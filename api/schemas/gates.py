"""Promotion gates: a candidate against the champion, by a sequential probability ratio test."""

from __future__ import annotations

from typing import Any, Literal

from pydantic import Field

from api.schemas.base import Answer, Body, Utc
from api.schemas.enums import GateStatus


class GateSummary(Answer):
    """A candidate against the version that an alias points at."""

    id: str = Field(description="its id")
    trial_id: str = Field(description="the candidate's trial")
    game: str = Field(description="the game", examples=["connect_four"])
    alias: str = Field(description="the alias that the candidate is to get", examples=["champion"])
    candidate_version_id: str = Field(description="the candidate")
    champion_version_id: str | None = Field(
        description="the champion; null if there is none: the candidate passes unopposed"
    )
    status: GateStatus = Field(description="its status; `invalid`: stopped early, never passed")
    status_reason: str | None = Field(description="why it has this status")
    elo0: float = Field(description="Elo difference of the null hypothesis", examples=[0])
    elo1: float = Field(description="Elo difference of the alternative hypothesis", examples=[35])
    model: Literal["logistic", "normalized"] = Field(
        description="unit of elo0 and elo1: logistic Elo, or Elo normalised by the spread of scores"
    )
    alpha: float = Field(description="probability of promoting a candidate that is not better", examples=[0.05])
    beta: float = Field(description="probability of rejecting one that is better", examples=[0.05])
    lower_bound: float = Field(description="log-likelihood ratio that rejects the candidate", examples=[-2.94])
    upper_bound: float = Field(description="log-likelihood ratio that promotes it", examples=[2.94])
    max_pairs: int = Field(description="pairs of games after which it ends undecided", examples=[2000])
    pairs: int = Field(description="pairs of games played", examples=[120])
    pentanomial: list[int] = Field(description="pairs by score 0, 1/4, 1/2, 3/4, 1", examples=[[4, 20, 50, 30, 16]])
    llr: float = Field(description="the log-likelihood ratio now", examples=[1.2])
    settings: dict[str, Any] = Field(
        description="other options of the gate; `panel` has its members, each with counts, ratio, bounds and status, "
        "and `after_batch`, the last batch against the champion; `probe` the ids of its probes by side"
    )
    created_at: Utc = Field(description="when it was opened")
    started_at: Utc | None = Field(description="when its first game began")
    finished_at: Utc | None = Field(description="when it was decided")


class PathPoint(Answer):
    """The test after one batch."""

    number: int = Field(description="the batch", examples=[3])
    pairs: int = Field(description="pairs of games of this batch", examples=[40])
    pentanomial: list[int] = Field(description="all pairs so far, by score")
    llr: float = Field(description="the log-likelihood ratio after it", examples=[1.2])
    created_at: Utc = Field(description="when it was recorded")


class Gate(GateSummary):
    """A gate with the path of its test."""

    path: list[PathPoint] = Field(
        description="the log-likelihood ratio, batch by batch; after the batches against the champion those of the "
        "panel, with the ratio of the member's own test"
    )


class StopGate(Body):
    """The reason for stopping a gate."""

    reason: str = Field(
        default="stopped by an operator",
        min_length=1,
        max_length=500,
        pattern=r"^[^\x00]*$",
        description="why; kept in the gate and in the audit log",
    )
