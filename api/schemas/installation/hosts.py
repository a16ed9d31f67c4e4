"""The hosts of an installation, and which of them cannot reach what."""

from __future__ import annotations

from pydantic import Field

from api.schemas.base import Answer, Utc


class HostShown(Answer):
    """A host, by the parts that run on it."""

    host: str = Field(description="its name", examples=["gpu-3"])
    addresses: list[str] = Field(description="its addresses in the Ray cluster", examples=[["10.0.0.3"]])
    roles: list[str] = Field(
        description="what runs on it: api, store worker, train worker, ray head, ray node", examples=[["ray node"]]
    )
    versions: list[str] = Field(
        description="the releases of Lanista on it; several while it is upgraded, empty: not known",
        examples=[["0.1.0"]],
    )
    clock_ahead_seconds: float | None = Field(
        description="how far its clock is ahead of Postgres' (negative: behind); null: not known, as of a host "
        "that only has store workers",
        examples=[0.012],
    )
    clock_within_seconds: float | None = Field(
        description="how far that may be off, by the time that asking took", examples=[0.004]
    )
    problems: list[str] = Field(
        description="what is wrong with it, in words; empty: nothing", examples=[["cannot be reached"]]
    )
    left_at: Utc | None = Field(
        description="when it left, or was last heard of; shown for ten minutes after it was noticed. null: it is there"
    )


class UnreachedShown(Answer):
    """A connection that could not be made."""

    source: str = Field(description="the host that tried", examples=["gpu-3"])
    target: str = Field(
        description="what it tried to reach: another host (its Ray node manager), or a gateway's control port",
        examples=["gpu-4 (10.0.0.4)"],
    )
    problem: str = Field(description="why it could not", examples=["no answer within 2 s"])
