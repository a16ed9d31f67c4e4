"""Audits payoffs: each cell recomputed from the tallies in commit order."""

from __future__ import annotations

import math
from collections.abc import Iterator

from sqlalchemy import select
from sqlalchemy.orm import Session

from api.store.payoffs.cells import StoredCell, stored_cells
from api.store.payoffs.replay import replay_payoff
from api.store.tables import Player, Trial
from api.store.verify.report import Finding, FindingKind
from league.types import Earned

TOLERANCE = 1e-9


def wrong_payoffs(session: Session) -> Iterator[Finding]:
    """Cells that differ from a recomputation."""
    for trial in session.scalars(select(Trial).order_by(Trial.id)):
        stored, replayed = stored_cells(session, trial.id), replay_payoff(session, trial.id)
        names = {
            row.id: row.name
            for row in session.execute(select(Player.id, Player.name).where(Player.trial_id == trial.id))
        }
        for key in sorted(stored.keys() | replayed.keys(), key=str):
            finding = _compare(stored.get(key, StoredCell()), replayed.get(key, StoredCell()))
            if finding is not None:
                wrong, detail = finding
                pair = (
                    f"{names.get(key.player_id, key.player_id)} against {names.get(key.opponent_id, key.opponent_id)}"
                )
                subject = f"payoff of {pair} from seat {key.seat} ({key.stream}), trial {trial.name}"
                yield Finding(wrong=wrong, subject=subject, detail=detail)


def _compare(stored: StoredCell, replayed: StoredCell) -> tuple[FindingKind, str] | None:
    if stored.decayed.games != replayed.decayed.games:
        wrong = FindingKind.LOST if stored.decayed.games < replayed.decayed.games else FindingKind.DOUBLED
        return wrong, f"{stored.decayed.games} games are stored, the tallies have {replayed.decayed.games}"
    if stored.raw != replayed.raw:
        return (
            FindingKind.DISAGREEING,
            f"wins, draws, losses are stored as {stored.raw}, the tallies give {replayed.raw}",
        )
    kept, expected = stored.decayed, replayed.decayed
    for name in ("wins", "draws", "losses"):
        mine, its = getattr(kept, name), getattr(expected, name)
        if abs(mine - its) > TOLERANCE * max(1.0, its):
            return FindingKind.DISAGREEING, f"decayed {name} are stored as {mine!r}, recomputed as {its!r}"
    if not _same_returns(kept.earned, expected.earned):
        return FindingKind.DISAGREEING, f"decayed returns are stored as {kept.earned}, recomputed as {expected.earned}"
    return None


def _same_returns(kept: Earned | None, expected: Earned | None) -> bool:
    if kept is None or expected is None:
        return kept is expected
    return all(
        math.isclose(mine, its, rel_tol=TOLERANCE, abs_tol=TOLERANCE)
        for mine, its in ((kept.own, expected.own), (kept.other, expected.other))
    )
