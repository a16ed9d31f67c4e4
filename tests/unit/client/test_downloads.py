"""A checkpoint goes to a file block by block: whole and verified, or nothing of it is left."""

from __future__ import annotations

import hashlib
from pathlib import Path
from typing import Any

import httpx
import pytest

from lanista.client import downloads
from lanista.client.downloads import Downloaded
from lanista.client.errors import Conflict, UnexpectedAnswer, Unreachable
from tests.unit.client.fake_api import Caller, FakeApi, Stream, an_id, problem

WEIGHTS = bytes(range(256)) * 40
SHA256 = hashlib.sha256(WEIGHTS).hexdigest()
BROKEN = httpx.ReadError("connection reset")


@pytest.fixture(autouse=True)
def _small_blocks(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(downloads, "BLOCK_BYTES", 1000)


def sent(*blocks: bytes, error: Exception | None = None, length: int = len(WEIGHTS), **headers: str) -> httpx.Response:
    named = {"ETag": f'"{SHA256}"', "Content-Length": str(length)} | headers
    return httpx.Response(200, stream=Stream(*blocks, error=error), headers=named)


def download(caller: Caller, api: FakeApi, path: Path) -> Any:
    return caller.call(api, lambda client: client.download_checkpoint(an_id(5), path))


def test_it_is_written_block_by_block(caller: Caller, tmp_path: Path) -> None:
    path, seen = tmp_path / "main.safetensors", list[list[str]]()

    class Watched(Stream):
        def __iter__(self) -> Any:
            for start in range(0, len(WEIGHTS), 1000):
                yield WEIGHTS[start : start + 1000]
                seen.append([each.name for each in tmp_path.iterdir()])

    answer = httpx.Response(200, stream=Watched(), headers={"ETag": f'"{SHA256}"'})
    api = FakeApi(answer)
    assert download(caller, api, path) == Downloaded(path=path, sha256=SHA256, size=len(WEIGHTS))
    assert path.read_bytes() == WEIGHTS and [each.name for each in tmp_path.iterdir()] == [path.name]
    assert all(len(names) == 1 and names != [path.name] for names in seen), "until the end it has another name"
    assert api.requests[0].headers["Accept-Encoding"] == "identity"
    assert not hasattr(answer, "_content"), "the body was never in memory as a whole"


def test_one_that_breaks_off_begins_anew(caller: Caller, tmp_path: Path) -> None:
    path = tmp_path / "main.safetensors"
    api = FakeApi(sent(WEIGHTS[:5000], error=BROKEN), sent(WEIGHTS))
    assert download(caller, api, path).size == len(WEIGHTS) and len(api.requests) == 2
    assert path.read_bytes() == WEIGHTS and len(list(tmp_path.iterdir())) == 1


def test_one_that_always_breaks_off_leaves_nothing_and_says_how_far_it_came(caller: Caller, tmp_path: Path) -> None:
    path = tmp_path / "main.safetensors"
    path.write_bytes(b"the old ones")
    with pytest.raises(Unreachable, match=r"broke off after 5,000 of 10,240 bytes, and nothing of it is kept"):
        download(caller, FakeApi(lambda _: sent(WEIGHTS[:5000], error=BROKEN)), path)
    assert path.read_bytes() == b"the old ones" and len(list(tmp_path.iterdir())) == 1


@pytest.mark.parametrize(
    ("answer", "why"),
    [
        (lambda: sent(WEIGHTS[:-1] + b"x"), "its hash is"),
        (lambda: sent(WEIGHTS[:-1]), "10,239 bytes came, not 10,240"),
        (lambda: sent(WEIGHTS, ETag='"none"'), "its hash is"),
    ],
)
def test_a_damaged_one_is_not_kept(caller: Caller, tmp_path: Path, answer: Any, why: str) -> None:
    with pytest.raises(UnexpectedAnswer, match=f"damaged in transit: .*{why}"):
        download(caller, FakeApi(answer()), tmp_path / "main.safetensors")
    assert not list(tmp_path.iterdir())


def test_an_interrupted_one_leaves_nothing(caller: Caller, tmp_path: Path) -> None:
    class Interrupted(Exception):
        """As KeyboardInterrupt, which would end the tests."""

    with pytest.raises(Interrupted):
        download(caller, FakeApi(sent(WEIGHTS[:5000], error=Interrupted())), tmp_path / "main.safetensors")
    assert not list(tmp_path.iterdir())


def test_a_refusal_and_no_answer_are_as_of_every_call(caller: Caller, tmp_path: Path) -> None:
    path = tmp_path / "main.safetensors"
    with pytest.raises(Conflict, match="was pruned"):
        download(caller, FakeApi(problem(409, "it was pruned")), path)
    with pytest.raises(Unreachable, match="does not answer"):
        download(caller, FakeApi(httpx.ConnectError("refused")), path)
    assert not list(tmp_path.iterdir())


def test_a_place_that_is_none_is_refused(caller: Caller, tmp_path: Path) -> None:
    api = FakeApi(sent(WEIGHTS))
    with pytest.raises(IsADirectoryError, match="it is a folder"):
        download(caller, api, tmp_path)
    assert not api.requests
    with pytest.raises(FileNotFoundError):
        download(caller, api, tmp_path / "none" / "main.safetensors")
