"""The shared inference service on a real Ray: batches, swaps, versions, recurrent states, and a replica that dies."""

from __future__ import annotations

import asyncio
import os
import signal
import time
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import numpy as np
import pytest
import ray

from tests.integration.gateway.test_serving import api, league, play, serving
from tests.unit.serving.fake_league import FakeLeague
from tests.unit.serving.made_versions import checkpoint_bytes, record_for
from workers.serving.inference_service import InferenceService, ServiceModel, ServiceOptions
from workers.serving.versions import ServedVersion, load_version

pytestmark = pytest.mark.usefixtures("local_ray")

__all__ = ["api", "league"]  # fixtures
OPTIONS = ServiceOptions(replicas=2, cpus=0.5, max_rows=64, max_delay=0.002)


@pytest.fixture(scope="module")
def service(local_ray: None) -> Iterator[InferenceService]:
    made = InferenceService(OPTIONS)
    yield made
    made.stop()


def put(service: InferenceService, seed: int, **kind: Any) -> ServedVersion:
    data = checkpoint_bytes(seed, **kind)
    version = load_version(data, record_for(data, f"main:{seed}"))
    service.put(version, data)
    return version


def a_row(version: ServedVersion, number: int) -> dict[str, Any]:
    rng = np.random.default_rng(number)
    shape = version.spec.observation_shape
    row = {"obs": rng.normal(size=(1, *shape)).astype(np.float32), "legal": np.ones((1, 9), np.bool_)}
    states = version.actor.state_shapes.items()
    return row | {name: rng.normal(size=(1, *size)).astype(np.float32) for name, size in states}


async def ask(model: ServiceModel, row: dict[str, Any]) -> dict[str, Any]:
    loop = asyncio.get_running_loop()
    answer: asyncio.Future[dict[str, Any]] = loop.create_future()

    def decided(found: dict[str, Any] | Exception) -> None:
        if isinstance(found, Exception):
            answer.set_exception(found)
        else:
            answer.set_result(found)

    model.submit(row, decided)
    return await answer


def assert_as_torch(version: ServedVersion, row: dict[str, Any], found: dict[str, Any]) -> None:
    wanted = version.actor.act(row, None)
    assert wanted.keys() == found.keys()
    for name in wanted:
        np.testing.assert_allclose(found[name], wanted[name], atol=1e-5)


async def test_many_requests_travel_in_few_batches_and_each_gets_its_own_answer(service: InferenceService) -> None:
    version = put(service, 1, model="gru", options={"hidden": 8})
    model = service.model(version, asyncio.get_running_loop())
    rows = [a_row(version, number) for number in range(300)]
    found = await asyncio.gather(*(ask(model, row) for row in rows))
    for row, answer in zip(rows, found, strict=True):
        assert_as_torch(version, row, answer)
    stats = [each[version.record.sha256] for each in service.stats()]
    assert sum(each["rows"] for each in stats) == 300
    assert sum(each["requests"] for each in stats) <= 40, "a call carries what arrived together"


async def test_weights_are_swapped_under_load_and_each_request_is_decided_by_its_version(
    service: InferenceService,
) -> None:
    loop = asyncio.get_running_loop()
    versions = [put(service, 2)]
    models = [service.model(versions[0], loop)]
    answered: list[tuple[int, dict[str, Any], dict[str, Any]]] = []

    async def play(number: int) -> None:
        for turn in range(20):
            newest = len(models) - 1
            row = a_row(versions[newest], 100 * number + turn)
            answered.append((newest, row, await ask(models[newest], row)))

    async def swap() -> None:
        for seed in range(3, 8):
            made = await asyncio.to_thread(put, service, seed)
            versions.append(made)
            models.append(service.model(made, loop))
            await asyncio.sleep(0.01)

    await asyncio.gather(swap(), *(play(number) for number in range(20)))
    assert len(answered) == 400 and len({newest for newest, _, _ in answered}) > 1
    for newest, row, found in answered:
        assert_as_torch(versions[newest], row, found)
    for version, model in zip(versions, models, strict=True):
        row = a_row(version, 1)
        assert_as_torch(version, row, await ask(model, row))


async def test_a_version_is_dropped_when_nothing_plays_with_it_and_a_rollback_keeps_it(
    service: InferenceService,
) -> None:
    loop = asyncio.get_running_loop()
    version = put(service, 20)
    old = service.model(version, loop)
    put(service, 20)  # promoted again while sessions still play with the old model
    new = service.model(version, loop)
    del old
    row = a_row(version, 1)
    assert_as_torch(version, row, await ask(new, row))
    del new
    for _ in range(100):
        if all(version.record.sha256 not in each for each in await asyncio.to_thread(service.stats)):
            return
        await asyncio.sleep(0.02)
    raise AssertionError("the version is still loaded")


async def test_a_replica_that_dies_loses_no_request_and_is_replaced(service: InferenceService) -> None:
    version = put(service, 30)
    model = service.model(version, asyncio.get_running_loop())
    before = service.restarts

    async def play(number: int) -> None:
        for turn in range(40):
            row = a_row(version, 100 * number + turn)
            assert_as_torch(version, row, await ask(model, row))

    async def kill() -> None:
        await asyncio.sleep(0.02)
        os.kill((await asyncio.to_thread(service.pids))[0], signal.SIGKILL)

    await asyncio.gather(kill(), *(play(number) for number in range(16)))
    for _ in range(600):
        if service.restarts > before:
            break
        row = a_row(version, 1)
        assert_as_torch(version, row, await ask(model, row))
        await asyncio.sleep(0.05)
    assert service.restarts == before + 1
    assert all(version.record.sha256 in each for each in await asyncio.to_thread(service.stats))


async def test_an_error_of_the_model_reaches_those_who_asked(service: InferenceService) -> None:
    version = put(service, 40)
    model = service.model(version, asyncio.get_running_loop())
    with pytest.raises(Exception, match=r"mat1 and mat2|shapes"):
        await ask(model, {"obs": np.zeros((1, 3), np.float32), "legal": np.ones((1, 9), np.bool_)})
    row = a_row(version, 1)
    assert_as_torch(version, row, await ask(model, row))


@pytest.mark.parametrize("processes", ["1", "2"])
def test_the_command_serves_through_the_service(
    api: str,
    league: FakeLeague,
    tmp_path: Path,
    monkeypatch: pytest.MonkeyPatch,
    processes: str,
) -> None:
    monkeypatch.setenv("RAY_ADDRESS", ray.get_runtime_context().gcs_address)
    arguments = ["--alias", "champion", "--inference", "ray", "--replicas", "1", "--processes", processes]
    with serving(tmp_path, api, *arguments) as games:
        assert {play(games, f"game-{number}") for number in range(8)} == {"main:1"}
        league.promote(league.add(2))
        deadline = time.monotonic() + 60
        while play(games, "later") != "main:2":
            assert time.monotonic() < deadline, "the promotion did not arrive"
    left = [actor for actor in ray.util.list_named_actors() if "serving" in actor]
    assert left == [], "the replicas end with the server"
