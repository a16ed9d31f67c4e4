"""Small leagues that are really trained, and what came of them."""

from __future__ import annotations

import time
import uuid
from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

from tests.e2e.stack import LocalStack

QUICK: dict[str, Any] = {
    "game": {"id": "tic_tac_toe"},
    "model": {"id": "mlp", "hidden": [16]},
    "seed": 3,
    "generation": {"steps": 4_000, "tables": 64},
}
SNAPSHOTS = {"min_steps": 4_000, "win_rate": 0.6, "max_steps": 8_000}
TRAINED = {
    **QUICK,
    "league": {
        "preset": "pfsp",
        "players": [{"name": "main", "role": "main"}, {"name": "random", "role": "bot", "bot": "random"}],
        "snapshot": SNAPSHOTS,
        "champion_gate": {"test": "sprt", "elo0": 0, "elo1": 200, "max_pairs": 64},
    },
    "budget": {"steps": 20_000},
}
UNTRAINED_CONNECT_FOUR = {
    "game": {"id": "connect_four"},
    "start": "paused",
    "league": {
        "preset": "self_play",
        "players": [{"name": "main", "role": "main"}, {"name": "random", "role": "bot", "bot": "random"}],
        "champion_gate": None,
    },
}


@dataclass
class League:
    """Ids of what was made."""

    project: str
    trial: str
    name: str
    tournament: str
    version: str
    """A version of the main player that took part in a recorded game."""
    opponent: str
    """Its opponent there, a version too."""
    match: int
    bot: str
    """The version of the scripted player."""
    four_in_a_row: str
    """The version of a scripted player of connect four."""


def start(stack: LocalStack, spec: dict[str, Any], project: str = "e2e") -> str:
    body = {"project": project, "name": f"league-{uuid.uuid4().hex[:8]}", "spec": spec}
    return str(stack.call("POST", "/trials", body)["id"])


def players(stack: LocalStack, trial: str) -> dict[str, dict[str, Any]]:
    return {each["name"]: each for each in stack.call("GET", f"/trials/{trial}/players?limit=200")["items"]}


def tournaments(stack: LocalStack, trial: str) -> list[dict[str, Any]]:
    found: list[dict[str, Any]] = stack.call("GET", f"/tournaments?trial_id={trial}&limit=200")["items"]
    return found


def finished(stack: LocalStack, trial: str) -> bool:
    status = stack.call("GET", f"/trials/{trial}")
    assert status["status"] != "failed", status["status_reason"]
    return status["status"] in ("completed", "stopped")


def wait_until(check: Callable[[], bool], patience: float = 300) -> None:
    deadline = time.monotonic() + patience
    while not check():
        assert time.monotonic() < deadline, "did not happen in time"
        time.sleep(0.2)


def train_league(stack: LocalStack) -> League:
    """A trial that is trained to its end, with a tournament of its players."""
    other = start(stack, UNTRAINED_CONNECT_FOUR)
    trial = start(stack, TRAINED)
    wait_until(lambda: finished(stack, trial))
    made = stack.call("GET", f"/trials/{trial}")
    tournament = {"trial": made["name"], "entrants": ["latest", "snapshots", "bots"], "games": 4}
    held = stack.call("POST", "/tournaments", {"project": made["project"], "spec": tournament})["id"]
    wait_until(lambda: stack.call("GET", f"/tournaments/{held}")["status"] == "completed")
    wait_until(lambda: all(each["finished_at"] for each in tournaments(stack, trial)))  # evaluations play on
    bot = players(stack, trial)["random"]["version_id"]
    games = stack.call("GET", f"/trials/{trial}/matches?limit=100")["items"]
    game = next(each for each in games if bot not in (each["version_id"], each["opponent_version_id"]))
    return League(
        project=made["project"],
        trial=trial,
        name=made["name"],
        tournament=held,
        version=game["version_id"],
        opponent=game["opponent_version_id"],
        match=game["id"],
        bot=bot,
        four_in_a_row=players(stack, other)["random"]["version_id"],
    )
