"""What each responder of a probe reached, counted from the recorded games."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import asdict, dataclass
from typing import Any

from sqlalchemy import func, select
from sqlalchemy.orm import Session

from api.schemas.enums import MatchResult
from api.store.tables import Match, Probe
from league.probes import Exploited, Games, exploited


@dataclass(frozen=True, kw_only=True)
class Responder:
    """One responder and its results."""

    name: str
    version_id: str
    steps: int
    parts: tuple[Games, ...]
    exploited: Exploited

    def to_json(self) -> dict[str, Any]:
        """As the probe's row keeps it."""
        return {
            "name": self.name,
            "version_id": self.version_id,
            "steps": self.steps,
            "parts": [asdict(part) for part in self.parts],
            **asdict(self.exploited),
        }


def measured(session: Session, probe: Probe, responders: Sequence[tuple[str, int, str]]) -> list[Responder]:
    """The responders, given by name, steps and version, with their results in the probe's games."""
    counts = _counts(session, probe)
    found = []
    for name, steps, version in responders:
        parts = tuple(_games(counts, version, part) for part in probe.target["parts"])
        reached = exploited(parts, responders=len(responders))
        found.append(Responder(name=name, version_id=version, steps=steps, parts=parts, exploited=reached))
    return found


def _games(counts: dict[tuple[str, str, MatchResult], int], version: str, part: dict[str, Any]) -> Games:
    target = part["version_id"]
    own = [counts.get((version, target, result), 0) for result in _RESULTS]
    # the games are recorded from either side
    theirs = [counts.get((target, version, result), 0) for result in reversed(_RESULTS)]
    wins, draws, losses = (a + b for a, b in zip(own, theirs, strict=True))
    return Games(weight=part["weight"], wins=wins, draws=draws, losses=losses)


_RESULTS = (MatchResult.WIN, MatchResult.DRAW, MatchResult.LOSS)


def _counts(session: Session, probe: Probe) -> dict[tuple[str, str, MatchResult], int]:
    rows = session.execute(
        select(Match.version_id, Match.opponent_version_id, Match.result, func.count())
        .where(Match.tournament_id == probe.tournament_id)
        .group_by(Match.version_id, Match.opponent_version_id, Match.result)
    )
    return {(version, opponent, result): count for version, opponent, result, count in rows}
