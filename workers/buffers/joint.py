"""Replay of whole team decisions, for algorithms that learn the value of what mates do together."""

from __future__ import annotations

from workers.buffers.replay import Replay
from workers.rollout.batch import Experience
from workers.rollout.joint import join_teams


class JointReplay(Replay):
    """A ring of team steps: a row has the decisions of all mates at one table at the same time.

    Columns of a draw are [rows, mates, ...]; "reward" is the sum over the mates: see `workers.rollout.joint`.
    """

    def add(self, new: Experience) -> None:
        super().add(join_teams(new))
        self._newest = new

    def bytes_when_full(self, like: Experience) -> int:
        return super().bytes_when_full(join_teams(like))
