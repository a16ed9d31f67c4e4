"""The league's records for gRPC: names are found, moves are seen, refusals of the REST API become statuses."""

from __future__ import annotations

import asyncio
import hashlib
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from typing import Any

import grpc
import httpx
import pytest

from lanista.client import AsyncClient
from lanista.client.errors import Unreachable
from lanista.client.local import ApiAddress
from lanista.rpc.records import FollowedRegistry, WithRecords
from lanista.rpc.registry import ClientRegistry
from lanista.serving.followed import Followed
from tests.unit.client.fake_api import NO_WAITING, URL, WHEN, a_trial, an_id
from tests.unit.rpc.serving import EchoTable
from workers.gateway.contract import Refused
from workers.gateway.options import GatewayOptions
from workers.gateway.rpc.generated import parameters_pb2, policy_pb2
from workers.gateway.rpc.generated.parameters_pb2_grpc import ParametersStub
from workers.gateway.rpc.generated.policy_pb2_grpc import PolicyStub
from workers.gateway.server import Gateway

ID = "018f0000-0000-7000-8000-00000000000{}"
WEIGHTS = b"weights"


def version(number: int) -> dict[str, Any]:
    return {
        "id": ID.format(number),
        "trial_id": ID.format(8),
        "player_id": ID.format(9),
        "player": "main",
        "number": number,
        "origin": "trained",
        "parent_id": None,
        "steps": 100,
        "uri": "file:///x",
        "sha256": hashlib.sha256(WEIGHTS).hexdigest(),
        "size": len(WEIGHTS),
        "commit": 1,
        "created_at": WHEN,
        "returns": None,
        "aliases": [],
        "lineage": [],
        "pruned_at": None,
    }


class Records(httpx.AsyncBaseTransport):
    """A REST API with two versions, an alias and a stream of events."""

    def __init__(self) -> None:
        self.holder = 1
        self.away = False
        self.moved = asyncio.Event()
        self.imported: list[httpx.Request] = []

    async def handle_async_request(self, request: httpx.Request) -> httpx.Response:
        path = request.url.path.removeprefix("/api/v1")
        if self.away:
            return httpx.Response(503, json={"title": "down", "detail": "Postgres does not answer"}, request=request)
        if path == "/events":
            return httpx.Response(200, headers={"Content-Type": "text/event-stream"}, stream=Moves(self.moved))
        if path.endswith("/checkpoint"):
            etag = f'"{hashlib.sha256(WEIGHTS).hexdigest()}"'
            return httpx.Response(200, content=WEIGHTS, headers={"ETag": etag}, request=request)
        if path == "/versions":
            self.imported.append(request)
            return httpx.Response(201, json={**version(3), "origin": "imported"}, request=request)
        found: dict[str, Any] | None = None
        if path == "/projects/default/aliases/champion":
            found = {"name": "champion", "game": "g", "version_id": ID.format(self.holder), "revision": 1}
            found["moved_at"] = WHEN
        elif path.startswith("/versions/"):
            found = version(int(path[-1]))
        elif path.startswith("/trials/"):
            found = a_trial()
        if found is None:
            return httpx.Response(404, json={"title": "Not Found", "detail": f"there is no {path}"}, request=request)
        return httpx.Response(200, json=found, request=request)


class Moves(httpx.AsyncByteStream):
    """An event for each move."""

    def __init__(self, moved: asyncio.Event) -> None:
        self._moved = moved

    async def __aiter__(self) -> AsyncIterator[bytes]:
        while True:
            await self._moved.wait()
            self._moved.clear()
            event = f'{{"id": 7, "type": "alias.moved", "trial_id": null, "created_at": "{WHEN}", "payload": {{}}}}'
            yield f"id: 7\ndata: {event}\n\n".encode()


@asynccontextmanager
async def records() -> AsyncIterator[tuple[ClientRegistry, Records]]:
    fake = Records()
    async with AsyncClient(URL, "secret", retries=NO_WAITING, transport=fake) as client:
        registry = ClientRegistry(client)
        yield registry, fake
        await registry.close()


async def test_an_alias_is_of_the_project_and_an_id_is_itself() -> None:
    async with records() as (registry, _):
        for name, alias in (("champion", "default@champion"), ("default@champion", "default@champion")):
            found = await registry.find(name)
            assert (found.id, found.alias) == (ID.format(1), alias)
        found = await registry.find(ID.format(2))
        assert (found.number, found.alias) == (2, "")
        assert await registry.checkpoint(found) == WEIGHTS


async def test_a_move_is_seen_by_its_event() -> None:
    async with records() as (registry, fake):
        follower = registry.follow("champion")
        assert (await anext(follower)).id == ID.format(1)
        following = asyncio.ensure_future(anext(follower))
        await asyncio.sleep(0.05)
        fake.holder = 2
        await asyncio.sleep(0.05)
        assert not following.done(), "the alias is not asked for again and again"
        fake.moved.set()
        assert (await asyncio.wait_for(following, 5)).id == ID.format(2)
        await follower.aclose()  # type: ignore[attr-defined]


async def test_moves_are_seen_and_a_lost_api_is_waited_for(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("lanista.rpc.registry.PAUSE_SECONDS", 0.01)
    async with records() as (registry, fake):
        follower = registry.follow("champion")
        assert (await anext(follower)).id == ID.format(1)
        following = asyncio.ensure_future(anext(follower))
        await asyncio.sleep(0.05)
        fake.away = True
        fake.moved.set()
        await asyncio.sleep(0.05)
        assert not following.done()
        fake.holder, fake.away = 2, False
        assert (await asyncio.wait_for(following, 5)).id == ID.format(2)
        await follower.aclose()  # type: ignore[attr-defined]


async def test_a_publication_is_an_import() -> None:
    async with records() as (registry, fake):
        found = await registry.publish(trial=an_id(1), name="guest", like="main", data=b"file")
    assert found.origin == "imported"
    (request,) = fake.imported
    assert (request.url.params["name"], request.url.params["like"], request.content) == ("guest", "main", b"file")


@pytest.mark.parametrize(
    ("status", "code"), [(401, 503), (403, 403), (404, 404), (409, 409), (412, 409), (413, 413), (429, 429), (500, 503)]
)
async def test_refusals_of_the_api_keep_their_meaning(status: int, code: int) -> None:
    def answer(request: httpx.Request) -> httpx.Response:
        return httpx.Response(status, json={"title": "no", "detail": "these words"})

    async with AsyncClient(URL, "secret", retries=NO_WAITING, transport=httpx.MockTransport(answer)) as client:
        with pytest.raises(Refused, match="these words") as refused:
            await ClientRegistry(client).find("champion")
    assert refused.value.status == code


async def test_a_gateway_with_records_serves_policies() -> None:
    async def nothing(gateway: Gateway) -> None:
        pass

    def unknown() -> ApiAddress:
        raise Unreachable("no stack runs here")

    options = GatewayOptions(http_port=None, grpc_port=0)
    for where, code in (
        (unknown, "UNIMPLEMENTED"),
        (lambda: ApiAddress("http://127.0.0.1:1", "t"), "INVALID_ARGUMENT"),
    ):
        async with Gateway(options, EchoTable()) as gateway:
            await WithRecords(nothing, where, Followed(project="default", alias="champion"))(gateway)
            await gateway.listen()
            async with grpc.aio.insecure_channel(f"127.0.0.1:{gateway.ports['grpc']}") as channel:
                with pytest.raises(grpc.aio.AioRpcError) as error:
                    await PolicyStub(channel).Describe(policy_pb2.DescribeRequest())
                assert error.value.code().name == code
                with pytest.raises(grpc.aio.AioRpcError) as error:
                    await PolicyStub(channel).Describe(policy_pb2.DescribeRequest(model=ID.format(1)))
                assert error.value.code().name == ("UNIMPLEMENTED" if where is unknown else "PERMISSION_DENIED")
                for call, request in (
                    (ParametersStub(channel).Get, parameters_pb2.GetRequest(model="champion")),
                    (ParametersStub(channel).Publish, parameters_pb2.PublishRequest(trial="t", name="n")),
                ):
                    with pytest.raises(grpc.aio.AioRpcError) as error:
                        await call(request)
                    assert error.value.code().name == "UNIMPLEMENTED"


async def test_a_server_gives_only_what_it_follows() -> None:
    async with records() as (registry, fake):
        canary = ID.format(2)
        served = FollowedRegistry(registry, Followed(project="default", alias="champion", canary=canary))
        for name in ("champion", "default@champion"):
            assert (await served.find(name)).id == ID.format(1)
        assert (await served.find(canary)).id == canary
        for name in (ID.format(1), "other@champion", "default/trial/main:1", "best"):
            with pytest.raises(Refused, match=f"allowed: champion, default@champion, {canary}") as refused:
                await served.find(name)
            assert refused.value.status == 403
            with pytest.raises(Refused):
                served.follow(name)
        with pytest.raises(Refused, match="publishes nothing"):
            await served.publish(trial=an_id(1), name="guest", like=None, data=b"file")
        assert not fake.imported


async def test_an_api_that_is_away() -> None:
    def answer(request: httpx.Request) -> httpx.Response:
        raise httpx.ConnectError("refused")

    async with AsyncClient(URL, "secret", retries=NO_WAITING, transport=httpx.MockTransport(answer)) as client:
        with pytest.raises(Refused) as refused:
            await ClientRegistry(client).find("champion")
    assert refused.value.status == 503
