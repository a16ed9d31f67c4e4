"""The topology of a crew: what `auto` is for an algorithm, and which algorithms cannot be trained asynchronously."""

from __future__ import annotations

from typing import Final, Literal

TopologyName = Literal["auto", "fused", "split", "asynchronous"]

NOT_ASYNCHRONOUS: Final = (
    "its games begin anew with each update, and an asynchronous crew mixes games of several updates; "
    "allowed topologies: fused, split"
)
"""Why an algorithm that restarts its games is refused."""


def resolve_topology(topology: str, trainers: int, *, asynchronous: bool) -> str:
    """What `auto` is; `asynchronous` says whether the algorithm is made for asynchronous crews.

    Fused wins at every measured model size on CPUs (docs/decisions/crews.md); only split crews have trainers.
    """
    if topology != "auto":
        return topology
    if asynchronous:
        return "asynchronous"
    return "split" if trainers > 1 else "fused"
