"""Trees of many tables as preallocated arrays: a row for each node, a slot of rows for each tree.

All numbers of a node lie together, so that one read finds them; `numbers` hands them out as [kind, actions, nodes],
because numpy reduces a short first axis many times faster than a short last one. A node is numbered slot * room + its
place in the tree; place 0 is the root, and children come after their parents.
"""

from __future__ import annotations

from typing import Any

import numpy as np
from numpy.typing import NDArray

from workers.games.protocol import Snapshot

NONE = -1
LOGITS, PRIORS, VISITS, TOTALS = range(4)
"""The kinds of numbers that a node has for each action."""
Nodes = NDArray[np.int64]
Floats = NDArray[np.float32]


class Trees:
    """The nodes of all trees."""

    def __init__(self, *, slots: int, room: int, actions: int, teams: int, outcomes: int = 1) -> None:
        """`room`: nodes of a tree; `outcomes`: children of an action, more than one where chance follows."""
        nodes = slots * room
        self.slots, self.room, self.actions, self.teams, self.count = slots, room, actions, teams, nodes
        self.table = np.zeros((nodes, 4, actions), np.float32)
        """[nodes, kind, actions]: the totals are sums of what followed each action, for the team to move."""
        self.children = np.full((nodes, outcomes, actions), NONE, np.int32)
        self.sampled = np.zeros((nodes, actions), np.int32)
        """Children of each action; only used where an action has several."""
        self.value = np.zeros(nodes, np.float32)
        """The network's value for the team to move."""
        self.team = np.zeros(nodes, np.int64)
        self.gained = np.zeros((nodes, teams), np.float32)
        """Rewards of each team since the root, discounted to it."""
        self.weight = np.ones(nodes, np.float32)
        """The discount from the root to the node."""
        self.open = np.zeros(nodes, np.bool_)
        """Whether the node is evaluated and its game goes on, so that a simulation may pass through it."""
        self.best = np.zeros(nodes, np.int64)
        """The action that the next simulation takes there."""
        self.parent = np.zeros(nodes, np.int64)
        self.size = np.zeros(slots, np.int64)
        self.low, self.high = np.zeros(slots, np.float32), np.zeros(slots, np.float32)
        """The least and the greatest return known in each tree."""
        self.positions: dict[str, NDArray[Any]] = {}

    def clear(self, slots: Nodes) -> None:
        """Begin new trees of one root each, not evaluated yet."""
        nodes = slots * self.room
        self.size[slots] = 1
        self._blank(nodes)
        self.gained[nodes] = 0.0
        self.weight[nodes] = 1.0

    def _blank(self, nodes: Nodes) -> None:
        """Nodes without children, closed: their numbers are written when they are evaluated, and not read before."""
        self.children[nodes] = NONE
        if self.children.shape[1] > 1:
            self.sampled[nodes] = 0
        self.open[nodes] = False

    def add(self, parents: Nodes, actions: Nodes, slots: Nodes) -> Nodes:
        """A new node for each of these edges, in trees that are all different; its earnings are written later."""
        places = self.size[slots]
        nodes: Nodes = slots * self.room + places
        places += 1
        self.size[slots] = places
        self._blank(nodes)
        if self.children.shape[1] == 1:
            self.children[parents, 0, actions] = nodes
        else:
            nth = self.sampled[parents, actions]
            self.children[parents, nth, actions] = nodes
            self.sampled[parents, actions] = nth + 1
        self.parent[nodes] = parents
        return nodes

    def keep(self, nodes: Nodes, snapshot: Snapshot) -> None:
        """Store positions, a row for each node."""
        if not self.positions:
            self.positions = {
                name: np.zeros((self.count, *rows.shape[1:]), rows.dtype) for name, rows in snapshot.items()
            }
        for name, rows in snapshot.items():
            self.positions[name][nodes] = rows

    def position(self, nodes: Nodes) -> Snapshot:
        """The positions of these nodes."""
        return {name: rows[nodes] for name, rows in self.positions.items()}

    def back_up(self, nodes: Nodes, actions: Nodes, returns: Floats, visits: float = 1.0) -> None:
        """Count visits of these edges, all different, and what followed for the team to move."""
        edges = (nodes * 4 + VISITS) * self.actions + actions
        flat = self.table.reshape(-1)
        if visits:
            flat[edges] += np.float32(visits)
        edges += self.actions
        flat[edges] += returns

    def numbers(self, nodes: Nodes) -> Floats:
        """[kind, actions, nodes]: a copy of all numbers of these nodes."""
        found = self.table.reshape(self.count, -1).take(nodes, 0)
        return np.ascontiguousarray(found.T).reshape(4, self.actions, len(nodes))

    def returns(self, nodes: Nodes, ends: Floats) -> Floats:
        """What the team to move at each node got from there; `ends` are [nodes, teams], counted from the root."""
        rows, team = np.arange(len(nodes)), self.team[nodes]
        found: Floats = ends[rows, team] - self.gained[nodes, team]
        found /= self.weight[nodes]
        return found

    def widen(self, slots: Nodes, returns: Floats) -> None:
        """Take these returns into the bounds of their trees."""
        np.minimum.at(self.low, slots, returns)
        np.maximum.at(self.high, slots, returns)

    # Reuse

    def reroot(self, slots: Nodes, position: Snapshot, ignored: tuple[str, ...], needed: int) -> NDArray[np.bool_]:
        """Make each tree's node with this position its root; returns where there is one and room for `needed` more.

        Of the arrays of a position those in `ignored` may differ.
        """
        places = np.arange(self.room)
        nodes = slots[:, None] * self.room + places
        same = (places < self.size[slots][:, None]) & self.open[nodes]
        for name, rows in position.items():
            if name not in ignored and rows.dtype != object:
                held = self.positions[name][nodes]
                equal = held == rows[:, None]
                same &= equal.reshape(*same.shape, -1).all(2)
        found: NDArray[np.bool_] = same.any(1)
        for row in np.flatnonzero(found).tolist():
            found[row] = self._move_up(int(slots[row]), int(same[row].argmax()), needed)
        return found

    def _move_up(self, slot: int, place: int, needed: int) -> bool:
        """Make the node at this place the root of its tree; False if too little room would be left."""
        size, base = int(self.size[slot]), slot * self.room
        kept = np.zeros(size, np.bool_)
        kept[place] = True
        parents = self.parent[base : base + size] - base
        for each in range(place + 1, size):  # children come after their parents
            kept[each] = kept[parents[each]]
        old = np.flatnonzero(kept)
        if len(old) + needed > self.room:
            return False
        if place:
            self._compact(base, old)
        self.size[slot] = len(old)
        return True

    def _compact(self, base: int, old: Nodes) -> None:
        source, target = base + old, base + np.arange(len(old))
        moved = np.full(self.room + 1, NONE, np.int64)
        moved[old] = target
        children = self.children[source]
        self.children[target] = np.where(children == NONE, NONE, moved[np.where(children == NONE, 0, children - base)])
        self.parent[target] = moved[np.maximum(self.parent[source] - base, 0)]
        root, weight = self.gained[source[0]].copy(), float(self.weight[source[0]])
        self.gained[target] = (self.gained[source] - root) / weight
        self.weight[target] = self.weight[source] / weight
        own: list[NDArray[Any]] = [self.table, self.sampled, self.value, self.team, self.open, self.best]
        for column in [*own, *self.positions.values()]:
            column[target] = column[source]
