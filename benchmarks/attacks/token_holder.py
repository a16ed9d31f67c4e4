"""What a caller with a valid token of few rights can try."""

from __future__ import annotations

import time
from collections.abc import Callable, Iterator
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path
from typing import Any

import httpx

from benchmarks.attacks.outcome import Outcome

GAME = {"id": "tic_tac_toe"}
STALLERS = 6
STALL_SECONDS = 5.0


class Api:
    """REST calls with one token."""

    def __init__(self, base: str, token: str) -> None:
        self._client = httpx.Client(
            base_url=f"{base}/api/v1", timeout=120, headers={"Authorization": f"Bearer {token}"}
        )

    def call(self, method: str, path: str, body: Any = None) -> httpx.Response:
        return self._client.request(method, path, json=body)


def start_a_trial(api: Api) -> tuple[bool, str]:
    """Start a trial, move an alias, make a token."""
    trial = {"project": "p", "name": "n", "spec": {"game": GAME}}
    statuses = [
        api.call("POST", "/trials", trial).status_code,
        api.call("PUT", "/projects/p/aliases/champion", {"version_id": "0" * 36}).status_code,
        api.call("POST", "/tokens", {"name": "x", "scope": "admin"}).status_code,
        api.call("GET", "/audit").status_code,
    ]
    return set(statuses) == {403}, f"statuses {statuses}"


def stall_others(api: Api, base: str) -> tuple[bool, str]:
    """Send large trial files for validation until others wait."""
    deep = {"game": GAME, "league": {"players": [{"name": f"p{n}", "role": "main", "x": "y" * 50} for n in range(400)]}}
    text = {"game": GAME, "model": {"id": "mlp", "note": "x" * 900_000}}
    longest = 0.0
    with ThreadPoolExecutor(STALLERS) as pool:
        sent = [pool.submit(api.call, "POST", "/trials/validate", {"spec": body}) for body in (deep, text) * STALLERS]
        while not all(each.done() for each in sent):
            started = time.monotonic()
            httpx.get(f"{base}/readyz", timeout=60)
            longest = max(longest, time.monotonic() - started)
        statuses = sorted({each.result().status_code for each in sent})
    return longest < STALL_SECONDS and not any(code >= 500 for code in statuses), f"{statuses}, others {longest:.1f} s"


def name_own_code(api: Api) -> tuple[bool, str]:
    """Name code of one's own in a trial, without the scope that allows it."""
    seen = []
    games: tuple[dict[str, Any], ...] = (
        {"id": "subprocess:Popen"},
        {"id": "gymnasium", "env": "subprocess:Popen"},
        {"id": "gymnasium", "env": "GymV26Environment-v0", "variants": [{"env_id": "antigravity:x"}]},
    )
    for game in games:
        for path in ("/trials/validate", "/trials"):
            body = {"spec": {"game": game}, **({"project": "p", "name": "n"} if path == "/trials" else {})}
            answer = api.call("POST", path, body)
            # a validation reads the text and imports nothing, which it says
            imported = answer.status_code == 201 or (answer.is_success and "not checked" not in answer.text)
            seen.append(f"{answer.status_code}{' imported' if imported else ''}")
    return not any("imported" in each for each in seen), ", ".join(seen)


def call_anything(api: Api, marker: Path) -> tuple[bool, str]:
    """Name something callable that is no environment, with arguments: it would be called to see whether it is one."""
    arguments = {"args": ["touch", str(marker)]}
    seen = []
    for game in (
        {"id": "gymnasium", "env": "subprocess:Popen", "options": arguments},
        {"id": "pettingzoo_aec", "env": "subprocess:Popen", "options": arguments},
        {"id": "subprocess:Popen", **arguments},
        {"id": "os:system", "command": f"touch {marker}"},
    ):
        seen.append(str(api.call("POST", "/trials/validate", {"spec": {"game": game}}).status_code))
    time.sleep(1)
    return not marker.exists(), f"{', '.join(seen)}: {'ran' if marker.exists() else 'nothing ran'}"


def make_a_token(api: Api) -> tuple[bool, str]:
    """Make a token of a higher scope, read those that there are, read the audit log."""
    statuses = [
        api.call("POST", "/tokens", {"name": "x", "scope": "admin"}).status_code,
        api.call("GET", "/tokens").status_code,
        api.call("GET", "/audit").status_code,
    ]
    return set(statuses) == {403}, f"statuses {statuses}"


def read_a_file(api: Api) -> tuple[bool, str]:
    """Start from weights that are any file of the machine."""
    seen = []
    for path in ("/etc/passwd", "../../../../../../../etc/passwd", "a/../../../../../../../../etc/passwd"):
        body = {"project": "p", "name": "weights", "spec": {"game": GAME, "initial_weights": path, "start": "paused"}}
        answer = api.call("POST", "/trials", body)
        seen.append(f"{answer.status_code}")
        if answer.status_code == 201:
            return False, f"{path} was accepted"
    return True, ", ".join(seen)


def attack_with_tokens(base: str, tokens: dict[str, str], marker: Path) -> Iterator[Outcome]:
    """Every attack of this file."""
    attacks: list[tuple[str, Callable[..., tuple[bool, str]], tuple[Any, ...]]] = [
        ("viewer", start_a_trial, ()),
        ("viewer", stall_others, (base,)),
        ("operator", name_own_code, ()),
        ("operator", call_anything, (marker,)),
        ("code", call_anything, (marker,)),
        ("code", make_a_token, ()),
        ("admin", call_anything, (marker,)),
        ("operator", read_a_file, ()),
    ]
    for scope, attack, arguments in attacks:
        held, seen = attack(Api(base, tokens[scope]), *arguments)
        words = (attack.__doc__ or "").splitlines()[0].rstrip(".")
        yield Outcome(attacker=scope, attack=words, held=held, seen=seen)
