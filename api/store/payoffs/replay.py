"""The payoff recomputed from the tallies, in the order of the commits: for forks and for the audit."""

from __future__ import annotations

from dataclasses import replace
from itertools import groupby

from sqlalchemy import select
from sqlalchemy.orm import Session, aliased

from api.store.core.errors import NotFound
from api.store.payoffs.cells import CellKey, Cells, Results, StoredCell, copied_cells, earned_of, sum_by_cell
from api.store.tables import ModelVersion, Player, Tally, Trial
from league.types import Stream


def replay_payoff(session: Session, trial_id: str, at_commit: int | None = None) -> Cells:
    """The payoff recomputed from the tallies up to a commit, with what a fork and its snapshots inherited."""
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
            cells |= copied_cells(cells, *heirs[commit], commit)
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
        commit: sum_by_cell(_result(*row) for row in tallies)
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


def _result(tally: Tally, player_id: str, opponent_id: str) -> tuple[CellKey, Results]:
    key = CellKey(
        stream=tally.stream,
        player_id=player_id,
        opponent_id=opponent_id,
        seat=tally.seat,
        opponent_seat=tally.opponent_seat,
    )
    return key, Results(wins=tally.wins, draws=tally.draws, losses=tally.losses, earned=earned_of(tally))


def _inherited_by_fork(session: Session, trial: Trial) -> Cells:
    """The payoff that a fork starts with: its origin's at the fork's commit, with the fork's players."""
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
