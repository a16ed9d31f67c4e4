"""The service Policy: decisions for batches of observations."""

from __future__ import annotations

import asyncio
from collections.abc import AsyncIterator
from concurrent.futures import ThreadPoolExecutor
from typing import Any

import numpy as np
from numpy.typing import NDArray

from workers.gateway.contract import Refused
from workers.gateway.rpc.arrays import data_type, decode_batch, encode_batch
from workers.gateway.rpc.binding import Context, RpcService
from workers.gateway.rpc.generated import policy_pb2 as pb
from workers.gateway.rpc.policies import LoadedPolicy, Policies
from workers.inference.actor import Columns

MOST_ROWS = 1 << 16
"""Rows of one request."""


class PolicyService(RpcService):
    """Decides in one thread beside the event loop, so that a large batch holds up no game."""

    descriptor = pb.DESCRIPTOR.services_by_name["Policy"]

    def __init__(self, policies: Policies) -> None:
        self._policies = policies
        self._thread = ThreadPoolExecutor(1, thread_name_prefix="rpc-policy")

    async def Act(self, request: pb.ActRequest, context: Context) -> pb.ActReply:
        return await self._act(request)

    async def ActStream(self, requests: AsyncIterator[pb.ActRequest], context: Context) -> AsyncIterator[pb.ActReply]:
        async for request in requests:
            yield await self._act(request)

    async def Describe(self, request: pb.DescribeRequest, context: Context) -> pb.DescribeReply:
        return _description(await self._policies.get(named(request.model)))

    def close(self) -> None:
        """Give up the thread; calls under way end by themselves."""
        self._thread.shutdown(wait=False)

    async def _act(self, request: pb.ActRequest) -> pb.ActReply:
        policy = await self._policies.get(named(request.model))
        return await asyncio.get_running_loop().run_in_executor(self._thread, _decided, policy, request)


def named(model: str) -> str:
    """The name of a model in a request; raises Refused where there is none."""
    if not model or len(model) > 200 or not model.isprintable():
        raise Refused(400, "model must name an alias, such as champion, or a version by its id")
    return model


def _decided(policy: LoadedPolicy, request: pb.ActRequest) -> pb.ActReply:
    rows, count = checked_rows(policy, decode_batch(request.rows, "rows"))
    decided = policy.actor.act(rows, _draws(policy, request, count))
    return pb.ActReply(version=policy.version.id, columns=encode_batch(decided))


def _draws(policy: LoadedPolicy, request: pb.ActRequest, rows: int) -> NDArray[np.float32] | None:
    if request.choice == pb.CHOICE_GREEDY:
        return None
    if request.choice != pb.CHOICE_SAMPLE:
        raise Refused(400, f"choice {request.choice} is unknown; allowed: {', '.join(pb.Choice.keys())}")
    return np.random.default_rng(request.seed or None).random(policy.layout.draws_shape(rows), np.float32)


def checked_rows(policy: LoadedPolicy, given: Columns) -> tuple[dict[str, NDArray[Any]], int]:
    """The columns that the policy takes, with defaults, and the number of rows; raises Refused."""
    wanted = _wanted(policy)
    first = given.get(next(iter(wanted)))
    count = len(first) if first is not None and first.ndim else 0
    if not 1 <= count <= MOST_ROWS:
        raise Refused(400, f"rows must have {_listed(wanted)}, of 1 to {MOST_ROWS} rows; {_given(given)}")
    defaults = _defaults(policy, count)
    unknown = given.keys() - wanted.keys() - defaults.keys()
    if unknown:
        raise Refused(400, f"rows has {', '.join(sorted(unknown))}; allowed: {_listed({**wanted, **_like(defaults)})}")
    for name, (shape, dtype) in {**wanted, **_like(defaults)}.items():
        column = given.get(name)
        if column is None and name in defaults:
            continue
        if column is None or column.shape != (count, *shape) or column.dtype != dtype:
            raise Refused(400, f"{name} must be {dtype} {[count, *shape]}; {_given(given, name)}")
    return {**defaults, **given}, count


Wanted = dict[str, tuple[tuple[int, ...], np.dtype[Any]]]


def _wanted(policy: LoadedPolicy) -> Wanted:
    parts = policy.spec.observation_parts
    return {f"obs/{name}" if name else "obs": (part.shape, part.dtype) for name, part in parts.items()}


def _defaults(policy: LoadedPolicy, count: int) -> dict[str, NDArray[Any]]:
    """Columns that may be left out: everything is legal, states begin as zeros, rows are of tables of their own."""
    found: dict[str, NDArray[Any]] = {}
    if policy.layout.mask_width is not None:
        found["legal"] = np.ones((count, policy.layout.mask_width), np.bool_)
    for name, shape in policy.actor.state_shapes.items():
        found[name] = np.zeros((count, *shape), np.float32)
    if policy.actor.placed:
        found |= {"table": np.arange(count), "seat": np.zeros(count, np.int64)}
    return found


def _like(columns: Columns) -> Wanted:
    return {name: (column.shape[1:], column.dtype) for name, column in columns.items()}


def _listed(wanted: Wanted) -> str:
    return ", ".join(f"{name} {dtype} {['rows', *shape]}".replace("'", "") for name, (shape, dtype) in wanted.items())


def _given(given: Columns, name: str | None = None) -> str:
    chosen = given if name is None else {key: column for key, column in given.items() if key == name}
    words = ", ".join(f"{key} {column.dtype} {list(column.shape)}" for key, column in chosen.items())
    return f"given: {words}" if words else "it is not given"


def _description(policy: LoadedPolicy) -> pb.DescribeReply:
    def spec(shape: tuple[int, ...], dtype: np.dtype[Any]) -> pb.ArraySpec:
        return pb.ArraySpec(dtype=data_type(dtype), shape=shape)

    return pb.DescribeReply(
        version=policy.version.id,
        game=policy.spec.id,
        seats=policy.spec.seats,
        observation={name: spec(part.shape, part.dtype) for name, part in policy.spec.observation_parts.items()},
        action=spec(policy.layout.shape, policy.layout.dtype),
        mask_width=policy.layout.mask_width or 0,
        state={name: spec(shape, np.dtype(np.float32)) for name, shape in policy.actor.state_shapes.items()},
    )
