"""A tournament's activities in memory: a fixed number of rounds of two pairings each."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, field
from typing import Any

from temporalio import activity

from orchestrator.contracts import play, tournaments
from tests.integration.workflows.fake_league import GAME


@dataclass
class FakeTournament:
    """Plans from what was recorded, as the store does."""

    rounds: int = 2
    recorded: list[tuple[int, int]] = field(default_factory=list)
    ended: list[tournaments.TournamentEnd] = field(default_factory=list)

    def activities(self) -> list[Callable[..., Any]]:
        return [self.open_scheduled_tournament, self.plan_pairings, self.record_pairing, self.rate, self.end]

    @activity.defn(name=tournaments.open_scheduled_tournament.name)
    async def open_scheduled_tournament(self, firing: tournaments.Firing) -> tournaments.Opened:
        return tournaments.Opened(tournament="scheduled")

    @activity.defn(name=tournaments.plan_pairings.name)
    async def plan_pairings(self, request: tournaments.TournamentRequest) -> tournaments.TournamentPlan:
        done = len(self.recorded) // 2
        if done == self.rounds:
            return tournaments.TournamentPlan(status="running")
        games = play.PlayRequest(trial="", occasion="round", game=GAME, contenders=[], pairs=1, seed=done)
        pairings = [tournaments.PlannedPairing(round=done, pair=pair, request=games) for pair in range(2)]
        return tournaments.TournamentPlan(status="running", pairings=pairings, at_once=2)

    @activity.defn(name=tournaments.record_pairing.name)
    async def record_pairing(self, report: tournaments.PairingReport) -> None:
        self.recorded.append((report.round, report.pair))

    @activity.defn(name=tournaments.rate_tournament.name)
    async def rate(self, request: tournaments.TournamentRequest) -> None:
        """Nothing to rate."""

    @activity.defn(name=tournaments.end_tournament.name)
    async def end(self, end: tournaments.TournamentEnd) -> None:
        self.ended.append(end)
