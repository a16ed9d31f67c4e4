"""Compares a canary with the champion by the results of sessions that each of them played alone.

The league's test counts losses, draws and wins. Sessions of two versions are compared in the order in which they end:
one of the canary with one of the champion, each used once; the higher return wins. If both versions are equally good,
both streams have the same distribution, and a win is as likely as a loss.

See docs/decisions/serving.md.
"""

from __future__ import annotations

from collections import deque
from dataclasses import dataclass, field
from enum import StrEnum
from uuid import uuid4

WAITING = 1_000
"""Results of one arm that wait for one of the other; the oldest is dropped, whatever it was."""


class Arm(StrEnum):
    """Which of two versions a session plays with."""

    CHAMPION = "champion"
    CANARY = "canary"


@dataclass(slots=True)
class ArmTotals:
    """Sessions that ended, and the sum of their returns."""

    sessions: int = 0
    returns: float = 0.0

    def add(self, value: float) -> None:
        self.sessions += 1
        self.returns += value


@dataclass(frozen=True, kw_only=True)
class CanaryReport:
    """Results since the last report. Its id makes a second delivery harmless."""

    report_id: str
    champion_version_id: str
    canary_version_id: str
    losses: int
    draws: int
    wins: int
    champion_sessions: int
    champion_returns: float
    canary_sessions: int
    canary_returns: float


@dataclass(slots=True)
class Comparison:
    """Results of one canary and one champion that were not reported yet."""

    champion_version_id: str
    canary_version_id: str
    counts: list[int] = field(default_factory=lambda: [0, 0, 0])
    """Losses, draws and wins of the canary."""
    open: int = 0
    """Sessions under way."""
    _totals: dict[Arm, ArmTotals] = field(default_factory=lambda: {arm: ArmTotals() for arm in Arm})
    _waiting: dict[Arm, deque[float]] = field(default_factory=lambda: {arm: deque(maxlen=WAITING) for arm in Arm})

    def add(self, arm: Arm, value: float) -> None:
        """Count a session that ended with this return."""
        self._totals[arm].add(value)
        other = Arm.CHAMPION if arm is Arm.CANARY else Arm.CANARY
        if not self._waiting[other]:
            self._waiting[arm].append(value)
            return
        against = self._waiting[other].popleft()
        canary, champion = (value, against) if arm is Arm.CANARY else (against, value)
        self.counts[1 + (canary > champion) - (canary < champion)] += 1

    def take(self) -> CanaryReport | None:
        """What was counted since the last call; None where nothing was."""
        champion, canary = self._totals[Arm.CHAMPION], self._totals[Arm.CANARY]
        if not champion.sessions and not canary.sessions:
            return None
        losses, draws, wins = self.counts
        self.counts = [0, 0, 0]
        self._totals = {arm: ArmTotals() for arm in Arm}
        return CanaryReport(
            report_id=str(uuid4()),
            champion_version_id=self.champion_version_id,
            canary_version_id=self.canary_version_id,
            losses=losses,
            draws=draws,
            wins=wins,
            champion_sessions=champion.sessions,
            champion_returns=champion.returns,
            canary_sessions=canary.sessions,
            canary_returns=canary.returns,
        )
