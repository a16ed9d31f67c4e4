"""Which faults a piece makes, on which ground, in which order. Pure: the same piece has the same plan."""

from __future__ import annotations

import random

GROUNDS = ("small disk", "outside stores", "own clocks", "two hosts", "older code")
"""Pieces take turns on them."""
EVERYWHERE = (
    *("store-worker", "train-worker", "api", "temporal", "postgres", "ray actor", "ray head"),
    *("supervisor", "everything", "several at once", "pause", "result delivered twice", "workflow terminated"),
)
"""Kinds that every ground has."""
SPECIAL: dict[str, tuple[str, ...]] = {
    "small disk": ("full disk", "checkpoint cut short"),
    "outside stores": ("artifact store failing", "postgres cut off"),
    "own clocks": ("clock step",),
    "two hosts": ("network cut",),
    "older code": ("upgrade",),
}
MISSING = {"outside stores": ("postgres",)}
"""Parts that a ground's stack does not have."""
SPECIAL_EACH = 3
"""How often a piece of 30 makes each kind that only its ground has."""
FAULTS_A_PIECE = 30


def ground_of(piece: int, grounds: tuple[str, ...] = GROUNDS) -> str:
    """The ground of a piece, counted from 1."""
    return grounds[(piece - 1) % len(grounds)]


def plan_piece(piece: int, ground: str, faults: int = FAULTS_A_PIECE) -> list[str]:
    """The kinds of a piece's faults. An upgrade is made once, in the middle."""
    rng = random.Random(piece)
    once = [kind for kind in SPECIAL[ground] if kind == "upgrade"]
    repeated = [kind for kind in SPECIAL[ground] if kind != "upgrade"]
    special = [kind for kind in repeated for _ in range(max(1, SPECIAL_EACH * faults // FAULTS_A_PIECE))]
    common = [kind for kind in EVERYWHERE if kind not in MISSING.get(ground, ())]
    offset = rng.randrange(len(common))
    room = max(0, faults - len(special) - len(once))
    kinds = (special + [common[(offset + place) % len(common)] for place in range(room)])[: faults - len(once)]
    rng.shuffle(kinds)
    return kinds[: len(kinds) // 2] + once + kinds[len(kinds) // 2 :]
