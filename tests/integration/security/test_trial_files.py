"""Trial files of strangers: too long, standing for billions of values, or made of nothing but mistakes."""

from __future__ import annotations

import asyncio
import os
import signal
from collections.abc import Awaitable, Callable, Iterator
from pathlib import Path
from typing import Any, TypeVar

import psutil
import pytest

from api.schemas.enums import Scope
from api.web.problems import ProblemError
from api.web.validation import spec_reader
from api.web.validation.reading import ToRead
from api.web.validation.spec_reader import SpecReader
from lanista.stack.ports import unused_port
from orchestrator.spec import InvalidTrial
from tests.integration.api.server import Served, running_api

Result = TypeVar("Result")
LARGEST = 65_536
GAME = "game: {id: connect_four}\n"
VALID = GAME + "# a remark\n" * 1_000
"""Valid, and too large for a thread."""


@pytest.fixture(scope="module")
def api(postgres_server: Any, postgres_template: str, tmp_path_factory: pytest.TempPathFactory) -> Iterator[Served]:
    folder: Path = tmp_path_factory.mktemp("artifacts")
    with (
        postgres_server.database(postgres_template) as url,
        running_api(url, f"127.0.0.1:{unused_port()}", folder) as served,
    ):
        yield served


def run(work: Callable[[SpecReader], Awaitable[Result]]) -> Result:
    async def with_reader() -> Result:
        reader = SpecReader(LARGEST)
        try:
            return await work(reader)
        finally:
            await reader.close()

    return asyncio.run(with_reader())


BOMBS = {
    "aliases": "a0: &a0 [x, x, x, x, x, x, x, x, x, x]\n"
    + "".join(f"a{n}: &a{n} [{', '.join([f'*a{n - 1}'] * 10)}]\n" for n in range(1, 12)),
    "deep": "[" * 60_000,
    "deep mappings": "{a: " * 15_000,
    "players": GAME + "league: {players: [" + "a," * 30_000 + "]}",
    "unknown options": "\n".join(f"k{number}: 1" for number in range(7_000)),
    "one key": "a: 1\n" * 13_000,
    "tags": "a: [" + "!x 1," * 10_000 + "]",
    "digits": "seed: " + "9" * 60_000,
    "decimals": "seed: 0." + "1" * 60_000,
    "anchors": "".join(f"a{n}: &a{n} 1\n" for n in range(3_000)),
    "not text": "a: " + "\x07" * 20_000,
}


@pytest.mark.parametrize("text", BOMBS.values(), ids=BOMBS)
def test_a_bomb_is_a_short_list_of_problems(api: Served, text: str) -> None:
    assert len(text.encode()) <= LARGEST
    with api.client(Scope.VIEWER) as viewer:
        answer = viewer.post("/api/v1/trials/validate", json={"text": text})
    assert answer.status_code == 200, answer.text[:200]
    checked = answer.json()
    assert not checked["valid"] and 1 <= len(checked["problems"]) <= 51
    assert all(problem["line"] >= 1 and problem["column"] >= 1 for problem in checked["problems"])
    assert len(answer.content) < 50_000


def test_what_was_left_out_is_counted() -> None:
    with pytest.raises(InvalidTrial) as refused:
        run(lambda reader: reader.read("a", ToRead(text=GAME + "seed: 1\n" * 1_000)))
    first, *_, last = refused.value.problems
    assert (first.path, first.line, len(refused.value.problems)) == ("seed", 3, 51)
    assert last.message == "949 more problems are not listed; mend these first"


def test_a_text_may_not_be_too_long(api: Served) -> None:
    with api.client(Scope.VIEWER) as viewer:
        text = GAME + "#" * LARGEST
        refused = viewer.post("/api/v1/trials/validate", json={"text": text})
        assert refused.status_code == 413 and str(LARGEST) in refused.json()["detail"]
        much = viewer.post("/api/v1/trials/validate", json={"spec": {"x": "y" * 3 * LARGEST}})
        assert much.status_code == 413
        fits = viewer.post("/api/v1/trials/validate", json={"text": text[:LARGEST]})
        assert fits.status_code == 200 and fits.json()["valid"]


@pytest.mark.parametrize(
    "body",
    [
        '{"spec": {"seed": ' + "9" * 100_000 + "}}",
        '{"spec": ' + '{"a":' * 20_000 + "1" + "}" * 20_001,
        '{"spec": {"\\ud800": 1, "b": "\\ud800' + "x" * 5_000 + '"}}',
        '{"spec": {"seed": NaN}}',
    ],
    ids=["digits", "deep", "no text", "no number"],
)
def test_json_that_python_chokes_on_is_refused(api: Served, body: str) -> None:
    with api.client(Scope.VIEWER) as viewer:
        answer = viewer.post(
            "/api/v1/trials/validate", content=body.encode(), headers={"Content-Type": "application/json"}
        )
        assert answer.status_code in (200, 400, 422), answer.text[:300]
        assert answer.status_code != 200 or not answer.json()["valid"]


def test_large_and_small_files_are_read_alike() -> None:
    async def both(reader: SpecReader) -> None:
        small = await reader.read("a", ToRead(text=GAME))
        assert await reader.read("a", ToRead(text=VALID)) == small
        assert await reader.read("a", ToRead(spec=small.to_json())) == small

    run(both)


def checking() -> list[psutil.Process]:
    return [child for child in psutil.Process().children() if "api.web.validation.process" in child.cmdline()]


def test_the_process_has_no_secret_and_ends_with_the_reader(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("LANISTA_DATABASE_URL", "postgresql://hush@localhost/x")
    before = set(checking())

    async def look(reader: SpecReader) -> list[psutil.Process]:
        await reader.read("a", ToRead(text=VALID))
        started = [process for process in checking() if process not in before]
        assert len(started) == 1 and not any(name.startswith("LANISTA_") for name in started[0].environ())
        return started

    _, alive = psutil.wait_procs(run(look), timeout=30)
    assert not alive


def test_a_check_without_end_is_ended_and_others_go_on(monkeypatch: pytest.MonkeyPatch) -> None:
    before = set(checking())

    async def stall(reader: SpecReader) -> None:
        await reader.read("a", ToRead(text=VALID))
        monkeypatch.setattr(spec_reader, "TIME_LIMIT", 0.2)
        (process,) = (process for process in checking() if process not in before)
        os.kill(process.pid, signal.SIGSTOP)
        with pytest.raises(ProblemError, match="too much time or memory") as refused:
            await reader.read("a", ToRead(text=VALID))
        assert refused.value.status == 503
        monkeypatch.undo()
        assert await reader.read("b", ToRead(text=VALID)) is not None

    run(stall)


def test_one_token_waits_behind_itself_only() -> None:
    async def crowd(reader: SpecReader) -> None:
        files = [reader.read("greedy", ToRead(text=VALID)) for _ in range(20)]
        greedy = asyncio.gather(*files, return_exceptions=True)
        await asyncio.sleep(0)
        assert await reader.read("other", ToRead(text=VALID)) is not None
        results = await greedy
        refused = [result for result in results if isinstance(result, ProblemError)]
        assert {error.status for error in refused} == {429} and len(refused) == 20 - 9

    run(crowd)
