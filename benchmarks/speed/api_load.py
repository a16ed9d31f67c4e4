"""How fast the API reads a large league, with 20 clients at once, and whether 200 followers miss an event.

    python -m benchmarks.api_load --json [--requests 400]

A run of all calls is a row of benchmarks/results/api_load.json, by its time, with the machine's load before it.
"""

from __future__ import annotations

import argparse
import http.client
import json
import os
import statistics
import sys
import threading
import time
from collections.abc import Callable
from concurrent.futures import ThreadPoolExecutor
from contextlib import suppress
from dataclasses import dataclass
from datetime import UTC, datetime
from pathlib import Path
from typing import Any

import psutil
import psycopg

from benchmarks.results_file import read_results, write_results
from benchmarks.stacks.http_clients import UnexpectedAnswer, request_bytes, time_gets
from benchmarks.stacks.large_league import LargeLeague, make_large_league
from benchmarks.stacks.local_stack import LocalStack, local_stack
from lanista.stack.control import reach

CLIENTS = 20
FILE = Path(__file__).parents[1] / "results" / "api_load.json"


@dataclass(frozen=True)
class Call:
    """One GET and what it must answer."""

    name: str
    path: str
    status: int = 200
    limit: float = 100.0
    """The required 95th percentile, in milliseconds."""
    headers: tuple[tuple[str, str], ...] = ()


def calls(league: LargeLeague, etag: str) -> list[Call]:
    trial = f"/api/v1/trials/{league.trial}"
    tournament = f"/api/v1/tournaments/{league.tournament}"
    pair = f"player_id={league.players[0]}&opponent_id={league.players[7]}"
    compressed = (("Accept-Encoding", "gzip"),)
    return [
        Call("healthz", "/healthz"),
        Call("readyz", "/readyz"),
        Call("prometheus", "/metrics"),
        Call("openapi", "/openapi.json"),
        Call("session", "/api/v1/session"),
        Call("trials", "/api/v1/trials"),
        Call("trial", trial),
        Call("players", f"{trial}/players?limit=100"),
        Call("player", f"/api/v1/players/{league.players[5]}"),
        Call("versions", f"{trial}/versions"),
        Call("version", f"/api/v1/versions/{league.versions[5]}"),
        Call("payoff, known", f"{trial}/payoff", status=304, headers=(*compressed, ("If-None-Match", etag))),
        Call("payoff, whole", f"{trial}/payoff", limit=600.0, headers=compressed),
        Call("ratings", f"{trial}/ratings"),
        Call("decisions", f"{trial}/decisions"),
        Call("metrics", f"{trial}/metrics"),
        Call("matches", f"{trial}/matches"),
        Call("matches of a player", f"{trial}/matches?player_id={league.players[3]}"),
        Call("matches of a pair", f"{trial}/matches?{pair}"),
        Call("matches, deep page", f"{trial}/matches?cursor=500000"),
        Call("match", "/api/v1/matches/500000"),
        Call("gates", f"{trial}/gates"),
        Call("gate", f"/api/v1/gates/{league.gate}"),
        Call("tournaments", "/api/v1/tournaments"),
        Call("tournament", tournament),
        Call("entrants", f"{tournament}/entrants"),
        Call("standings", f"{tournament}/standings"),
        Call("pairings", f"{tournament}/pairings"),
        Call("report", f"{tournament}/report"),
        Call("schedules", "/api/v1/schedules"),
        Call("schedule", f"/api/v1/schedules/{league.schedule}"),
        Call("aliases", "/api/v1/projects/large/aliases"),
        Call("alias", "/api/v1/projects/large/aliases/champion"),
        Call("alias history", "/api/v1/projects/large/aliases/champion/history"),
        Call("projects", "/api/v1/projects"),
        Call("catalog", "/api/v1/catalog"),
        Call("examples", "/api/v1/examples"),
        Call("system", "/api/v1/system"),
        Call("tokens", "/api/v1/tokens"),
        Call("audit", "/api/v1/audit"),
    ]


def measure(stack: LocalStack, token: str, call: Call, requests: int, *, warm: bool = True) -> dict[str, Any]:
    """Latencies of this many requests, 20 at once, in milliseconds; the very first request is reported separately.

    The CPU times of a request do not depend on what else the machine does: with 20 clients and one interpreter the
    latency is at least 20 times `api_cpu`.
    """
    port = stack.port
    headers = {"Authorization": f"Bearer {token}", **dict(call.headers)}
    asked = request_bytes(port, call.path, headers)
    try:
        first = time_gets(port, asked, call.status, clients=1, each=1).times[0] if warm else None
        before = cpu_seconds(stack)
        timed = time_gets(port, asked, call.status, clients=CLIENTS, each=max(1, requests // CLIENTS))
        spent = {part: now - before[part] for part, now in cpu_seconds(stack).items()}
    except UnexpectedAnswer as error:
        raise RuntimeError(f"{call.name}: {error}") from error
    p50, p95 = statistics.median(timed.times), timed.percentile(0.95)
    alone = "" if first is None else f"first {first:7.1f} ms   "
    cpu = {part: round(1000 * seconds / len(timed.times), 2) for part, seconds in spent.items()}
    shares = f"limit {call.limit:g}   CPU ms a request: clients {timed.client_cpu:.2f}, API {cpu['api']:.2f}, "
    shares += f"Postgres {cpu['postgres']:.2f}"
    print(f"{call.name:22} {alone}p50 {p50:7.1f} ms   p95 {p95:7.1f} ms   {shares}", file=sys.stderr)
    return {
        "call": call.name,
        "first": first,
        "p50": p50,
        "p95": p95,
        "limit": call.limit,
        "client_cpu": round(timed.client_cpu, 3),
        "api_cpu": cpu["api"],
        "postgres_cpu": cpu["postgres"],
        "ok": p95 < call.limit,
    }


def cpu_seconds(stack: LocalStack) -> dict[str, float]:
    """CPU time that the API and all processes of Postgres have used so far."""
    state = stack.home.read_state()
    assert state is not None, "the stack is up"
    found = {}
    for part in ("api", "postgres"):
        pid = state.children[part].pid
        assert pid is not None, f"{part} runs"
        root = psutil.Process(pid)
        found[part] = sum(_cpu(process) for process in (root, *root.children(recursive=True)))
    return found


def _cpu(process: psutil.Process) -> float:
    with suppress(psutil.NoSuchProcess, psutil.ZombieProcess):
        used = process.cpu_times()
        return float(used.user + used.system)
    return 0.0


def payoff_after_commit(stack: LocalStack, token: str, league: LargeLeague, url: str) -> dict[str, Any]:
    """The payoff right after a commit, when it is not cached: 20 clients wait while one request computes it."""

    def change() -> None:
        with psycopg.connect(url) as connection:
            connection.execute("SET session_replication_role = replica")
            connection.execute("UPDATE trials SET last_commit = last_commit + 1 WHERE id = %s", (league.trial,))

    call = Call("payoff, new commit", f"/api/v1/trials/{league.trial}/payoff", limit=600.0)
    rows = []
    for _ in range(5):
        change()
        rows.append(measure(stack, token, call, CLIENTS, warm=False))
    worst = max(row["p95"] for row in rows)
    middle = statistics.median(row["p50"] for row in rows)
    return {"call": call.name, "p50": middle, "p95": worst, "limit": 600.0, "ok": worst < 600.0}


def follow(port: int, token: str, wanted: int, ready: Callable[[], object]) -> list[int]:
    """The numbers that one follower of all events gets."""
    connection = http.client.HTTPConnection("127.0.0.1", port, timeout=120)
    connection.request("GET", "/api/v1/events", headers={"Authorization": f"Bearer {token}"})
    answer = connection.getresponse()
    while not answer.readline().startswith(b"id: "):
        pass  # the position: from here on no event is missed
    ready()
    seen: list[int] = []
    while len(seen) < wanted:
        line = answer.readline()
        if line.startswith(b"data: ") and b'"bench.event"' in line:
            seen.append(json.loads(line[6:])["payload"]["number"])
    connection.close()
    return seen


def followers(port: int, token: str, url: str, readers: int, events: int) -> dict[str, Any]:
    """Whether each of many followers gets every event exactly once and in order."""
    ready = threading.Barrier(readers + 1)
    with ThreadPoolExecutor(readers) as pool:
        reading = [pool.submit(follow, port, token, events, ready.wait) for _ in range(readers)]
        ready.wait()
        started = time.perf_counter()
        with psycopg.connect(url) as connection:
            for number in range(events):
                payload = json.dumps({"number": number})
                connection.execute("INSERT INTO events (type, payload) VALUES ('bench.event', %s)", (payload,))
                connection.commit()
        written = time.perf_counter() - started
        seen = [job.result() for job in reading]
        read = time.perf_counter() - started
    complete = sum(numbers == list(range(events)) for numbers in seen)
    return {"readers": readers, "events": events, "complete": complete, "written_s": written, "read_by_all_s": read}


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--requests", type=int, default=400, help="of each call")
    parser.add_argument("--only", default="", help="names of calls, with commas: those, no followers, no row")
    parser.add_argument("--readers", type=int, default=200)
    parser.add_argument("--events", type=int, default=500)
    parser.add_argument("--file", type=Path, default=FILE)
    parser.add_argument("--json", action="store_true")
    given = parser.parse_args()
    only = {name.strip() for name in given.only.split(",") if name.strip()}
    load = round(os.getloadavg()[0], 1)
    # quick calls are asked for more often in a second than one token may
    with local_stack(LANISTA_RATE_LIMIT="0") as stack:
        url = reach(stack.home)["LANISTA_DATABASE_URL"].replace("+psycopg", "")
        token = stack.home.admin_token.read_text().strip()
        print("making 300 players and a million matches ...", file=sys.stderr)
        league = make_large_league(url)
        print(f"{league.matches} matches, {league.cells} payoff cells", file=sys.stderr)
        asked = calls(league, _etag(stack, token, league))
        if unknown := only - {call.name for call in asked}:
            parser.error(f"no call is named {', '.join(sorted(unknown))}; known: {', '.join(c.name for c in asked)}")
        chosen = [call for call in asked if not only or call.name in only]
        rows = [measure(stack, token, call, given.requests) for call in chosen]
        stream = None
        if not only:
            rows.append(payoff_after_commit(stack, token, league, url))
            stream = followers(stack.port, token, url, given.readers, given.events)
    found = {"calls": rows, "events": stream}
    if not only:
        counts = {"players": len(league.players), "matches": league.matches, "requests": given.requests, "load": load}
        record(given.file, {**counts, **found})
    print(json.dumps(found, indent=None if given.json else 2))
    complete = stream is None or stream["complete"] == given.readers
    if not (complete and all(row["ok"] for row in rows)):
        sys.exit(1)


def record(file: Path, row: dict[str, Any]) -> None:
    """Add the row of this minute."""
    write_results(file, {**read_results(file), f"{datetime.now(UTC):%Y-%m-%d %H:%M}": row})


def _etag(stack: LocalStack, token: str, league: LargeLeague) -> str:
    connection = http.client.HTTPConnection("127.0.0.1", stack.port, timeout=60)
    headers = {"Authorization": f"Bearer {token}"}
    connection.request("GET", f"/api/v1/trials/{league.trial}/payoff", headers=headers)
    answer = connection.getresponse()
    answer.read()
    return str(answer.getheader("ETag"))


if __name__ == "__main__":
    main()
