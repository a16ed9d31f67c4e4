"""Weights files of strangers: bombs in the header, and nothing left behind of what is refused."""

from __future__ import annotations

import json
import struct
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import httpx
import pytest

from api.schemas.enums import Scope
from api.web.problems import ProblemError
from api.web.routes import versions
from api.web.uploads import Uploads
from lanista.stack.ports import unused_port
from orchestrator.storage.artifacts import ArtifactStore
from orchestrator.storage.safetensors_header import MOST_TENSORS, InvalidHeader, read_header
from tests.integration.api.league import readable_league
from tests.integration.api.server import Served, running_api
from tests.integration.api.stand_ins import weights_file
from workers.checkpoints import UnreadableCheckpoint, decode


def file_of(header: bytes) -> bytes:
    return struct.pack("<Q", len(header)) + header


def metadata(text: str) -> bytes:
    return file_of(json.dumps({"__metadata__": {"lanista": text}}).encode())


BOMBS = {
    "nothing": b"",
    "short": b"abc",
    "longer than the file": struct.pack("<Q", 1 << 62) + b"{}",
    "deep lists": file_of(b'{"a":' + b"[" * 200_000 + b"]" * 200_000 + b"}"),
    "deep mappings": file_of(b'{"a":' * 200_000),
    "many tensors": file_of(json.dumps({f"t{n}": {} for n in range(MOST_TENSORS + 2)}).encode()),
    "many texts": file_of(b'{"a":["",' + b'"",' * 400_000 + b'""]}'),
    "text without end": file_of(b'{"a":"' + b'\\"' * 200_000),
    "digits": file_of(b'{"a":' + b"9" * 100_000 + b"}"),
    "a list": file_of(b"[]"),
    "not utf-8": file_of(b'{"a":"\xff"}'),
    "large header": file_of(b" " * ((16 << 20) + 1)),
}


@pytest.mark.parametrize("data", BOMBS.values(), ids=BOMBS)
def test_a_bomb_in_the_header_is_refused_by_api_and_worker(data: bytes) -> None:
    with pytest.raises(InvalidHeader):
        read_header(data)
    with pytest.raises(UnreadableCheckpoint):
        decode(data)


@pytest.mark.parametrize("text", ["[" * 200_000, "[" * 60 + "]" * 60, "9" * 100_000, '{"format": []}', "[]", "\ud800"])
def test_a_bomb_in_the_metadata_is_refused_by_the_worker(text: str) -> None:
    with pytest.raises(UnreadableCheckpoint):
        decode(metadata(text))


@pytest.fixture(scope="module")
def folder(tmp_path_factory: pytest.TempPathFactory) -> Path:
    return tmp_path_factory.mktemp("artifacts")


@pytest.fixture(scope="module")
def api(postgres_server: Any, postgres_template: str, folder: Path) -> Iterator[Served]:
    with (
        postgres_server.database(postgres_template) as url,
        running_api(url, f"127.0.0.1:{unused_port()}", folder, uploads_at_once=1) as served,
    ):
        yield served


@pytest.fixture
def operator(api: Served) -> Iterator[httpx.Client]:
    with api.client(Scope.OPERATOR) as client:
        yield client


def files(folder: Path) -> list[Path]:
    return [path for path in folder.rglob("*") if path.is_file() and "upload" in path.parts]


def test_what_is_refused_is_removed_at_once(
    api: Served, operator: httpx.Client, folder: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    where = {"trial_id": readable_league(api.sessions).trial_id, "name": "veteran"}
    stored: list[int] = []

    async def refuse(_: object, __: object, message: Any) -> None:
        stored.append(len(files(folder)))
        raise ProblemError(409, "the shapes do not fit")

    async def break_down(*_: object) -> None:
        raise RuntimeError("the worker is gone")

    monkeypatch.setattr(versions, "ask", refuse)
    assert operator.post("/api/v1/versions", params=where, content=weights_file("bad")).status_code == 409
    assert stored == [1] and files(folder) == []
    monkeypatch.setattr(versions, "ask", break_down)
    assert operator.post("/api/v1/versions", params=where, content=weights_file("bad")).status_code == 500
    assert files(folder) == []
    for name in ("deep lists", "short"):
        bomb = operator.post("/api/v1/versions", params=where, content=BOMBS[name])
        assert bomb.status_code == 422 and "safetensors" in bomb.json()["detail"]
    assert files(folder) == []


def test_uploads_at_once_are_limited_before_a_body_is_read(api: Served, operator: httpx.Client) -> None:
    where = {"trial_id": readable_league(api.sessions).trial_id, "name": "veteran"}
    second: list[httpx.Response] = []

    def slow() -> Iterator[bytes]:
        yield weights_file("bad")
        with api.client(Scope.OPERATOR) as other:
            second.append(other.post("/api/v1/versions", params=where, content=b"x" * 100))
        yield b""

    operator.post("/api/v1/versions", params=where, content=slow())
    assert second[0].status_code == 429 and "1 uploads are under way" in second[0].json()["detail"]
    assert int(second[0].headers["retry-after"]) >= 1


def test_the_disk_is_not_filled(tmp_path: Path) -> None:
    store = ArtifactStore(str(tmp_path / "artifacts"))
    free = store.free_bytes()
    assert free is not None and free > 0
    full = Uploads(store, at_once=2, min_free_bytes=free * 2)
    with pytest.raises(ProblemError, match="bytes free") as refused, full.slot(10):
        pass
    assert refused.value.status == 507
    with Uploads(store, at_once=2, min_free_bytes=0).slot(10):
        pass


def test_two_uploads_of_the_same_bytes_are_one_file(tmp_path: Path) -> None:
    uploads = Uploads(ArtifactStore(str(tmp_path)), at_once=2, min_free_bytes=0)
    one, other = uploads.keep(weights_file("same")), uploads.keep(weights_file("same"))
    uploads.discard(one)
    assert len(files(tmp_path)) == 1
    uploads.discard(other)
    assert files(tmp_path) == []
