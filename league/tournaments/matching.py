"""Maximum matching in a general graph (Edmonds): the largest possible number of disjoint pairs."""

from __future__ import annotations

from collections import deque
from collections.abc import Sequence
from typing import Final

FREE: Final = -1


def maximum_matching(neighbours: Sequence[Sequence[int]], start: Sequence[int]) -> list[int]:
    """Each node's mate, or FREE: the matching `start` enlarged by alternating paths until none is left.

    Neighbours are tried in the order given, so earlier ones are preferred where a path needs a change.
    """
    mates = list(start)
    for root in range(len(mates)):
        if mates[root] == FREE:
            _Search(neighbours, mates, root).augment()
    return mates


class _Search:
    """One search for an alternating path from a free node, contracting odd cycles on its way."""

    def __init__(self, neighbours: Sequence[Sequence[int]], mates: list[int], root: int) -> None:
        self.neighbours, self.mates, self.root = neighbours, mates, root
        count = len(mates)
        self.parent = [FREE] * count
        self.base = list(range(count))
        self.outer = [False] * count

    def augment(self) -> None:
        """Enlarge the matching by one pair, if a path exists."""
        node = self._path_end()
        while node != FREE:
            before = self.parent[node]
            following = self.mates[before]
            self.mates[node], self.mates[before] = before, node
            node = following

    def _path_end(self) -> int:
        self.outer[self.root] = True
        queue = deque([self.root])
        while queue:
            node = queue.popleft()
            for other in self.neighbours[node]:
                if self.base[node] == self.base[other] or self.mates[node] == other:
                    continue
                mate = self.mates[other]
                if other == self.root or (mate != FREE and self.parent[mate] != FREE):
                    queue.extend(self._contract(node, other))
                elif self.parent[other] == FREE:
                    self.parent[other] = node
                    if mate == FREE:
                        return other
                    self.outer[mate] = True
                    queue.append(mate)
        return FREE

    def _contract(self, node: int, other: int) -> list[int]:
        """Contract the odd cycle that the edge closes to one node; its inner nodes become new ends to search from."""
        stem = self._common_base(node, other)
        inside = [False] * len(self.mates)
        self._mark(node, stem, other, inside)
        self._mark(other, stem, node, inside)
        found = []
        for each, base in enumerate(self.base):
            if inside[base]:
                self.base[each] = stem
                if not self.outer[each]:
                    self.outer[each] = True
                    found.append(each)
        return found

    def _common_base(self, node: int, other: int) -> int:
        seen = set()
        while True:
            node = self.base[node]
            seen.add(node)
            if self.mates[node] == FREE:
                break
            node = self.parent[self.mates[node]]
        other = self.base[other]
        while other not in seen:
            other = self.base[self.parent[self.mates[other]]]
        return other

    def _mark(self, node: int, stem: int, child: int, inside: list[bool]) -> None:
        while self.base[node] != stem:
            mate = self.mates[node]
            inside[self.base[node]] = inside[self.base[mate]] = True
            self.parent[node] = child
            child = mate
            node = self.parent[mate]
