"""The service Policy: decisions equal the policy's own, aliases are followed, bad rows are refused with words."""

from __future__ import annotations

import asyncio
from typing import Any

import grpc
import numpy as np
import pytest

from orchestrator.catalog import Component
from tests.unit.rpc.serving import FakeRegistry, boards, connected
from workers.algorithms.building import actor_of
from workers.checkpoints import decode
from workers.games.names import make_game
from workers.gateway.rpc.arrays import decode_batch, encode_batch
from workers.gateway.rpc.generated import arrays_pb2
from workers.gateway.rpc.generated import policy_pb2 as pb
from workers.gateway.rpc.generated.policy_pb2_grpc import PolicyStub
from workers.gateway.rpc.policies import Policies
from workers.gateway.rpc.policy import PolicyService

Status = grpc.StatusCode


def request(rows: dict[str, Any], model: str = "champion", **more: Any) -> pb.ActRequest:
    return pb.ActRequest(model=model, rows=encode_batch(rows), **more)


async def test_decisions_are_those_of_the_version() -> None:
    registry, rows = FakeRegistry(), boards(8)
    async with connected(PolicyService(Policies(registry))) as channel:
        stub = PolicyStub(channel)
        by_alias = await stub.Act(request(rows))
        by_id = await stub.Act(request(rows, "version-1"))
        sampled = [await stub.Act(request(rows, choice=pb.CHOICE_SAMPLE, seed=seed)) for seed in (3, 3, 4)]
        await stub.Act(request(rows))
    assert registry.finds == 3  # the alias once, then by those who follow it; the id once
    spec = make_game("tic_tac_toe", 1).spec
    for reply, file in zip((by_alias, by_id), registry.files, strict=True):
        own = actor_of(decode(file), spec).act(rows, None)
        for name, column in decode_batch(reply.columns).items():
            np.testing.assert_allclose(column, own[name], rtol=1e-6)
    assert (by_alias.version, by_id.version) == ("version-0", "version-1")
    assert sampled[0] == sampled[1] != sampled[2]


async def test_a_stream_answers_in_order() -> None:
    async with connected(PolicyService(Policies(FakeRegistry()))) as channel:
        call = PolicyStub(channel).ActStream()
        for rows in (1, 5, 3):
            await call.write(request(boards(rows)))
        await call.done_writing()
        assert [len(decode_batch(reply.columns)["action"]) async for reply in call] == [1, 5, 3]


async def test_a_moved_alias_is_swapped_without_losing_a_call() -> None:
    registry, seen = FakeRegistry(), []
    async with connected(PolicyService(Policies(registry))) as channel:
        stub = PolicyStub(channel)

        async def calls() -> None:
            while "version-1" not in seen:
                seen.append((await stub.Act(request(boards(1)))).version)

        callers = [asyncio.ensure_future(calls()) for _ in range(4)]
        while registry.moves is None:
            await asyncio.sleep(0.01)
        await registry.moves.put(1)
        await asyncio.gather(*callers)
    assert set(seen) == {"version-0", "version-1"}
    assert seen == sorted(seen)


async def test_the_state_of_a_recurrent_policy_travels() -> None:
    registry, rows = FakeRegistry(1, Component(id="gru", options={"hidden": 8, "state": 4})), boards(2)
    async with connected(PolicyService(Policies(registry))) as channel:
        stub = PolicyStub(channel)
        described = await stub.Describe(pb.DescribeRequest(model="champion"))
        first = decode_batch((await stub.Act(request(rows))).columns)
        second = decode_batch((await stub.Act(request({**rows, "state": first["state"]}))).columns)
        again = decode_batch((await stub.Act(request(rows))).columns)
    assert list(described.state["state"].shape) == list(first["state"].shape[1:])
    np.testing.assert_array_equal(first["state"], again["state"])
    assert not np.array_equal(first["state"], second["state"])


async def test_a_policy_says_what_it_takes() -> None:
    async with connected(PolicyService(Policies(FakeRegistry()))) as channel:
        found = await PolicyStub(channel).Describe(pb.DescribeRequest(model="champion"))
    spec = make_game("tic_tac_toe", 1).spec
    assert (found.game, found.seats, found.mask_width) == ("tic_tac_toe", 2, 9)
    assert tuple(found.observation[""].shape) == spec.observation_shape
    assert found.observation[""].dtype == arrays_pb2.DATA_TYPE_FLOAT32
    assert (found.action.dtype, list(found.action.shape)) == (arrays_pb2.DATA_TYPE_INT64, [])


GOOD = boards(2)


@pytest.mark.parametrize(
    ("asked", "code", "words"),
    [
        (request(GOOD, "nobody"), Status.NOT_FOUND, "there is no version 'nobody'"),
        (request(GOOD, ""), Status.INVALID_ARGUMENT, "model must name an alias"),
        (request({}), Status.INVALID_ARGUMENT, "rows must have obs float32"),
        (request({"obs": np.float32(3)}), Status.INVALID_ARGUMENT, "of 1 to 65536 rows; given: obs float32 []"),
        (request({"obs": GOOD["obs"].astype(np.float64)}), Status.INVALID_ARGUMENT, "given: obs float64"),
        (request({**GOOD, "legal": GOOD["legal"][:1]}), Status.INVALID_ARGUMENT, "legal must be bool [2, 9]"),
        (request({**GOOD, "more": np.ones(2)}), Status.INVALID_ARGUMENT, "rows has more; allowed: obs float32"),
        (request(GOOD, choice=7), Status.INVALID_ARGUMENT, "choice 7 is unknown; allowed: CHOICE_GREEDY"),
    ],
)
async def test_bad_requests_are_refused(asked: pb.ActRequest, code: grpc.StatusCode, words: str) -> None:
    async with connected(PolicyService(Policies(FakeRegistry()))) as channel:
        with pytest.raises(grpc.aio.AioRpcError) as error:
            await PolicyStub(channel).Act(asked)
    assert error.value.code() is code
    assert words in (error.value.details() or "")


async def test_no_more_policies_are_held_than_allowed() -> None:
    registry = FakeRegistry(3)
    policies = Policies(registry, most=2)
    for name in ("version-0", "version-1", "version-2", "version-2", "version-0"):
        await policies.get(name)
    assert registry.finds == 4
    policies.close()
