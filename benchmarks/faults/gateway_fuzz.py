"""Whether malformed requests over every transport of a gateway crash it, make it grow or go without a clear refusal."""

from __future__ import annotations

import argparse
import json
import multiprocessing
import random
import socket
import struct
import sys
import time
from collections import Counter
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from multiprocessing.connection import Connection
from pathlib import Path
from typing import Any

import psutil

from benchmarks.stacks.echo_gateway import EchoBuild
from benchmarks.stacks.grpc_fuzz import MalformedCalls
from workers.gateway.limits import GatewayLimits
from workers.gateway.process import GatewayOptions, run_gateway
from workers.gateway.transports.tcp_frames import HEAD, MAGIC, REPLY, VERSION

PATIENCE = 20.0
"""Seconds after which a connection that was neither answered nor closed counts as hung."""
WARM_UP = 0.2
"""Share of the requests before memory is first looked at: by then buffers and caches have their size."""
PREFACE = b"PRI * HTTP/2.0\r\n\r\nSM\r\n\r\n"

Make = Callable[[random.Random], bytes]


def any_bytes(rng: random.Random, most: int = 200) -> bytes:
    return rng.randbytes(rng.randint(1, most))


def damaged(rng: random.Random, whole: bytes) -> bytes:
    """A whole request that is cut, changed, repeated, or followed or preceded by anything."""
    at = rng.randrange(len(whole) + 1)
    kind = rng.randrange(5)
    if kind == 0:
        return whole[:at]
    if kind == 1:
        changed = bytearray(whole)
        for _ in range(rng.randint(1, 8)):
            changed[rng.randrange(len(changed))] = rng.randrange(256)
        return bytes(changed)
    if kind == 2:
        return whole[:at] + any_bytes(rng) + whole[at:]
    if kind == 3:
        return whole + any_bytes(rng)
    return whole[:at] + whole


def name_of(rng: random.Random) -> bytes:
    return b"fuzz-%d" % rng.randrange(50)


def http_request(rng: random.Random) -> bytes:
    """A malformed HTTP request, or one out of order."""
    body = any_bytes(rng)
    kind = rng.choice([b"start", b"tick", b"tick", b"end", b"stop", b"tock", b"", any_bytes(rng, 10).hex().encode()])
    sizes: list[Any] = [
        len(body),
        len(body),
        len(body) + 5,
        max(0, len(body) - 5),
        -1,
        1 << 20,
        1 << 21,
        1 << 62,
        "x",
        "",
    ]
    whole = b"".join(
        (
            rng.choice([b"POST", b"POST", b"POST", b"GET", b"PUT", b"\x00\x01"]),
            b" ",
            rng.choice(
                [b"/step", b"/step", b"/step", b"/health", b"/next?seconds=x", b"/" + b"a" * rng.randrange(40_000)]
            ),
            rng.choice([b" HTTP/1.1\r\n", b" HTTP/1.1\r\n", b" HTTP/1.0\r\n", b" HTTP/9.9\r\n", b"\r\n", b"\n"]),
            b"session: %b\r\nstep_kind: %b\r\n" % (name_of(rng), kind),
            b"".join(b"x%d: %b\r\n" % (n, b"y" * rng.randrange(300)) for n in range(rng.choice([0, 0, 1, 200]))),
            rng.choice([b"", b"", b"transfer-encoding: chunked\r\n", b"expect: 100-continue\r\n", b"\x00: \x00\r\n"]),
            b"content-length: %b\r\n" % str(rng.choice(sizes)).encode(),
            b"\r\n",
            body,
        )
    )
    return any_bytes(rng, 2_000) if rng.random() < 0.2 else whole if rng.random() < 0.4 else damaged(rng, whole)


def tcp_request(rng: random.Random) -> bytes:
    """A malformed frame of ours, or one out of order."""
    body, name = any_bytes(rng), name_of(rng)
    size = rng.choice([len(body), len(body), len(body) + 9, 1 << 20, (1 << 20) + 1, (1 << 32) - 1])
    zeros = (0, 0, 0) if rng.random() < 0.8 else tuple(rng.randbytes(3))
    ticket = rng.choice([0, 0, 0, rng.randrange(256)])
    kind = rng.choice([1, 2, 2, 3, 4, 5, 6, 7, 0, 255])
    version = rng.choice([VERSION, VERSION, VERSION, 0, 9])
    whole = HEAD.pack(MAGIC, version, kind, len(name), rng.randrange(1 << 32), size, ticket, *zeros) + name + body
    if rng.random() < 0.2:
        return bytes([MAGIC]) * rng.randrange(2) + any_bytes(rng, 2_000)
    return whole if rng.random() < 0.4 else damaged(rng, whole)


def bray_request(rng: random.Random) -> bytes:
    """A malformed frame of Bray's, or one out of order."""
    parts = [name_of(rng), rng.choice([b"start", b"tick", b"stop", b"tock", b""]), b"key", b"token", any_bytes(rng)]
    sizes = [len(part) for part in parts]
    if rng.random() < 0.5:
        sizes[rng.randrange(5)] = rng.choice([-1, 0, 1 << 20, 1 << 40, (1 << 63) - 1, -(1 << 63)])
    whole = struct.pack(">6q", *sizes, rng.choice([0, 8, -1])) + b"".join(parts)
    if rng.random() < 0.2:
        return b"\0" * rng.randrange(1, 9) + any_bytes(rng, 2_000)
    return whole if rng.random() < 0.4 else damaged(rng, whole)


def grpc_request(rng: random.Random) -> bytes:
    """Bytes that begin as HTTP/2 does, and go on as it does not."""
    settings = b"\x00\x00\x00\x04\x00\x00\x00\x00\x00"
    size = rng.choice([0, 5, 1 << 14, (1 << 24) - 1])
    head = struct.pack(">I", size)[1:] + bytes([rng.randrange(12), rng.randrange(256)]) + rng.randbytes(4)
    whole = PREFACE + settings + head + any_bytes(rng)
    return any_bytes(rng, 2_000) if rng.random() < 0.2 else damaged(rng, whole)


REQUESTS: dict[str, Make] = {"http": http_request, "tcp": tcp_request, "bray": bray_request, "grpc": grpc_request}


def judge(transport: str, reply: bytes) -> str:
    """What became of a request: `refused` in words, `answered`, `closed`, or `unclear`."""
    if not reply:
        return "closed"
    if transport == "http":
        return _judge_http(reply)
    if transport == "tcp":
        return _judge_frames(reply)
    return "answered" if transport == "bray" else "closed"  # HTTP/2 says SETTINGS and GOAWAY before it closes


def _judge_http(reply: bytes) -> str:
    if reply.startswith(b"HTTP/1.1 100"):
        reply = reply.partition(b"\r\n\r\n")[2]
        if not reply:
            return "closed"
    head, _, body = reply.partition(b"\r\n\r\n")
    status = head[9:12]
    if not head.startswith(b"HTTP/1.1 ") or not status.isdigit():
        return "unclear"
    if status.startswith(b"2"):
        return "answered"
    return "refused" if status.startswith((b"4", b"503")) and len(body) > 10 else "unclear"


def _judge_frames(reply: bytes) -> str:
    if reply.startswith(b"HTTP/1.1 400"):
        return "refused"
    if len(reply) < REPLY.size:
        return "unclear"
    magic, _, status, _, size, _ = REPLY.unpack_from(reply)
    if magic != MAGIC or len(reply) < REPLY.size + size:
        return "unclear"
    return "answered" if status == 200 else "refused" if 400 <= status < 500 or status == 503 else "unclear"


def send_one(port: int, data: bytes) -> bytes | None:
    """Send bytes, end our side, and read until the other one ends; None where it does not."""
    with socket.create_connection(("127.0.0.1", port), timeout=PATIENCE) as connection:
        reply = b""
        try:
            connection.sendall(data)
            connection.shutdown(socket.SHUT_WR)
            while part := connection.recv(65_536):
                reply += part
        except TimeoutError:
            return None
        except OSError:  # reset: it closed while we were sending
            pass
        return reply


def fuzz(
    transport: str, port: int, requests: int, seed: int, each: Callable[[int], None] | None = None
) -> Counter[str]:
    """Send malformed requests, and count what became of them."""
    rng = random.Random(f"{transport}-{seed}")
    outcomes: Counter[str] = Counter()
    calls = MalformedCalls(port, PATIENCE) if transport == "grpc" else None
    for number in range(requests):
        if calls is not None and number % 2:
            outcomes[calls.one(rng)] += 1
        else:
            reply = send_one(port, REQUESTS[transport](rng))
            outcomes["hung" if reply is None else judge(transport, reply)] += 1
        if each is not None:
            each(number)
    if calls is not None:
        calls.close()
    return outcomes


def play_one(port: int, name: str) -> bool:
    """Whether a proper game is still answered."""
    for kind, body in (("start", b"a"), ("tick", b"b"), ("end", b"c")):
        head = f"POST /step HTTP/1.1\r\nsession: {name}\r\nstep_kind: {kind}\r\ncontent-length: 1\r\n\r\n"
        reply = send_one(port, head.encode() + body)
        if reply is None or not reply.startswith(b"HTTP/1.1 200"):
            return False
    return True


@contextmanager
def gateway_process() -> Iterator[tuple[psutil.Process, dict[str, int]]]:
    """A gateway in a process of its own, whose sessions echo, with its ports."""
    context = multiprocessing.get_context("spawn")
    ours, theirs = context.Pipe()
    child = context.Process(target=_serve, args=(theirs,))
    child.start()
    try:
        if not ours.poll(60):
            raise RuntimeError("the gateway did not start")
        yield psutil.Process(child.pid), ours.recv()
    finally:
        child.terminate()
        child.join(20)


def _serve(ports: Connection) -> None:
    limits = GatewayLimits(session_seconds=3.0, step_seconds=3.0, request_seconds=3.0)
    options = GatewayOptions(http_port=0, tcp_port=0, grpc_port=0, limits=limits)
    run_gateway(options, EchoBuild(), on_ready=ports.send)


def measure(transport: str, process: psutil.Process, ports: dict[str, int], requests: int, seed: int) -> dict[str, Any]:
    """One transport: outcomes, and the gateway's memory before and after."""
    port = ports["tcp" if transport == "bray" else transport]
    failures: list[int] = []
    memory: list[float] = []

    def each(number: int) -> None:
        if number % 500 == 0 and not play_one(ports["http"], f"proper-{transport}-{number}"):
            failures.append(number)
        if number == int(requests * WARM_UP):
            memory.append(process.memory_info().rss / 1e6)

    began = time.perf_counter()
    outcomes = fuzz(transport, port, requests, seed, each)
    time.sleep(4)  # sessions that proper starts among them opened fall silent
    memory.append(process.memory_info().rss / 1e6)
    return {
        "requests": requests,
        **{name: outcomes[name] for name in ("refused", "answered", "closed", "hung", "unclear")},
        "proper_games_failed": len(failures),
        "alive": process.is_running() and process.status() != psutil.STATUS_ZOMBIE,
        "rss_mb": [round(value, 1) for value in memory],
        "open_files": process.num_fds(),
        "seconds": round(time.perf_counter() - began, 1),
    }


def main() -> int:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--requests", type=int, default=20_000, help="malformed requests for each transport")
    parser.add_argument("--transports", default="http,tcp,bray,grpc")
    parser.add_argument("--seed", type=int, default=1)
    parser.add_argument("--json", action="store_true", help="print one JSON object")
    parser.add_argument("--file", type=Path, help="JSON file in which the results of these transports are replaced")
    options = parser.parse_args()
    results: dict[str, Any] = {}
    with gateway_process() as (process, ports):
        for transport in options.transports.split(","):
            results[transport] = measure(transport, process, ports, options.requests, options.seed)
            print(f"{transport}: {results[transport]}", file=sys.stderr)
    bad = [
        transport
        for transport, found in results.items()
        if found["hung"] or found["unclear"] or found["proper_games_failed"] or not found["alive"]
    ]
    if options.file is not None:
        before = json.loads(options.file.read_text()) if options.file.exists() else {}
        options.file.write_text(json.dumps({**before, **results}, indent=1) + "\n")
    if options.json:
        print(json.dumps(results))
    return 1 if bad else 0


if __name__ == "__main__":
    sys.exit(main())
