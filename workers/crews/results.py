"""Tallies, returns and game metrics of a generation, summed over the processes of its crew."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import asdict
from functools import reduce
from typing import Any

import numpy as np
from numpy.typing import NDArray

from league.payoff import Returns
from league.types import Earned, LineupTally, ReturnTally, Tally, VersionId
from orchestrator.contracts.generations import GenerationTask
from workers.rollout.mixed_tally import Lineup, MixedCount
from workers.rollout.tally import Counts

Matchup = tuple[int, int, int]
"""The opponent's number, the learner's team and the opponent's team."""


def sum_counts(counts: Sequence[Counts]) -> dict[Matchup, tuple[NDArray[np.int64], NDArray[np.float64]]]:
    """(wins, draws, losses) and both sides' summed returns of every matchup that was played."""
    sums: dict[Matchup, tuple[NDArray[np.int64], NDArray[np.float64]]] = {}
    for count in counts:
        for opponent, team, other in np.argwhere(count.outcomes.sum(3) > 0).tolist():
            matchup = (opponent, team, other)
            outcomes, earned = sums.get(matchup, (np.zeros(3, np.int64), np.zeros(2)))
            sums[matchup] = outcomes + count.outcomes[matchup], earned + count.earned[matchup]
    return sums


def tallies(task: GenerationTask, counts: Sequence[Counts]) -> list[Tally]:
    """One tally for each matchup, in order."""
    return [
        Tally(
            learner=VersionId(task.version),
            opponent=VersionId(task.others[opponent].version),
            seat=team,
            wins=int(wins),
            draws=int(draws),
            losses=int(losses),
            opponent_seat=other,
            earned=Earned(own=float(own), other=float(others)),
        )
        for (opponent, team, other), ((wins, draws, losses), (own, others)) in sorted(
            sum_counts(counts).items(), key=lambda item: item[0]
        )
    ]


def lineup_tallies(task: GenerationTask, counts: Sequence[Counts]) -> list[LineupTally]:
    """One tally for each mixed line-up and matchup, in order, summed over the processes."""
    found: dict[tuple[Lineup, int | None], list[MixedCount]] = {}
    for mixed in (mixed for count in counts for mixed in count.mixed):
        found.setdefault((mixed.lineup, mixed.other), []).append(mixed)
    versions = [VersionId(mate.version) for mate in task.mates]
    own = VersionId(task.version)
    return [
        LineupTally(
            learner=own,
            lineup=tuple(own if player < 0 else versions[player] for player in lineup.players),
            opponent=None if other is None else own if lineup.opponent < 0 else _version(task, lineup.opponent),
            seat=lineup.team,
            opponent_seat=other,
            **_summed(parts),
        )
        for (lineup, other), parts in sorted(found.items(), key=lambda item: (str(item[0][0]), item[0][1] or 0))
    ]


def _version(task: GenerationTask, opponent: int) -> VersionId:
    return VersionId(task.others[opponent].version)


def _summed(parts: Sequence[MixedCount]) -> dict[str, Any]:
    if parts[0].returns is not None:
        merged = reduce(Returns.merged, (part.returns for part in parts if part.returns is not None), Returns())
        return {"returns": ReturnTally(**asdict(merged))}
    wins, draws, losses = (sum(part.outcomes[column] for part in parts) for column in range(3))
    own, other = (sum(part.earned[side] for part in parts) for side in range(2))
    return {"wins": wins, "draws": draws, "losses": losses, "earned": Earned(own=own, other=other)}


def single_team_returns(counts: Sequence[Counts]) -> ReturnTally | None:
    """The returns of a game of one team; None if no game ended or the game has more teams."""
    found = (count.single_team_returns for count in counts if count.single_team_returns is not None)
    merged = reduce(Returns.merged, found, Returns())
    return ReturnTally(**asdict(merged)) if merged.games else None


def game_metrics(counts: Sequence[Counts]) -> dict[str, float]:
    """The number of finished games, their mean length and the mean return of the learner's teams."""
    games = sum(count.games for count in counts)
    teams = sum(count.teams_played for count in counts)
    metrics = {"games": float(games)}
    if games:
        metrics["game_length"] = sum(count.steps for count in counts) / games
    if teams:
        metrics["return_mean"] = sum(count.returns for count in counts) / teams
    return metrics | _further(counts)


def _further(counts: Sequence[Counts]) -> dict[str, float]:
    """Further metrics over all processes: means, and counts."""
    found: dict[str, tuple[float, int]] = {}
    for name, (total, games) in (item for count in counts for item in count.metrics.items()):
        before, of = found.get(name, (0.0, 0))
        found[name] = before + total, of + games
    return {name: total / games if games else total for name, (total, games) in found.items()}
