"""Many episodes as one frame: columns one after the other, with the length of each episode."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from typing import Any

import numpy as np
from numpy.typing import NDArray

from workers.gateway.contract import Episode
from workers.gateway.league.frames import BadFrame, Frame

_COLUMN, _FINAL = "column/", "final/"


def episodes_frame(collection: str, episodes: Sequence[Episode]) -> Frame:
    """A frame of episodes; all have the same columns."""
    lengths = np.array([_length(each) for each in episodes], np.int64)
    names = episodes[0].columns.keys()
    arrays: dict[str, NDArray[Any]] = {
        f"{_COLUMN}{name}": np.concatenate([each.columns[name] for each in episodes]) for name in names
    }
    cut = [each.final for each in episodes if each.final is not None]
    if cut:
        arrays |= {f"{_FINAL}{name}": np.concatenate([each[name] for each in cut]) for name in cut[0]}
    acted_by = [
        np.zeros(length, np.int64) if each.acted_by is None else each.acted_by
        for each, length in zip(episodes, lengths.tolist(), strict=True)
    ]
    arrays["lengths"] = lengths
    arrays["acted_by"] = np.concatenate(acted_by)
    arrays["seat"] = np.array([each.seat for each in episodes], np.int64)
    arrays["over"] = np.array([each.over for each in episodes], np.bool_)
    arrays["cut"] = np.array([each.final is not None for each in episodes], np.bool_)
    return Frame("episodes", {"id": collection, "sessions": [each.session for each in episodes]}, arrays)


def episodes_of(frame: Frame) -> Iterator[Episode]:
    """The episodes of a frame; raises BadFrame where its arrays do not agree."""
    arrays, sessions = frame.arrays, frame.fields["sessions"]
    lengths, acted_by = arrays["lengths"], arrays["acted_by"]
    columns = {name.removeprefix(_COLUMN): a for name, a in arrays.items() if name.startswith(_COLUMN)}
    finals = {name.removeprefix(_FINAL): a for name, a in arrays.items() if name.startswith(_FINAL)}
    total, cuts = int(lengths.sum()), int(arrays["cut"].sum())
    if any(len(column) != total for column in [*columns.values(), acted_by]):
        raise BadFrame("columns of episodes differ in length")
    if any(len(column) != cuts for column in finals.values()) or len(sessions) != len(lengths):
        raise BadFrame("episodes differ in number")
    ends, final = np.cumsum(lengths), 0
    for number, (session, end) in enumerate(zip(sessions, ends.tolist(), strict=True)):
        rows = slice(end - int(lengths[number]), end)
        cut = bool(arrays["cut"][number])
        yield Episode(
            session=session,
            seat=int(arrays["seat"][number]),
            columns={name: column[rows] for name, column in columns.items()},
            over=bool(arrays["over"][number]),
            final={name: column[final : final + 1] for name, column in finals.items()} if cut else None,
            acted_by=acted_by[rows],
        )
        final += cut


def _length(episode: Episode) -> int:
    return len(next(iter(episode.columns.values())))
