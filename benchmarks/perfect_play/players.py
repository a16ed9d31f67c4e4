"""Who chooses in positions of connect four: a version's network, a version with search, or a bot."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from functools import partial

import numpy as np
from numpy.typing import NDArray

from league.types import CheckpointRef
from orchestrator.catalog import Component
from orchestrator.storage.artifacts import ArtifactStore
from workers.algorithms.building import actor_of
from workers.bots.names import make_bot
from workers.bots.protocol import BotInput
from workers.bots.searching import positions
from workers.checkpoints import load
from workers.games.names import make_game
from workers.games.protocol import VectorGame
from workers.games.seeding import mix
from workers.search.networks import network
from workers.search.rules import SearchRules
from workers.search.search import Search

Moves = Sequence[Sequence[int]]
Chooser = Callable[[Moves], NDArray[np.int64]]
"""One column for each position, which is given by the moves that led to it."""


def version_player(store: ArtifactStore, version: CheckpointRef, simulations: int = 0) -> Chooser:
    """The network's most probable move, or the best one that a search with so many simulations finds."""
    checkpoint = load(store, version)
    make = partial(_made, checkpoint.game)
    evaluate = network(actor_of(checkpoint, make(1).spec))

    def choose(moves: Moves) -> NDArray[np.int64]:
        game = positions(make(len(moves)), [list(each) for each in moves])
        if simulations:
            search = Search(make, SearchRules(simulations=simulations), slots=len(moves))
            return search.run(game, np.arange(len(moves)), evaluate, None).actions
        turn = game.turn()
        logits, _ = evaluate(turn.observations, game.legal_of(turn))
        return np.asarray(logits.argmax(1), np.int64)

    return choose


def bot_player(name: str, seed: int = 1) -> Chooser:
    """A bot of the catalog, as `mcts-100`; its chance depends on the seed and the position alone."""
    bot = make_bot(name, make_game("connect_four", 1).spec)

    def choose(moves: Moves) -> NDArray[np.int64]:
        game = positions(make_game("connect_four", len(moves)), [list(each) for each in moves])
        turn = game.turn()
        keys = np.concatenate([mix(seed, *each) for each in moves])
        observations, legal = game.rows_of(turn, slice(None))
        return bot.act(
            BotInput(
                seats=turn.seats,
                observations=observations,
                legal=legal,
                keys=keys,
                history=lambda row: list(moves[row]),
            )
        )

    return choose


def _made(game: Component, tables: int) -> VectorGame:
    return make_game(game.id, tables, **game.options)
