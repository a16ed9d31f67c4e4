"""Populations of a league in memory: what members played since their last copy, and the decisions to copy."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass

from league.payoff.returns import Returns
from league.populations.measures import WinDrawLoss, return_scores, win_rate_scores
from league.populations.rules import ScoreOf
from league.populations.selection import Standings
from league.types import PlayerId, Tally
from league.types import ReturnTally as Returned
from orchestrator.spec.population import ExploitSpec


@dataclass(frozen=True, kw_only=True)
class Played:
    """The games of one generation."""

    returns: Returns
    results: Mapping[PlayerId, WinDrawLoss]


def played(returns: Returned | None, tallies: Iterable[Tally], owners: Mapping[str, PlayerId]) -> Played:
    """What a generation's outcome says about the member."""
    results: dict[PlayerId, WinDrawLoss] = {}
    for tally in tallies:
        opponent = owners[tally.opponent]
        met = results.get(opponent, WinDrawLoss())
        results[opponent] = met.plus(WinDrawLoss(tally.wins, tally.draws, tally.losses))
    earned = Returns() if returns is None else Returns(returns.games, returns.mean, returns.deviations)
    return Played(returns=earned, results=results)


def standings(exploit: ExploitSpec, members: Mapping[PlayerId, Sequence[Played]]) -> Standings:
    """The scores of the members, by what each played since its last copy or reset; names are ids."""
    names = {member: str(member) for member in members}
    counted = {member: list(recent)[-exploit.window :] for member, recent in members.items()}
    if exploit.by is ScoreOf.RETURN:
        returns = {member: _returns(recent) for member, recent in counted.items() if recent}
        return Standings(scores=tuple(return_scores(returns, names, exploit.min_games)), of=exploit.by)
    results = {member: _results(recent) for member, recent in counted.items() if recent}
    scores, common = win_rate_scores(results, names, exploit.min_games)
    return Standings(scores=tuple(scores), of=exploit.by, source={"opponents": [str(each) for each in common]})


def _returns(recent: Iterable[Played]) -> Returns:
    found = Returns()
    for generation in recent:
        found = found.merged(generation.returns)
    return found


def _results(recent: Iterable[Played]) -> dict[PlayerId, WinDrawLoss]:
    found: dict[PlayerId, WinDrawLoss] = {}
    for generation in recent:
        for opponent, results in generation.results.items():
            found[opponent] = found.get(opponent, WinDrawLoss()).plus(results)
    return found
