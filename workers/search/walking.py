"""The descent of one simulation in every tree: from the root to a new position or to the end of the game."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from workers.games.seeding import below, mix
from workers.search.roots import Roots
from workers.search.trees import NONE, VISITS, Nodes, Trees


@dataclass(slots=True)
class Walk:
    """The edges of one simulation in every tree, flat, those of the roots first."""

    nodes: Nodes
    actions: Nodes
    whose: Nodes
    """The tree of each edge, as its place among the roots."""
    leaves: Nodes
    """[trees]: the node that each walk ended at."""
    parents: Nodes
    """Where a node was added: its parent, the action that led to it, itself, and its tree."""
    last: Nodes
    added: Nodes
    trees: Nodes


def walk(trees: Trees, roots: Roots, keys: NDArray[np.uint64] | None) -> Walk:
    """Go down every tree; `keys` draw the outcomes of chance, where there is any."""
    node, whose = roots.nodes, np.arange(len(roots.nodes))
    action = roots.next_actions()
    path: list[tuple[Nodes, Nodes, Nodes]] = []
    leaves = np.empty(len(node), np.int64)
    new: list[tuple[Nodes, Nodes, Nodes]] = []
    depth = 0
    while len(node):
        path.append((node, action, whose))
        following = _children(trees, node, action, None if keys is None else mix(keys[whose], depth))
        missing = following == NONE
        if missing.any():
            new.append((node[missing], action[missing], whose[missing]))
            stays = ~missing
            node, action, whose, following = node[stays], action[stays], whose[stays], following[stays]
        goes_on = trees.open[following]
        if not goes_on.all():
            leaves[whose[~goes_on]] = following[~goes_on]
            following, whose = following[goes_on], whose[goes_on]
        node, action = following, trees.best[following]
        depth += 1
    parents, last, at = (np.concatenate(part) if part else np.zeros(0, np.int64) for part in _columns(new))
    added = trees.add(parents, last, roots.slots[at]) if len(parents) else np.zeros(0, np.int64)
    leaves[at] = added
    nodes, actions, owners = (np.concatenate(part) for part in _columns(path))
    return Walk(nodes, actions, owners, leaves, parents, last, added, at)


def _children(trees: Trees, nodes: Nodes, actions: Nodes, keys: NDArray[np.uint64] | None) -> Nodes:
    """The child that each action leads to now; NONE for one that is to be added.

    After chance an action has several children, samples of the outcomes: about as many as the root of its visits.
    """
    if keys is None:
        return np.asarray(trees.children.reshape(-1)[nodes * trees.actions + actions], np.int64)
    have = trees.sampled[nodes, actions]
    visits = trees.table[nodes, VISITS, actions]
    wanted = np.minimum(np.sqrt(visits).astype(np.int64) + 1, trees.children.shape[1])
    drawn = below(keys, np.maximum(have, 1).astype(np.int64))
    return np.asarray(np.where(have < wanted, NONE, trees.children[nodes, drawn, actions]), np.int64)


def _columns(rows: list[tuple[Nodes, Nodes, Nodes]]) -> tuple[list[Nodes], list[Nodes], list[Nodes]]:
    return [row[0] for row in rows], [row[1] for row in rows], [row[2] for row in rows]
