"""What another user of the machine can try. Runs as that user: `python -m benchmarks.attacks.local_user`.

The ports and processes that it is told are no secrets: /proc shows them to every user.
"""

from __future__ import annotations

import asyncio
import encodings.idna  # noqa: F401 Python loads it late, when this user can no longer read it
import http.client
import json
import os
import pwd
import re
import resource
import socket
import sys
import tempfile
import uuid
from collections import Counter
from collections.abc import Callable
from contextlib import ExitStack, suppress
from dataclasses import asdict, dataclass
from datetime import timedelta
from pathlib import Path

import grpc
import psycopg
from temporalio.client import ActivityFailureError, Client, WorkflowFailureError
from temporalio.common import RetryPolicy
from temporalio.exceptions import ApplicationError

from benchmarks.attacks.outcome import Outcome
from orchestrator.contracts.queues import Queue

NAME = "nobody"
NOT_SEALED = "not_sealed"
WRONG_TOKENS = 300
ALLOWED_CONNECTIONS = 1_000
"""What LANISTA_MAX_CONNECTIONS is by default."""
HELD_CONNECTIONS = 1_100
HUGE_HEADER = 8 << 20


@dataclass(frozen=True, kw_only=True)
class Target:
    """What the attacker knows of the stack."""

    api: int
    ports: dict[str, int]
    """Every TCP port on which a process of the stack listens, by process and number."""
    temporal: str
    postgres: int
    ray: int
    home: str
    scratch: str
    pids: list[int]
    tensorboard_pid: int


def read_files(target: Target) -> tuple[bool, str]:
    """Read the secrets and the data."""
    opened = []
    for folder in (Path(target.home), Path(target.scratch)):
        names = ["admin.token", "session.secret", "postgres.password", "ray.token", "temporal.db"]
        names += [
            "temporal.key",
            "temporal-train.key",
            "stack.json",
            "logs",
            "artifacts",
            "tensorboard",
            "postgres",
            "ray",
        ]
        for path in (folder, *(folder / name for name in names)):
            with suppress(OSError):
                opened.append(f"{path.name}: {len(os.listdir(path) if path.is_dir() else path.read_bytes())}")
    return not opened, ", ".join(opened) or "permission denied"


def read_environments(target: Target) -> tuple[bool, str]:
    """Read the environment of the stack's processes, which holds passwords."""
    opened = []
    for pid in target.pids:
        with suppress(OSError):
            opened.append(f"{pid}: {len(Path(f'/proc/{pid}/environ').read_bytes())}")
    return not opened, ", ".join(opened) or f"permission denied for {len(target.pids)} processes"


def read_arguments(target: Target) -> tuple[bool, str]:
    """Find passwords in command lines, which every user can read."""
    lines = []
    for pid in target.pids:
        with suppress(OSError):
            lines.append(Path(f"/proc/{pid}/cmdline").read_bytes().replace(b"\0", b" ").decode(errors="replace"))
    told = [found for line in lines for found in re.findall(r"lanista_\w{20,}|password=\S+|://\w+:\w+@", line)]
    return bool(lines) and not told, f"{len(lines)} command lines" + "".join(f", {word}" for word in told)


def call_without_token(target: Target) -> tuple[bool, str]:
    """Call the API without a token, with a made-up one, and with a made-up session."""
    seen = set()
    made_up: tuple[dict[str, str], ...] = (
        {},
        {"Authorization": f"Bearer lanista_{'x' * 43}"},
        {"Cookie": "lanista_session=a.1.b"},
    )
    for path in ("trials", "tokens", "system", "events", "audit"):
        for headers in made_up:
            seen.add(get(target.api, f"/api/v1/{path}", headers)[0])
    return seen == {401}, f"statuses {sorted(seen)}"


def call_temporal_by_http(target: Target) -> tuple[bool, str]:
    """Find a port that answers like Temporal's HTTP API, by which anybody could start an activity."""
    answered = []
    for name, port in target.ports.items():
        for path in ("/api/v1/system-info", "/api/v1/namespaces"):
            with suppress(OSError, http.client.HTTPException):
                status, body = get(port, path, {})
                if status == 200 and (b"serverVersion" in body or b"namespaceInfo" in body):
                    answered.append(f"{name}: {body[:60]!r}")
    return not answered, ", ".join(answered) or f"none of {len(target.ports)} ports"


def ask_a_worker(target: Target) -> tuple[bool, str]:
    """Start an activity that makes the train worker import and call something: how commands were run as the owner."""
    component = {"kind": "game", "component": {"id": "subprocess:Popen", "options": {}}}

    async def ask() -> str:
        client = await Client.connect(target.temporal)
        seconds = timedelta(seconds=20)
        try:
            answer = await client.execute_activity(
                "check_component",
                component,
                id=f"attack-{uuid.uuid4()}",
                task_queue=Queue.INTERACTIVE,
                schedule_to_close_timeout=seconds,
                start_to_close_timeout=seconds,
                retry_policy=RetryPolicy(maximum_attempts=1),
            )
        except ActivityFailureError as error:
            return error.cause.type or "" if isinstance(error.cause, ApplicationError) else str(error.cause)
        return f"answered {answer}"

    seen = attempt(lambda: asyncio.run(ask()))
    return refused_by_temporal(seen), seen


def start_a_workflow(target: Target) -> tuple[bool, str]:
    """Start a trial's workflow past the API."""

    async def start() -> str:
        client = await Client.connect(target.temporal)
        try:
            await client.execute_workflow(
                "TrialWorkflow",
                {"trial": str(uuid.uuid4())},
                id=f"trial-{uuid.uuid4()}",
                task_queue=Queue.LEAGUE,
                execution_timeout=timedelta(seconds=20),
            )
        except WorkflowFailureError as error:
            return error.cause.type or "" if isinstance(error.cause, ApplicationError) else str(error.cause)
        return "ran"

    seen = attempt(lambda: asyncio.run(start()))
    return refused_by_temporal(seen), seen


def call_ray(target: Target) -> tuple[bool, str]:
    """Ask Ray's head for its keys, which is the first step of running a task on it."""

    def ask() -> str:
        with grpc.insecure_channel(f"127.0.0.1:{target.ray}") as channel:
            method: grpc.UnaryUnaryMultiCallable[bytes, bytes] = channel.unary_unary(
                "/ray.rpc.InternalKVGcsService/InternalKVKeys"
            )
            return f"answered {len(method(b'', timeout=10))} bytes"

    seen = attempt(ask)
    return "UNAUTHENTICATED" in seen or "Unauthenticated" in seen, seen


def enter_postgres(target: Target) -> tuple[bool, str]:
    """Enter the database without its password, by the port and by the socket."""
    entered = []
    for host in ("127.0.0.1", target.scratch):
        for user in ("lanista", "postgres", "pgserver", NAME):
            for password in ("", "lanista", "postgres"):
                with suppress(psycopg.OperationalError):
                    values = f"port={target.postgres} user={user} dbname=lanista connect_timeout=5"
                    with psycopg.connect(f"host={host} {values}", password=password):
                        entered.append(f"{host} {user}")
    return not entered, ", ".join(entered) or "every attempt refused"


def open_tensorboard(target: Target) -> tuple[bool, str]:
    """Open TensorBoard past the API: at any port, or at its socket."""
    opened = []
    for name, port in target.ports.items():
        with suppress(OSError, http.client.HTTPException):
            if b"<title>TensorBoard" in get(port, "/", {})[1]:
                opened.append(name)
    with suppress(OSError), socket.socket(socket.AF_UNIX) as connection:
        connection.connect(f"{target.scratch}/tensorboard.sock")
        opened.append("its socket")
    return not opened, ", ".join(opened) or f"none of {len(target.ports)} ports, socket refused"


def misdirect_tensorboard(target: Target) -> tuple[bool, str]:
    """Have TensorBoard overwrite a file of its user: its own command writes to a name in /tmp that can be guessed."""
    written = Path(tempfile.gettempdir()) / ".tensorboard-info" / f"pid-{target.tensorboard_pid}.info"
    return not written.exists(), f"{written} was {'written' if written.exists() else 'not written'}"


def lock_others_out(target: Target) -> tuple[bool, str]:
    """Send wrong tokens under many names, until the address of everybody else on this machine is refused."""
    seen = set()
    for number in range(WRONG_TOKENS):
        headers = {"Authorization": f"Bearer lanista_{number}", "X-Forwarded-For": f"10.0.0.{number % 250}"}
        seen.add(get(target.api, "/api/v1/trials", headers)[0])
    # whether a valid token still works is asked by the caller, who has one
    return seen <= {401, 429}, f"statuses {sorted(seen)}"


def hold_connections(target: Target) -> tuple[bool, str]:
    """Hold connections open with headers that never end, until nobody else gets one."""
    return _others_are_served(target, b"GET /healthz HTTP/1.1\r\nHost: 127.0.0.1\r\nX-Slow: ")


def read_nothing(target: Target) -> tuple[bool, str]:
    """Hold connections open by asking for the largest public file, twice, and reading nothing of it."""
    request = b"GET /static/vendor/plotly.min.js HTTP/1.1\r\nHost: 127.0.0.1\r\n\r\n"
    return _others_are_served(target, request * 2)


def _others_are_served(target: Target, sent: bytes) -> tuple[bool, str]:
    """More connections than the API allows each send this; then others ask for something."""
    _, most = resource.getrlimit(resource.RLIMIT_NOFILE)
    resource.setrlimit(resource.RLIMIT_NOFILE, (most, most))
    opened = 0
    with ExitStack() as held:
        for _ in range(HELD_CONNECTIONS):
            with suppress(OSError):
                connection = held.enter_context(socket.socket())
                connection.settimeout(5)
                connection.setsockopt(socket.SOL_SOCKET, socket.SO_RCVBUF, 4096)
                connection.connect(("127.0.0.1", target.api))
                opened += 1
                connection.sendall(sent)
        seen: Counter[str] = Counter()
        for _ in range(20):
            try:
                seen[str(get(target.api, "/healthz", {})[0])] += 1
            except (OSError, http.client.HTTPException) as error:
                seen[type(error).__name__] += 1
    return opened > ALLOWED_CONNECTIONS and set(seen) == {"200"}, f"{opened} connections; others saw {dict(seen)}"


def send_a_huge_header(target: Target) -> tuple[bool, str]:
    """Fill the API's memory with one header."""
    with socket.create_connection(("127.0.0.1", target.api), timeout=20) as connection:
        sent = 0
        with suppress(OSError):
            connection.sendall(b"GET /healthz HTTP/1.1\r\nHost: 127.0.0.1\r\nX-Large: ")
            while sent < HUGE_HEADER:
                connection.sendall(b"x" * 65_536)
                sent += 65_536
        return sent < HUGE_HEADER, f"cut off after {sent >> 10} KiB" if sent < HUGE_HEADER else "taken whole"


ATTACKS: tuple[Callable[[Target], tuple[bool, str]], ...] = (
    read_files,
    read_environments,
    read_arguments,
    call_without_token,
    call_temporal_by_http,
    ask_a_worker,
    start_a_workflow,
    call_ray,
    enter_postgres,
    open_tensorboard,
    misdirect_tensorboard,
    send_a_huge_header,
    hold_connections,
    read_nothing,
    lock_others_out,
)


def get(port: int, path: str, headers: dict[str, str]) -> tuple[int, bytes]:
    connection = http.client.HTTPConnection("127.0.0.1", port, timeout=15)
    try:
        connection.request("GET", path, headers=headers)
        answer = connection.getresponse()
        return answer.status, answer.read(4096)
    finally:
        connection.close()


def attempt(work: Callable[[], str]) -> str:
    """What was seen, in one line."""
    try:
        return work()
    except Exception as error:
        return " ".join(f"{type(error).__name__} {error}".split())[:160]


def refused_by_temporal(seen: str) -> bool:
    """Refused by the worker before it was decoded, or by the server."""
    return seen == NOT_SEALED or "Unauthenticated" in seen or "PermissionDenied" in seen or "permission" in seen.lower()


def become(name: str) -> None:
    """Be another user from here on, for good. Python may lie where that user cannot read, so it was loaded before."""
    user = pwd.getpwnam(name)
    os.setgroups([])
    os.setgid(user.pw_gid)
    os.setuid(user.pw_uid)


def main() -> None:
    target = Target(**json.load(sys.stdin))
    become(NAME)
    for attack in ATTACKS:
        held, seen = attack(target)
        words = (attack.__doc__ or attack.__name__).splitlines()[0].rstrip(".")
        print(json.dumps(asdict(Outcome(attacker=NAME, attack=words, held=held, seen=seen))), flush=True)


if __name__ == "__main__":
    main()
