"""A version with search as a bot: it plays better than its network, from any history, and says what it cannot do."""

from __future__ import annotations

from collections.abc import Iterator
from functools import partial
from pathlib import Path

import numpy as np
import pytest

from orchestrator.catalog import Component
from orchestrator.storage.artifacts import ArtifactStore
from orchestrator.user_code.code_importing import archive_store, import_archives_from
from workers.bots.names import make_bot
from workers.bots.protocol import BadBot, bot_input
from workers.bots.searching import positions
from workers.checkpoints import Checkpoint, save
from workers.games.names import make_game
from workers.models.contract import build_model
from workers.rollout.openings import random_legal

MLP = Component(id="mlp", options={"hidden": [16]})


@pytest.fixture
def store(tmp_path: Path) -> Iterator[ArtifactStore]:
    before, made = archive_store(), ArtifactStore(str(tmp_path))
    import_archives_from(made)
    yield made
    if before is not None:
        import_archives_from(before)


def stored(store: ArtifactStore, game: Component, model: Component = MLP) -> str:
    spec = make_game(game.id, 1, **game.options).spec
    weights = dict(build_model(model, spec, seed=1).state_dict())
    return save(store, Checkpoint(model=model, game=game, weights=weights)).sha256


@pytest.mark.parametrize(
    "game", [Component(id="tic_tac_toe"), Component(id="openspiel", options={"game": "tic_tac_toe"})]
)
def test_it_takes_a_win_and_stops_one(store: ArtifactStore, game: Component) -> None:
    table = make_game(game.id, 2, **game.options)
    bot = make_bot(f"search-400-{stored(store, game)}", table.spec)
    table.reset(np.zeros(2, np.uint64))
    for action in [(0, 0), (3, 4), (1, 1)]:
        table.step(np.array(action))
    # table 0: seat 1 (3) must stop 2; the same at table 1 with 4
    assert bot.act(bot_input(table, table.turn())).tolist() == [2, 2]
    table.step(np.array([8, 8]))
    assert bot.act(bot_input(table, table.turn())).tolist() == [2, 2]  # completes the row


def test_positions_are_those_of_the_histories() -> None:
    make, rng = partial(make_game, "connect_four"), np.random.default_rng(1)
    game = make(9)
    game.reset(np.zeros(9, np.uint64))
    for ply in range(12):
        kept = game.snapshot(np.arange(ply, 9) if ply < 9 else np.zeros(0, np.int64))
        game.step(random_legal(game.turn().legal, rng.random(9, dtype=np.float32)))
        game.restore(np.arange(ply, 9) if ply < 9 else np.zeros(0, np.int64), kept)
    again = positions(make(9), [game.history(table) for table in range(9)])
    assert np.array_equal(np.array(again.turn().observations), np.array(game.turn().observations))
    assert np.array_equal(again.plies, game.plies)


def test_what_it_cannot_play_is_said(store: ArtifactStore) -> None:
    board = Component(id="tic_tac_toe")
    spec = make_game("tic_tac_toe", 1).spec
    with pytest.raises(BadBot, match="64 digits"):
        make_bot("search-10-abc", spec)
    with pytest.raises(BadBot, match="missing"):
        make_bot(f"search-10-{'0' * 64}", spec)
    with pytest.raises(BadBot, match="plays tic_tac_toe, not connect_four"):
        make_bot(f"search-10-{stored(store, board)}", make_game("connect_four", 1).spec)
    recurrent = stored(store, board, Component(id="gru", options={"hidden": 8, "state": 8}))
    with pytest.raises(BadBot, match="without a recurrent state"):
        make_bot(f"search-10-{recurrent}", spec)
    kuhn = stored(store, Component(id="kuhn_poker"))
    with pytest.raises(BadBot, match="nothing hidden"):
        make_bot(f"search-10-{kuhn}", make_game("kuhn_poker", 1).spec)
