"""Events about a promotion gate."""

from __future__ import annotations

from pydantic import Field

from api.schemas.events.base import EventPayload, Id, Level, OptionalId
from api.schemas.events.wording import counted, joined, of_trial


class GatePayload(EventPayload):
    """About one gate."""

    gate_id: Id = ""
    alias: str = Field("", examples=["champion"])
    candidate_version_id: Id = ""
    candidate: str | None = Field(None, description="the candidate's version, by name", examples=["main-2"])
    champion_version_id: OptionalId = None
    champion: str | None = Field(None, description="the version that holds the alias, by name", examples=["main-1"])
    champion_trial_id: OptionalId = Field(None, description="that version's trial, where it is another one")
    champion_trial: str | None = Field(None, description="that trial's name", examples=["second-league"])
    pairs: int = Field(0, examples=[64])
    llr: float = Field(0.0, description="log-likelihood ratio of the test", examples=[1.25])

    @property
    def gate(self) -> str:
        """The gate in words."""
        gate = f"Gate for {self.alias}" if self.alias else "A gate"
        return f"{gate} (candidate {self.candidate})" if self.candidate else gate

    @property
    def holder(self) -> str:
        """The champion in words, with its trial where that is another one."""
        return of_trial(self.champion, self.champion_trial) if self.champion else "the champion"


class GateOpened(GatePayload, kind="gate.opened"):
    """A candidate plays against the champion."""

    @property
    def text(self) -> str:
        return f"{self.gate}: opened against {self.holder}"


class GateWaiting(GatePayload, kind="gate.waiting"):
    """A candidate waits until the alias's present gate is over."""

    @property
    def text(self) -> str:
        return f"{self.gate}: waits for the present gate to end"


class GateProgress(GatePayload, kind="gate.progress", transient=True):
    """A batch of a gate's games was counted."""

    batch: int | None = Field(None, examples=[2])
    member: str | None = Field(None, description="the member of the panel that was met", examples=["main-1"])

    @property
    def text(self) -> str:
        if self.member is not None:
            return f"{self.gate}: beat {self.holder}, now compared with it against {self.member}"
        return f"{self.gate}: {counted(self.pairs, 'pair')}, LLR {self.llr:.2f}"


class GateFinished(GatePayload, kind="gate.finished"):
    """A gate is over."""

    status: str = Field("", description="passed, failed, exhausted, invalid or superseded", examples=["passed"])
    reason: str = Field("", examples=["the gate passed: LLR 2.96 reached 2.94"])

    @property
    def text(self) -> str:
        status = "refused" if self.status == "failed" else self.status
        reason = self.reason.replace("the gate failed:", "refused:", 1)
        said = status in reason  # most reasons repeat the status
        return f"{self.gate}: {reason if said and reason else joined(status or 'over', reason)}"

    @property
    def level(self) -> Level:
        return "good" if self.status == "passed" else "plain"
