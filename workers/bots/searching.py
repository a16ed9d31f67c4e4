"""A version that searches: its network with a tree search, as a bot with a name of its own in ratings.

See docs/guides/search.md.
"""

from __future__ import annotations

import re
from functools import partial

import numpy as np
from numpy.typing import NDArray

from league.types import CheckpointRef
from orchestrator.storage.artifacts import ArtifactError, ArtifactStoreUnavailable
from orchestrator.user_code.code_importing import archive_store
from workers.algorithms.building import actor_of
from workers.bots.protocol import BadBot, Bot, BotInput
from workers.checkpoints import KIND, Checkpoint, load
from workers.games.errors import BadGame
from workers.games.names import make_game
from workers.games.protocol import GameSpec, VectorGame
from workers.search.errors import BadSearch
from workers.search.networks import network
from workers.search.rules import SearchRules
from workers.search.search import Search

MOST_AT_ONCE = 64
"""Rows that are searched together, at most: trees of long searches take memory."""
_SHA256 = re.compile(r"[0-9a-f]{64}")


class SearchBot(Bot):
    """Plays the best move that so many simulations find with a checkpoint's network; a fresh tree for every move."""

    def __init__(self, spec: GameSpec, *, simulations: int, checkpoint: str) -> None:
        """`checkpoint` is the sha256 of a version's checkpoint, in the store that this process serves."""
        super().__init__(spec)
        found = _load(checkpoint)
        self._make = partial(_made, found)
        if self._make(1).spec.id != spec.id:
            raise BadBot(f"search: the checkpoint plays {self._make(1).spec.id}, not {spec.id}")
        try:
            self._rules = SearchRules(simulations=simulations)
            self._evaluate = network(actor_of(found, spec))
            self._searches = {1: Search(self._make, self._rules, slots=1)}
        except (BadSearch, BadGame) as error:
            raise BadBot(f"search: {error}") from error

    def act(self, inputs: BotInput) -> NDArray[np.int64]:
        rows = len(inputs.seats)
        parts = [
            self._decide(inputs, np.arange(at, min(at + MOST_AT_ONCE, rows))) for at in range(0, rows, MOST_AT_ONCE)
        ]
        return np.concatenate(parts)

    def _decide(self, inputs: BotInput, rows: NDArray[np.int64]) -> NDArray[np.int64]:
        size = 1 << (len(rows) - 1).bit_length()
        if size not in self._searches:
            self._searches[size] = Search(self._make, self._rules, slots=size)
        game = positions(self._make(len(rows)), [inputs.history(row) for row in rows.tolist()])
        return self._searches[size].run(game, np.arange(len(rows)), self._evaluate, None).actions


def positions(game: VectorGame, histories: list[list[int]]) -> VectorGame:
    """The game with its tables in the positions after these histories, one for each table."""
    game.auto_reset = game.keeps_history = False
    game.reset(np.zeros(game.tables, np.uint64))
    place = getattr(game, "place", None)
    if place is not None:
        for table, history in enumerate(histories):
            place(table, history)
        return game
    done = np.array([len(history) for history in histories])
    for ply in range(int(done.max(initial=0))):
        # finished histories wait: their tables are stepped with the rest and then restored
        waiting = np.flatnonzero(done <= ply)
        kept = game.snapshot(waiting)
        legal = game.legal_of(game.turn())
        assert legal is not None
        actions = legal.argmax(1)
        moving = np.flatnonzero(done > ply)
        actions[moving] = [histories[table][ply] for table in moving.tolist()]
        game.step(actions)
        game.restore(waiting, kept)
    return game


def _made(checkpoint: Checkpoint, tables: int) -> VectorGame:
    return make_game(checkpoint.game.id, tables, **checkpoint.game.options)


def _load(sha256: str) -> Checkpoint:
    store = archive_store()
    if _SHA256.fullmatch(sha256) is None:
        raise BadBot(f"search: {sha256!r} is not the sha256 of a checkpoint: 64 digits and letters a to f")
    if store is None:
        raise BadBot("search: this process has no artifact store to read the checkpoint from")
    try:
        return load(store, CheckpointRef(uri=f"{KIND}/{sha256[:2]}/{sha256}", sha256=sha256, size=0))
    except ArtifactStoreUnavailable:
        raise
    except ArtifactError as error:
        raise BadBot(f"search: {error}") from error
