"""Payoff cells: updated in closed form with each commit, and loaded for decisions.

See docs/decisions/payoff-and-matchmaking.md.
"""

from __future__ import annotations

import math
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field, replace

from sqlalchemy import ColumnElement, case, func, select, tuple_
from sqlalchemy.dialects.postgresql import insert
from sqlalchemy.orm import InstrumentedAttribute, Session

from api.store.tables import Payoff, Tally, Trial
from league.payoff import Cell, PayoffEntry, decayed
from league.payoff import Payoff as PayoffTable
from league.types import Earned, PlayerId, Stream


@dataclass(frozen=True, kw_only=True)
class CellKey:
    """The key of a cell in a trial's payoff: an ordered pair of players in one seating of one stream."""

    stream: Stream
    player_id: str
    opponent_id: str
    seat: int
    opponent_seat: int

    def mirrored(self) -> CellKey:
        return CellKey(
            stream=self.stream,
            player_id=self.opponent_id,
            opponent_id=self.player_id,
            seat=self.opponent_seat,
            opponent_seat=self.seat,
        )


@dataclass(frozen=True, kw_only=True)
class Results:
    """Raw wins, draws and losses of one side, and what both sides earned in those games."""

    wins: int = 0
    draws: int = 0
    losses: int = 0
    earned: Earned | None = None
    """None where some of the games came without their returns."""

    @classmethod
    def sum_of(cls, several: Sequence[Results]) -> Results:
        """The sum; exact, so that it does not depend on the order."""
        earned = [each.earned for each in several if each.earned is not None]
        return cls(
            wins=sum(each.wins for each in several),
            draws=sum(each.draws for each in several),
            losses=sum(each.losses for each in several),
            earned=Earned(math.fsum(each.own for each in earned), math.fsum(each.other for each in earned))
            if len(earned) == len(several)
            else None,
        )

    @property
    def columns(self) -> dict[str, object]:
        """The columns of a row of tallies."""
        return {"wins": self.wins, "draws": self.draws, "losses": self.losses, **earned_columns(self.earned)}


@dataclass(frozen=True, kw_only=True)
class StoredCell:
    """A row: decayed and raw results, and the commit that changed them last. Returns are only decayed."""

    decayed: Cell = field(default_factory=Cell)
    raw: tuple[int, int, int] = (0, 0, 0)
    """Wins, draws and losses."""
    revision: int = 0

    def after(self, results: Results, decay: float, commit: int) -> StoredCell:
        """The cell with one more commit's results."""
        return StoredCell(
            decayed=decayed(self.decayed, results.wins, results.draws, results.losses, decay, results.earned),
            raw=(self.raw[0] + results.wins, self.raw[1] + results.draws, self.raw[2] + results.losses),
            revision=commit,
        )

    def mirrored(self) -> StoredCell:
        return replace(self, decayed=self.decayed.mirrored(), raw=self.raw[::-1])


Cells = dict[CellKey, StoredCell]


def sum_by_cell(results: Iterable[tuple[CellKey, Results]]) -> dict[CellKey, Results]:
    """One commit's results per cell. A commit is one batch, however many versions and rows it has.

    Games of a player against itself are left out: live self-play is not a payoff entry.
    """
    batches: dict[CellKey, list[Results]] = {}
    for key, result in results:
        if key.player_id != key.opponent_id:
            batches.setdefault(key, []).append(result)
    return {key: Results.sum_of(batch) for key, batch in batches.items()}


def earned_columns(earned: Earned | None) -> dict[str, object]:
    """Returns of both sides as columns of a tally or a payoff cell."""
    return {"returns": earned and earned.own, "opponent_returns": earned and earned.other}


def earned_of(row: Tally | Payoff) -> Earned | None:
    """The returns in a row."""
    if row.returns is None or row.opponent_returns is None:
        return None
    return Earned(row.returns, row.opponent_returns)


def update_payoff(session: Session, trial: Trial, commit: int, batch: Mapping[CellKey, Results]) -> None:
    """Count one commit's results, each from one side, in both directions. The trial must be locked."""
    if not batch:
        return
    before = _load_cells(session, trial.id, list(batch))
    after: Cells = {}
    for key, results in batch.items():
        cell = before.get(key, StoredCell()).after(results, trial.payoff_decay, commit)
        after[key] = cell
        after[key.mirrored()] = cell.mirrored()
    upsert_cells(session, trial.id, after)
    trial.payoff_revision = commit


def inherit_payoff(session: Session, trial: Trial, commit: int, *, child: str, parent: str) -> None:
    """Copy the parent's cells to a new snapshot. The trial must be locked."""
    mine = select(Payoff).where(Payoff.trial_id == trial.id, Payoff.player_id == parent)
    cells = copied_cells(_cells(session.scalars(mine)), child, parent, commit)
    if cells:
        upsert_cells(session, trial.id, cells)
        trial.payoff_revision = commit


def upsert_cells(session: Session, trial_id: str, cells: Cells) -> None:
    """Insert cells, or replace those that exist."""
    statement = insert(Payoff)
    changed = ("wins", "draws", "losses", "raw_wins", "raw_draws", "raw_losses", *earned_columns(None), "revision")
    session.execute(
        statement.on_conflict_do_update(
            constraint=Payoff.__table__.primary_key,  # type: ignore[arg-type]
            set_={column: statement.excluded[column] for column in changed},
        ),
        [_row(trial_id, key, cell) for key, cell in cells.items()],
    )


def stored_cells(session: Session, trial_id: str) -> Cells:
    """Every cell of the trial, both directions."""
    return _cells(session.scalars(select(Payoff).where(Payoff.trial_id == trial_id)))


def load_payoff(
    session: Session,
    trial: Trial,
    *,
    min_games: int,
    streams: Sequence[Stream] = (Stream.TRAINING, Stream.RATING),
    of_player: str | None = None,
) -> PayoffTable:
    """The payoff as the league's rules read it: the sum of the given streams, of one player's games or of all."""
    place = (Payoff.player_id, Payoff.opponent_id, Payoff.seat, Payoff.opponent_seat)
    games = Payoff.raw_wins + Payoff.raw_draws + Payoff.raw_losses
    returns = [_sum_if_all_known(column) for column in (Payoff.returns, Payoff.opponent_returns)]
    sums = [func.sum(column) for column in (Payoff.wins, Payoff.draws, Payoff.losses, games)]
    query = (
        select(*place, *sums, *returns)
        .where(Payoff.trial_id == trial.id, Payoff.stream.in_(streams))
        .group_by(*place)
        .order_by(*place)  # sums of floats must not depend on the order of rows
    )
    # a table is filled in both directions from either one
    one_direction = Payoff.player_id < Payoff.opponent_id if of_player is None else Payoff.player_id == of_player
    rows = session.execute(query.where(one_direction))
    entries = (
        PayoffEntry(
            player=PlayerId(player),
            opponent=PlayerId(opponent),
            seat=seat,
            opponent_seat=other,
            cell=Cell(wins, draws, losses, int(played), None if own is None else Earned(own, others)),
        )
        for player, opponent, seat, other, wins, draws, losses, played, own, others in rows
    )
    return PayoffTable.from_entries(entries, decay=trial.payoff_decay, min_games=min_games)


def _sum_if_all_known(column: InstrumentedAttribute[float | None]) -> ColumnElement[float | None]:
    """The sum of a column, NULL as soon as one of the rows has none."""
    return case((func.count(column) == func.count(), func.sum(column)))


def copied_cells(cells: Cells, child: str, parent: str, commit: int) -> Cells:
    """The parent's cells as the child's, from both sides."""
    copies: Cells = {}
    for key, cell in cells.items():
        if key.player_id == parent and key.opponent_id != child:
            own, copy = replace(key, player_id=child), replace(cell, revision=commit)
            copies[own] = copy
            copies[own.mirrored()] = copy.mirrored()
    return copies


def _load_cells(session: Session, trial_id: str, keys: list[CellKey]) -> Cells:
    place = tuple_(Payoff.stream, Payoff.player_id, Payoff.opponent_id, Payoff.seat, Payoff.opponent_seat)
    wanted = [(key.stream, key.player_id, key.opponent_id, key.seat, key.opponent_seat) for key in keys]
    return _cells(session.scalars(select(Payoff).where(Payoff.trial_id == trial_id, place.in_(wanted))))


def _cells(rows: Iterable[Payoff]) -> Cells:
    cells = {}
    for row in rows:
        key = CellKey(
            stream=row.stream,
            player_id=row.player_id,
            opponent_id=row.opponent_id,
            seat=row.seat,
            opponent_seat=row.opponent_seat,
        )
        raw = (row.raw_wins, row.raw_draws, row.raw_losses)
        kept = Cell(row.wins, row.draws, row.losses, sum(raw), earned_of(row))
        cells[key] = StoredCell(decayed=kept, raw=raw, revision=row.revision)
    return cells


def _row(trial_id: str, key: CellKey, cell: StoredCell) -> dict[str, object]:
    return {
        "trial_id": trial_id,
        "stream": key.stream,
        "player_id": key.player_id,
        "opponent_id": key.opponent_id,
        "seat": key.seat,
        "opponent_seat": key.opponent_seat,
        "wins": cell.decayed.wins,
        "draws": cell.decayed.draws,
        "losses": cell.decayed.losses,
        "raw_wins": cell.raw[0],
        "raw_draws": cell.raw[1],
        "raw_losses": cell.raw[2],
        **earned_columns(cell.decayed.earned),
        "revision": cell.revision,
    }
