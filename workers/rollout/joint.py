"""Team steps: the decisions that the mates of a table take at the same time, as one row."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np
from numpy.typing import NDArray

from workers.games.errors import BadGame
from workers.rollout.batch import Experience

GLOBAL = "global"
"""The column of the game's global state."""
_SHARED = (GLOBAL,)
"""Columns that are the same for all mates, so that a team step has them once."""


def team_ranks(teams: Sequence[int]) -> NDArray[np.int64]:
    """The number of each seat within its team."""
    return np.array([sum(team == teams[seat] for team in teams[:seat]) for seat in range(len(teams))], np.int64)


def team_size(teams: Sequence[int]) -> int:
    """Seats of the largest team."""
    return int(np.bincount(np.asarray(teams)).max())


def join_teams(batch: Experience) -> Experience:
    """The batch with one row for each team and step; its streams are table * teams + team.

    Columns are [rows, mates, ...] in the order of seats, "reward" is their sum, "global" is once a row, and
    "team" is the team's number. "present" is False for a mate whose seat is not the learner's: its columns are zeros.
    """
    members, of_row, keys, step_starts = _members(batch)
    present = members >= 0
    first = members[np.arange(len(members)), present.argmax(1)]
    links = batch.next_row[members]
    links = np.where(links >= 0, of_row[links], links)
    after = np.where(present, links, links.min()).max(1) if len(links) else np.zeros(0, np.int64)
    if (present & (links != after[:, None])).any():
        raise BadGame("a seat left a game that goes on; team steps need games that all mates play to their end")
    teams = max(batch.teams) + 1
    columns = {name: _joined(name, column, members, present, first) for name, column in batch.columns.items()}
    columns |= {"present": present, "team": keys % teams}
    return Experience(
        columns=columns,
        next_row=after,
        offsets=step_starts,
        streams=keys % (teams * batch.tables),
        acted_by=batch.acted_by[first],
        carried=np.flatnonzero(np.isin(first, batch.carried)),
        finals=np.flatnonzero(np.isin(first, batch.finals)),
        tables=batch.tables,
        teams=tuple(range(teams)),
    )


def nth_of_stream(streams: NDArray[np.int64]) -> NDArray[np.int64]:
    """How often each row's stream was there before: 0 for its first row."""
    order = np.argsort(streams, kind="stable")
    ordered = streams[order]
    found = np.empty(len(streams), np.int64)
    found[order] = np.arange(len(streams)) - np.searchsorted(ordered, ordered)
    return found


def _members(
    batch: Experience,
) -> tuple[NDArray[np.int64], NDArray[np.int64], NDArray[np.int64], NDArray[np.int64]]:
    """The rows of each team step [steps, mates], -1 for none; the team step of each row; a key that orders team steps;
    and where those of each step of the batch begin, and the end.

    A step of final observations may have several of one table.
    """
    teams = max(batch.teams) + 1
    ranks = team_ranks(batch.teams)[batch.seat]
    nth = np.zeros(len(batch), np.int64)
    nth[batch.finals] = nth_of_stream(batch.streams[batch.finals])
    most = int(nth.max(initial=0)) + 1
    row_keys = ((batch.step * most + nth) * batch.tables + batch.table) * teams + batch.team
    keys, of_row = np.unique(row_keys, return_inverse=True)
    starts = np.searchsorted(keys, np.arange(len(batch.offsets)) * (most * batch.tables * teams))
    members = np.full((len(keys), team_size(batch.teams)), -1, np.int64)
    members[of_row, ranks] = np.arange(len(batch))
    return members, of_row, keys, starts


def _joined(
    name: str,
    column: NDArray[Any],
    members: NDArray[np.int64],
    present: NDArray[np.bool_],
    first: NDArray[np.int64],
) -> NDArray[Any]:
    if name.partition("/")[0] in _SHARED:
        return column[first]
    found = column[members]
    found[~present] = 0
    return found.sum(1) if name == "reward" else found
