"""Experience whose rewards and successors a test can tell from its observations."""

from typing import Any

import numpy as np

from workers.buffers.contract import Buffer, Draw
from workers.rollout.batch import Experience
from workers.rollout.builder import TrajectoryBuilder

LENGTH = 7


def counting(batches: int, steps: int = 5, streams: int = 3) -> list[Experience]:
    """Games of LENGTH decisions; a decision's observation is (stream, number in its stream), its reward that number."""
    builder = TrajectoryBuilder(streams=streams, capacity=steps * streams)
    rows, made = np.arange(streams), []
    number = 0
    for _ in range(batches):
        for _ in range(steps):
            observations = np.stack([rows, np.full(streams, number)], 1).astype(np.uint8)
            builder.add(rows, {"obs": observations, "action": rows % 2, "state": observations.astype(np.float32)})
            builder.earn(np.full(streams, number, np.float32))
            number += 1
            if number % LENGTH == 0:
                builder.end(rows)
        made.append(copied(builder.take()))
    return made


def cut_off(batches: int, steps: int = 5, streams: int = 3) -> list[Experience]:
    """The same, except that games are cut off; the final observation shows the number that would have come next."""
    builder = TrajectoryBuilder(streams=streams, capacity=steps * streams)
    rows, made = np.arange(streams), []
    number = 0

    def shown(number: int) -> dict[str, Any]:
        observations = np.stack([rows, np.full(streams, number)], 1).astype(np.uint8)
        return {"obs": observations, "action": rows % 2, "state": observations.astype(np.float32)}

    for _ in range(batches):
        cut: list[tuple[Any, int]] = []
        for _ in range(steps):
            builder.add(rows, shown(number))
            builder.earn(np.full(streams, number, np.float32))
            number += 1
            if number % LENGTH == 0:
                cut.append((builder.truncate(rows), number))
        for last, at in cut:
            builder.add_finals(last, rows, shown(at))
        made.append(copied(builder.take()))
    return made


def copied(batch: Experience) -> Experience:
    return Experience(
        columns={name: column.copy() for name, column in batch.columns.items()},
        next_row=batch.next_row.copy(),
        offsets=batch.offsets,
        streams=batch.streams.copy(),
        acted_by=batch.acted_by.copy(),
        carried=batch.carried,
        finals=batch.finals,
        tables=batch.tables,
        teams=batch.teams,
    )


def filled(buffer: Buffer, batches: int = 6) -> Buffer:
    for batch in counting(batches):
        buffer.add(batch)
    return buffer


def drawn(buffer: Buffer, rows: int = 200, seed: int = 0) -> Draw:
    found = buffer.draw(rows, np.random.default_rng(seed))
    assert found is not None
    return found


def expected(obs: Any, n_step: int, gamma: float) -> tuple[float, float, list[int]]:
    """Reward, discount and following observation of the row that shows (stream, number)."""
    stream, number = map(int, obs)
    left = min(n_step, LENGTH - number % LENGTH)
    reward = sum(gamma**k * (number + k) for k in range(left))
    ends = (number + left) % LENGTH == 0
    return reward, 0.0 if ends else gamma**left, [0, 0] if ends else [stream, number + left]
