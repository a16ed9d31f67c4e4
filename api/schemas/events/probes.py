"""Events about probes."""

from __future__ import annotations

from pydantic import Field

from api.schemas.events.base import EventPayload, Id, Level
from api.schemas.events.wording import because, counted


class ProbePayload(EventPayload):
    """About one probe."""

    probe_id: Id = ""
    target: str = Field("", description="the version or mixture that is probed", examples=["main v12"])

    @property
    def probe(self) -> str:
        """The probe in words."""
        return f"The probe of {self.target}" if self.target else "A probe"


class ProbeCreated(ProbePayload, kind="probe.created"):
    """A probe was created."""

    responders: int | None = Field(None, description="how many responders train", examples=[3])
    steps: int | None = Field(None, description="steps of each", examples=[200_000])

    @property
    def text(self) -> str:
        responders = "" if self.responders is None else counted(self.responders, "responder")
        return f"{self.probe} was created{because(responders)}"


class ProbeFinished(ProbePayload, kind="probe.finished"):
    """A probe ended."""

    status: str = Field("", examples=["completed"])
    reason: str | None = Field(None, examples=["a responder wins 0.640 (0.571 to 0.705)"])
    win_rate: float | None = Field(None, description="of the best responder", examples=[0.64])
    low: float | None = Field(None, description="the lower end of its interval", examples=[0.571])
    high: float | None = Field(None, description="the upper end", examples=[0.705])

    @property
    def text(self) -> str:
        return f"{self.probe} is {self.status or 'over'}{because(self.reason)}"

    @property
    def level(self) -> Level:
        return "bad" if self.status == "failed" else "plain"
