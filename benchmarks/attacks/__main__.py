"""Attack a stack as another local user, from a real browser and with tokens of few rights; every attack must fail."""

from __future__ import annotations

import argparse
import json
import os
import socket
import subprocess
import sys
import tempfile
import threading
from collections.abc import Iterator
from dataclasses import asdict
from pathlib import Path

import httpx
import psutil
from rich.console import Console
from rich.table import Table

from benchmarks.attacks.browser import attack_from_browser
from benchmarks.attacks.local_user import NAME, Target
from benchmarks.attacks.outcome import Outcome
from benchmarks.attacks.token_holder import attack_with_tokens
from benchmarks.stacks.local_stack import LocalStack, local_stack
from lanista.stack.control import reach
from lanista.stack.processes.leftovers import leftovers

ROOT = Path(__file__).parents[2]


def target_of(stack: LocalStack) -> Target:
    """What /proc tells every user about the stack."""
    processes = leftovers(stack.home)
    ports = {}
    for process in processes:
        for each in process.net_connections(kind="inet"):
            if each.status == psutil.CONN_LISTEN:
                ports[f"{process.name()}:{each.laddr.port}"] = each.laddr.port
    known, state = reach(stack.home), stack.home.read_state()
    if state is None:
        raise SystemExit("the stack is not running")
    return Target(
        api=stack.port,
        ports=ports,
        temporal=known["LANISTA_TEMPORAL_ADDRESS"],
        postgres=httpx.URL(known["LANISTA_DATABASE_URL"]).port or 5432,
        ray=int(known["RAY_ADDRESS"].rpartition(":")[2]),
        home=str(stack.home.root),
        scratch=str(stack.home.scratch),
        pids=[process.pid for process in processes],
        tensorboard_pid=state.children["tensorboard"].pid or 0,
    )


def attack_as_local_user(stack: LocalStack, target: Target) -> Iterator[Outcome]:
    """In a process of that user. Only root can start one."""
    done = subprocess.run(
        [sys.executable, "-m", "benchmarks.attacks.local_user"],
        input=json.dumps(asdict(target)),
        capture_output=True,
        text=True,
        cwd=ROOT,
        env={**os.environ, "PYTHONPATH": str(ROOT)},
    )
    if done.returncode:
        raise RuntimeError(done.stderr)
    yield from (Outcome(**json.loads(line)) for line in done.stdout.splitlines())
    token = stack.home.admin_token.read_text().strip()
    answers = [
        httpx.get(f"http://127.0.0.1:{stack.port}/api/v1/trials", headers={"Authorization": f"Bearer {token}"})
        for _ in range(20)
    ]
    statuses = sorted({each.status_code for each in answers})
    yield Outcome(
        attacker=NAME,
        attack="Lock out a valid token by the wrong ones sent before",
        held=statuses == [200],
        seen=f"valid token: {statuses}",
    )


def look_around(stack: LocalStack) -> Outcome:
    """What user code finds in its environment, in the train worker and in Ray."""
    secret = {"LANISTA_DATABASE_URL", "LANISTA_SESSION_SECRET", "LANISTA_TEMPORAL_KEY", "LANISTA_TOKEN"}
    state = stack.home.read_state()
    children = {} if state is None else state.children
    pids = {name: children[name].pid or 0 for name in ("train-worker", "ray") if name in children}
    given = {name: psutil.Process(pid).environ() for name, pid in pids.items()}
    found = {name: sorted(each for each in secret if values.get(each)) for name, values in given.items()}
    return Outcome(
        attacker="user code",
        attack="Find the database's address, the secret of sessions or the league's key in its environment",
        held=len(found) == 2 and not any(found.values()),
        seen=str(found),
    )


def take_the_port(stack: LocalStack) -> Outcome:
    """After the stack is down: another process takes the API's port, and waits for the token of the next command."""
    heard: list[bytes] = []
    with socket.socket() as server:
        server.setsockopt(socket.SOL_SOCKET, socket.SO_REUSEADDR, 1)
        server.bind(("127.0.0.1", stack.port))
        server.listen()
        server.settimeout(60)

        def listen() -> None:
            try:
                while True:
                    connection, _ = server.accept()
                    with connection:
                        heard.append(connection.recv(65_536))
                        connection.sendall(b"HTTP/1.1 200 OK\r\nContent-Length: 2\r\nConnection: close\r\n\r\n{}")
            except OSError:
                return

        threading.Thread(target=listen, daemon=True).start()
        stack.lanista("trial", "list", check=False)
    told = any(b"authorization" in each.lower() for each in heard)
    return Outcome(
        attacker=NAME,
        attack="Take the API's port while the stack is down, and be sent the admin token",
        held=not told,
        seen=f"{len(heard)} requests, {'with' if told else 'none with'} a token",
    )


def attack_all() -> Iterator[Outcome]:
    """Every attack on one new stack."""
    with local_stack() as stack:
        target = target_of(stack)
        tokens = {"admin": stack.home.admin_token.read_text().strip()}
        for scope in ("viewer", "operator", "code"):
            tokens[scope] = str(stack.call("POST", "/tokens", {"name": scope, "scope": scope})["token"])
        if os.geteuid() == 0:
            yield from attack_as_local_user(stack, target)
        else:
            print(f"not tried: attacks as {NAME}, which only root can start", file=sys.stderr)
        others = [port for port in target.ports.values() if port != target.api]
        yield from attack_from_browser(target.api, tokens["admin"], tokens["viewer"], others)
        with tempfile.TemporaryDirectory() as folder:
            yield from attack_with_tokens(f"http://127.0.0.1:{target.api}", tokens, Path(folder) / "marker")
        yield look_around(stack)
        stack.down()
        yield take_the_port(stack)


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--json", action="store_true", help="for programs")
    given = parser.parse_args()
    table = Table("attacker", "attack", "held", "seen")
    outcomes = []
    for outcome in attack_all():
        outcomes.append(outcome)
        table.add_row(outcome.attacker, outcome.attack, "yes" if outcome.held else "NO", outcome.seen)
        result = "held" if outcome.held else "BROKEN"
        print(f"{result}: {outcome.attacker}: {outcome.attack}: {outcome.seen}", file=sys.stderr, flush=True)
    if given.json:
        print(json.dumps([asdict(each) for each in outcomes]))
    else:
        Console().print(table)
    sys.exit(not all(each.held for each in outcomes))


if __name__ == "__main__":
    main()
