"""Buffers that are stored, spilled and restored: their state is exact, and belongs to a checkpoint."""

from pathlib import Path
from typing import Any

import numpy as np
import pytest

from orchestrator.catalog import Component
from orchestrator.storage.artifacts import ArtifactStore
from tests.unit.buffers.samples import counting, drawn, filled
from workers.buffers.contract import Buffer
from workers.buffers.keeping import PlayerBuffers
from workers.buffers.mixture import Mixture
from workers.buffers.prioritised import Prioritised
from workers.buffers.replay import Replay
from workers.buffers.sequences import Sequences
from workers.buffers.storing import fetch, store

MAKERS = {
    "replay": lambda: Replay(capacity=40, n_step=2),
    "compressed": lambda: Replay(capacity=40, compressed=True),
    "prioritised": lambda: Prioritised(capacity=40),
    "sequences": lambda: Sequences(capacity=40, length=3),
    "mixture": lambda: Mixture([(Replay(capacity=40), 1.0), (Prioritised(capacity=60), 1.0)]),
}


@pytest.mark.parametrize("kind", MAKERS)
def test_a_buffer_knows_before_it_is_filled_how_much_memory_it_will_take(kind: str) -> None:
    batches = counting(20)
    empty, full = MAKERS[kind](), MAKERS[kind]()
    for batch in batches:
        full.add(batch)
    # compressed rows differ a little from each other
    assert empty.bytes_when_full(batches[0]) == pytest.approx(full.nbytes, rel=0.05 if kind == "compressed" else 0)
    assert empty.nbytes < full.nbytes, "asking takes no memory"


@pytest.mark.parametrize("kind", MAKERS)
def test_a_stored_buffer_goes_on_exactly(kind: str, tmp_path: Path) -> None:
    """Stored in the midst of games: rows that wait for their successors find them afterwards."""
    artifacts = ArtifactStore(str(tmp_path))
    warm, cold = MAKERS[kind](), MAKERS[kind]()
    batches = counting(8)
    for batch in batches[:5]:
        warm.add(batch)
    cold.load(fetch(artifacts, store(artifacts, warm.state())))
    for batch in batches[5:]:
        for buffer in (warm, cold):
            buffer.add(batch)
            found = drawn(buffer, 16, seed=1)
            buffer.feedback(found.ids, np.linspace(0, 1, 16, dtype=np.float32))
    left, right = drawn(warm, seed=2), drawn(cold, seed=2)
    np.testing.assert_array_equal(left.ids, right.ids)
    np.testing.assert_array_equal(left.weights, right.weights)
    for name, column in left.columns.items():
        np.testing.assert_array_equal(column, right.columns[name], err_msg=name)


DQN = Component(id="dqn")


def opened(buffers: PlayerBuffers, player: str, sha256: str | None, **options: Any) -> Replay:
    made = buffers.open(player, DQN, sha256, lambda: Replay(capacity=100, **options), lambda: None)
    assert isinstance(made, Replay)
    return made


def test_a_buffer_goes_on_from_the_checkpoint_it_ended_with_and_from_no_other(tmp_path: Path) -> None:
    buffers = PlayerBuffers(ArtifactStore(str(tmp_path)), limit=1 << 30)
    filled(opened(buffers, "a", None))
    buffers.close("a", "one")
    filled(opened(buffers, "b", None), 1)
    buffers.close("b", "other")
    assert len(opened(buffers, "a", "one")) == 90
    assert len(opened(buffers, "a", "one")) == 90  # the generation was stopped, and is run again
    assert len(opened(buffers, "a", "reset")) == 0


def test_buffers_used_longest_ago_are_spilled_and_come_back_exactly(tmp_path: Path) -> None:
    artifacts = ArtifactStore(str(tmp_path))
    buffers = PlayerBuffers(artifacts, limit=1)
    batches = counting(6)
    for player in ("a", "b", "c"):
        buffer = opened(buffers, player, None)
        for batch in batches:
            buffer.add(batch)
        buffers.close(player, player)
    assert list((tmp_path / "buffer").rglob("*"))
    assert buffers.resident_bytes == buffer.nbytes
    for player in ("a", "b", "c"):
        back = opened(buffers, player, player)
        assert len(back) == 90
        np.testing.assert_array_equal(drawn(back).columns["obs"], drawn(buffer).columns["obs"])
        buffers.close(player, player)


def test_a_kept_buffer_is_read_from_its_checkpoint_after_a_stopped_generation(tmp_path: Path) -> None:
    artifacts = ArtifactStore(str(tmp_path))
    buffers = PlayerBuffers(artifacts, limit=1 << 30)
    batches = counting(3)
    made = Replay(capacity=100, kept=True)
    made.add(batches[0])
    kept = store(artifacts, made.state())

    def open_kept() -> Buffer:
        return buffers.open("a", DQN, "one", lambda: Replay(capacity=100, kept=True), lambda: kept)

    first = open_kept()
    first.add(batches[1])  # then the generation is stopped
    again = open_kept()
    assert isinstance(again, Replay) and len(again) == 15
