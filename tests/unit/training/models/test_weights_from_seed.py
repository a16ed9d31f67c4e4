"""Weights follow from the seed, whatever other threads draw at the same time."""

from __future__ import annotations

from concurrent.futures import ThreadPoolExecutor

from orchestrator.catalog import Component
from workers.games.names import make_game
from workers.models.contract import build_model


def test_threads_that_draw_at_once_do_not_mix_their_weights() -> None:
    spec = make_game("tic_tac_toe", 1).spec

    def drawn(_: int) -> bytes:
        model = build_model(Component(id="mlp", options={"hidden": [64, 64]}), spec, seed=3)
        return b"".join(values.numpy().tobytes() for values in model.state_dict().values())

    with ThreadPoolExecutor(4) as threads:
        assert len(set(threads.map(drawn, range(100)))) == 1
