"""A tournament's activities in memory: a fixed number of rounds of two pairings each."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, field
from typing import Any

from temporalio import activity
from temporalio.exceptions import ApplicationError

from orchestrator.contracts import play, tournaments
from orchestrator.contracts.errors import Failure
from tests.integration.workflows.fake_league import GAME


@dataclass
class FakeTournament:
    """Plans from what was recorded, as the store does."""

    rounds: int = 2
    sound: int = 0
    """How often the store finds both files sound before it sees the damage."""
    recorded: list[tuple[int, int]] = field(default_factory=list)
    withdrawals: list[tournaments.DamagedPairing] = field(default_factory=list)
    setbacks: list[tournaments.FailedPairing] = field(default_factory=list)
    ended: list[tournaments.TournamentEnd] = field(default_factory=list)

    def activities(self) -> list[Callable[..., Any]]:
        return [
            self.open_scheduled_tournament,
            self.plan_pairings,
            self.record_pairing,
            self.note_pairing_setback,
            self.withdraw_damaged,
            self.rate,
            self.end,
        ]

    @activity.defn(name=tournaments.open_scheduled_tournament.name)
    async def open_scheduled_tournament(self, firing: tournaments.Firing) -> tournaments.Opened:
        return tournaments.Opened(tournament="scheduled")

    @activity.defn(name=tournaments.plan_pairings.name)
    async def plan_pairings(self, request: tournaments.TournamentRequest) -> tournaments.TournamentPlan:
        decided = {*self.recorded, *((each.round, each.pair) for each in self.withdrawals)}
        left = [(number, pair) for number in range(self.rounds) for pair in range(2) if (number, pair) not in decided]
        if not left:
            return tournaments.TournamentPlan(status="running")
        current = left[0][0]
        games = play.PlayRequest(trial="", occasion="round", game=GAME, contenders=[], pairs=1, seed=current)
        pairings = [
            tournaments.PlannedPairing(round=number, pair=pair, request=games)
            for number, pair in left
            if number == current
        ]
        return tournaments.TournamentPlan(status="running", pairings=pairings, at_once=2)

    @activity.defn(name=tournaments.record_pairing.name)
    async def record_pairing(self, report: tournaments.PairingReport) -> None:
        self.recorded.append((report.round, report.pair))

    @activity.defn(name=tournaments.note_pairing_setback.name)
    async def note_pairing_setback(self, setback: tournaments.FailedPairing) -> None:
        self.setbacks.append(setback)

    @activity.defn(name=tournaments.withdraw_damaged.name)
    async def withdraw_damaged(self, pairing: tournaments.DamagedPairing) -> None:
        if self.sound:
            self.sound -= 1
            raise ApplicationError("both of its files are intact", type=Failure.BAD_INPUT, non_retryable=True)
        self.withdrawals.append(pairing)

    @activity.defn(name=tournaments.rate_tournament.name)
    async def rate(self, request: tournaments.TournamentRequest) -> None:
        """Nothing to rate."""

    @activity.defn(name=tournaments.end_tournament.name)
    async def end(self, end: tournaments.TournamentEnd) -> None:
        self.ended.append(end)
