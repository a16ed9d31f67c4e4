"""What a waiting person sees of the real train worker: progress, its queues and Ray, and what it says of one's code."""

from __future__ import annotations

import time
from collections.abc import Iterator
from typing import Any

import pytest

from api.schemas.trials import Trial
from lanista.client import Client
from lanista.client.errors import InvalidRequest
from lanista.client.local import find_api
from tests.e2e.stack import LocalStack

LONG: dict[str, Any] = {
    "game": {"id": "connect_four"},
    "model": {"id": "mlp", "hidden": [16]},
    "league": {"champion_gate": None},
    "generation": {"steps": 4_000_000, "tables": 256},
}
"""One generation of many seconds."""


@pytest.fixture
def client(stack: LocalStack) -> Iterator[Client]:
    where = find_api(home=stack.home.root)
    with Client(where.url, where.token) as made:
        yield made


def test_progress_of_a_generation_under_way_is_told(client: Client) -> None:
    trial = client.create_trial(project="e2e", name="long", spec=LONG)
    try:
        steps = steps_told(client, trial)
    finally:
        client.stop_trial(trial, mode="now")
    assert steps == sorted(steps), "it goes on"


def steps_told(client: Client, trial: Trial) -> list[int]:
    steps: list[int] = []
    for event in client.events(trial, newest=10):
        assert event.type != "generation.recorded", "the generation ended before its progress was seen"
        if event.type != "progress" or not event.generations:
            continue
        (generation,) = event.generations
        assert event.id is None and (generation.player, generation.generation) == ("main", 1)
        if generation.steps:
            assert generation.target == LONG["generation"]["steps"] and generation.steps < generation.target
            steps.append(generation.steps)
        if len(set(steps)) > 1:
            break
    return steps


def test_the_train_worker_its_queues_and_ray_are_shown(client: Client) -> None:
    deadline = time.monotonic() + 120
    while (system := client.system()).unknown and time.monotonic() < deadline:
        time.sleep(0.5)  # a worker that has just begun may not answer at once
    assert system.unknown == {} and system.ray is not None and system.workers is not None
    assert {worker.queue for worker in system.workers} == {"league", "store", "train", "play", "interactive"}
    assert system.ray.cpus >= 1 and [node.alive for node in system.ray.nodes] == [True]


def test_code_that_does_not_import_is_named_before_a_trial_starts(client: Client) -> None:
    checked = client.validate_trial(text='game: {id: "no_such_module:Game"}\n')
    assert not checked.valid and checked.not_checked is None
    assert (checked.problems[0].path, checked.problems[0].line) == ("game.id", 1)
    assert "no_such_module" in checked.problems[0].message
    with pytest.raises(InvalidRequest, match="no_such_game"):
        client.create_trial(project="e2e", name="wrong", spec={"game": {"id": "openspiel", "game": "no_such_game"}})
