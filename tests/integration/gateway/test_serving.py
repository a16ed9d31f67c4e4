"""`lanista serve` as people start it: two processes that follow an API over HTTP, and end cleanly."""

from __future__ import annotations

import json
import os
import re
import subprocess
import sys
import threading
import time
from collections.abc import Iterator
from contextlib import contextmanager
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from pathlib import Path
from typing import Any

import httpx
import numpy as np
import pytest

from tests.unit.serving.fake_league import FakeLeague

ROOT = Path(__file__).parents[3]
TICK = {"obs": np.zeros((2, 3, 3)).tolist(), "legal": [1] * 9, "seat": 0}


@pytest.fixture
def league() -> FakeLeague:
    made = FakeLeague()
    made.promote(made.add(1))
    return made


@pytest.fixture
def api(league: FakeLeague) -> Iterator[str]:
    """The fake league behind a real port."""

    class Handler(BaseHTTPRequestHandler):
        def do_GET(self) -> None:
            body = self.rfile.read(int(self.headers.get("content-length", 0)))
            answer = league.answer(httpx.Request(self.command, f"http://x{self.path}", content=body))
            self.send_response(answer.status_code)
            self.send_header("content-length", str(len(answer.content)))
            for name in ("etag", "content-type"):
                if name in answer.headers:
                    self.send_header(name, answer.headers[name])
            self.end_headers()
            self.wfile.write(answer.content)

        do_POST = do_GET

        def log_message(self, format: str, *values: object) -> None:
            pass

    with ThreadingHTTPServer(("127.0.0.1", 0), Handler) as server:
        threading.Thread(target=server.serve_forever, daemon=True).start()
        yield f"http://127.0.0.1:{server.server_port}"
        server.shutdown()


@contextmanager
def serving(folder: Path, api: str, *arguments: str, token: str = "secret") -> Iterator[httpx.Client]:
    kept = {name: value for name, value in os.environ.items() if not name.startswith("LANISTA_")}
    environment = {**kept, "LANISTA_URL": api, "LANISTA_TOKEN": token, "PYTHONPATH": str(ROOT)}
    command = [sys.executable, "-m", "lanista", "serve", "--port", "0", "--interval", "0.1", *arguments]
    process = subprocess.Popen(
        command, cwd=folder, env=environment, stdout=subprocess.PIPE, stderr=subprocess.STDOUT, text=True
    )
    assert process.stdout is not None
    printed: list[str] = []
    try:
        for line in process.stdout:
            printed.append(line)
            if found := re.search(r"Serving .* at http (127\.0\.0\.1:\d+)", line):
                break
        else:
            raise AssertionError("".join(printed))
        reader = threading.Thread(target=lambda: printed.extend(process.stdout or ()))
        reader.start()
        with httpx.Client(base_url=f"http://{found[1]}", timeout=30) as client:
            yield client
        process.terminate()
        assert process.wait(60) == 0, "".join(printed)
        reader.join()
    finally:
        process.kill()
        process.wait()
        process.stdout.close()


def step(client: httpx.Client, kind: str, session: str, body: Any = None) -> Any:
    content = b"" if body is None else json.dumps(body).encode()
    answer = client.post("/step", content=content, headers={"session": session, "step_kind": kind})
    assert answer.status_code == 200, answer.text
    return json.loads(answer.content) if answer.content else None


def play(client: httpx.Client, session: str) -> str:
    """A game that the version wins; the version that played."""
    played: str = step(client, "start", session)["info"]["version"]
    for _ in range(3):
        assert step(client, "tick", session, TICK)["action"] in range(9)
    step(client, "end", session, {"returns": [1, -1]})
    return played


def test_a_champion_is_served_promoted_and_compared(league: FakeLeague, api: str, tmp_path: Path) -> None:
    canary, second = league.add(2), league.add(3)
    arguments = ["--alias", "champion", "--canary", canary, "--share", "0.5", "--processes", "2"]
    with serving(tmp_path, api, *arguments) as games:
        assert {play(games, f"game-{number}") for number in range(40)} == {"main:1", "main:2"}
        league.promote(second)
        deadline = time.monotonic() + 60
        while "main:1" in {play(games, f"later-{number}") for number in range(10)}:
            assert time.monotonic() < deadline, "the promotion did not arrive"
        text = games.get("/metrics").text
        assert (
            'lanista_serving_swaps_total{process="0"} 1' in text and 'lanista_serving_swaps_total{process="1"}' in text
        )
    played = sum(report["champion_sessions"] + report["canary_sessions"] for report in league.reports)
    assert played >= 50 and len({report["report_id"] for report in league.reports}) == len(league.reports)
    assert all(report["wins"] == report["losses"] == 0 for report in league.reports), "every game was won"
