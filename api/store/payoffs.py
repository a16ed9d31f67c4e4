"""The payoff in the store: updated in closed form with each commit, loaded for decisions, replayed for the audit."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field, replace
from itertools import groupby

from sqlalchemy import func, select, tuple_
from sqlalchemy.dialects.postgresql import insert
from sqlalchemy.orm import Session, aliased

from api.store.errors import NotFound
from api.store.models import ModelVersion, Payoff, Player, Tally, Trial
from league.payoff import Cell, PayoffEntry, decayed
from league.payoff import Payoff as PayoffTable
from league.types import PlayerId, Stream


@dataclass(frozen=True, kw_only=True)
class CellKey:
    """Which cell of a trial's payoff: an ordered pair of players in one seating of one stream."""

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
    """Raw wins, draws and losses of one side."""

    wins: int = 0
    draws: int = 0
    losses: int = 0

    def plus(self, other: Results) -> Results:
        return Results(wins=self.wins + other.wins, draws=self.draws + other.draws, losses=self.losses + other.losses)

    def mirrored(self) -> Results:
        return Results(wins=self.losses, draws=self.draws, losses=self.wins)


@dataclass(frozen=True, kw_only=True)
class StoredCell:
    """What a row holds: decayed and raw results, and the commit that last changed them."""

    decayed: Cell = field(default_factory=Cell)
    raw: Results = field(default_factory=Results)
    revision: int = 0

    def after(self, results: Results, decay: float, commit: int) -> StoredCell:
        """With one commit's results counted."""
        return StoredCell(
            decayed=decayed(self.decayed, results.wins, results.draws, results.losses, decay),
            raw=self.raw.plus(results),
            revision=commit,
        )

    def mirrored(self) -> StoredCell:
        return replace(self, decayed=self.decayed.mirrored(), raw=self.raw.mirrored())


Cells = dict[CellKey, StoredCell]


def summed(results: Iterable[tuple[CellKey, Results]]) -> dict[CellKey, Results]:
    """One commit's results per cell: a commit is one batch, however many versions and rows it came in.

    Games of a player against itself are left out: live self-play is not a payoff entry.
    """
    totals: dict[CellKey, Results] = {}
    for key, result in results:
        if key.player_id != key.opponent_id:
            totals[key] = totals.get(key, Results()).plus(result)
    return totals


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
    """Give a new snapshot its parent's cells. The trial must be locked."""
    mine = select(Payoff).where(Payoff.trial_id == trial.id, Payoff.player_id == parent)
    cells = _copied(_cells(session.scalars(mine)), child, parent, commit)
    if cells:
        upsert_cells(session, trial.id, cells)
        trial.payoff_revision = commit


def upsert_cells(session: Session, trial_id: str, cells: Cells) -> None:
    """Write cells as they are."""
    statement = insert(Payoff)
    changed = ("wins", "draws", "losses", "raw_wins", "raw_draws", "raw_losses", "revision")
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
    """The payoff as the league's rules read it, the given streams added up; of one player's games, or of all."""
    place = (Payoff.player_id, Payoff.opponent_id, Payoff.seat, Payoff.opponent_seat)
    games = Payoff.raw_wins + Payoff.raw_draws + Payoff.raw_losses
    query = (
        select(*place, func.sum(Payoff.wins), func.sum(Payoff.draws), func.sum(Payoff.losses), func.sum(games))
        .where(Payoff.trial_id == trial.id, Payoff.stream.in_(streams))
        .group_by(*place)
        .order_by(*place)  # sums of floats must not depend on the order in which rows happen to come
    )
    # a table is filled in both directions from either one
    one_direction = Payoff.player_id < Payoff.opponent_id if of_player is None else Payoff.player_id == of_player
    entries = (
        PayoffEntry(
            player=PlayerId(player),
            opponent=PlayerId(opponent),
            seat=seat,
            opponent_seat=other,
            cell=Cell(wins, draws, losses, int(played)),
        )
        for player, opponent, seat, other, wins, draws, losses, played in session.execute(query.where(one_direction))
    )
    return PayoffTable.from_entries(entries, decay=trial.payoff_decay, min_games=min_games)


def replay_payoff(session: Session, trial_id: str, at_commit: int | None = None) -> Cells:
    """The payoff recomputed from the tallies up to a commit, a fork's beginning and inheritance included."""
    trial = session.get(Trial, trial_id)
    if trial is None:
        raise NotFound(f"there is no trial {trial_id}")
    cells = _inherited_by_fork(session, trial)
    last = trial.last_commit if at_commit is None else at_commit
    batches = _batches(session, trial_id, last)
    heirs = _heirs(session, trial, last)
    for commit in sorted(batches.keys() | heirs.keys()):
        for key, results in batches.get(commit, {}).items():
            cell = cells.get(key, StoredCell()).after(results, trial.payoff_decay, commit)
            cells[key] = cell
            cells[key.mirrored()] = cell.mirrored()
        if commit in heirs:
            cells |= _copied(cells, *heirs[commit], commit)
    return cells


def _batches(session: Session, trial_id: str, last: int) -> dict[int, dict[CellKey, Results]]:
    """The results of each commit, as its transaction counted them."""
    learner, opponent = aliased(ModelVersion), aliased(ModelVersion)
    rows = session.execute(
        select(Tally, learner.player_id, opponent.player_id)
        .join(learner, learner.id == Tally.learner_version_id)
        .join(opponent, opponent.id == Tally.opponent_version_id)
        .where(Tally.trial_id == trial_id, Tally.commit <= last, Tally.stream != Stream.GATING)
        .order_by(Tally.commit)
    )
    return {
        commit: summed(_result(*row) for row in tallies)
        for commit, tallies in groupby(rows, key=lambda row: row[0].commit)
    }


def _heirs(session: Session, trial: Trial, last: int) -> dict[int, tuple[str, str]]:
    """The snapshots that inherited, with their parents, by the commit that made them."""
    if not trial.spec["league"]["payoff"]["inherit"]:
        return {}
    snapshots = select(Player.created_commit, Player.id, Player.parent_id).where(
        Player.trial_id == trial.id, Player.parent_id.is_not(None), Player.created_commit.between(1, last)
    )
    return {commit: (child, parent) for commit, child, parent in session.execute(snapshots) if parent is not None}


def _copied(cells: Cells, child: str, parent: str, commit: int) -> Cells:
    """The parent's cells as the child's, from both sides."""
    copies: Cells = {}
    for key, cell in cells.items():
        if key.player_id == parent and key.opponent_id != child:
            own, copy = replace(key, player_id=child), replace(cell, revision=commit)
            copies[own] = copy
            copies[own.mirrored()] = copy.mirrored()
    return copies


def _result(tally: Tally, player_id: str, opponent_id: str) -> tuple[CellKey, Results]:
    key = CellKey(
        stream=tally.stream,
        player_id=player_id,
        opponent_id=opponent_id,
        seat=tally.seat,
        opponent_seat=tally.opponent_seat,
    )
    return key, Results(wins=tally.wins, draws=tally.draws, losses=tally.losses)


def _inherited_by_fork(session: Session, trial: Trial) -> Cells:
    """What a fork starts with: its origin's payoff as of the fork, under the fork's own players."""
    if trial.forked_from_trial_id is None:
        return {}
    copies = {
        origin: copy
        for copy, origin in session.execute(
            select(Player.id, Player.forked_from_player_id).where(Player.trial_id == trial.id)
        )
        if origin is not None
    }
    before = replay_payoff(session, trial.forked_from_trial_id, trial.forked_at_commit)
    return {
        replace(key, player_id=copies[key.player_id], opponent_id=copies[key.opponent_id]): replace(cell, revision=0)
        for key, cell in before.items()
        if key.player_id in copies and key.opponent_id in copies
    }


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
        raw = Results(wins=row.raw_wins, draws=row.raw_draws, losses=row.raw_losses)
        games = raw.wins + raw.draws + raw.losses
        cells[key] = StoredCell(decayed=Cell(row.wins, row.draws, row.losses, games), raw=raw, revision=row.revision)
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
        "raw_wins": cell.raw.wins,
        "raw_draws": cell.raw.draws,
        "raw_losses": cell.raw.losses,
        "revision": cell.revision,
    }
