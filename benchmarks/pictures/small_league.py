"""A league of three players that is really trained, with one of everything that the page shows."""

from __future__ import annotations

import time
from collections.abc import Iterator
from contextlib import contextmanager
from typing import Any

from benchmarks.stacks.local_stack import LocalStack

PROJECT = "pictures"
SMALL_MODEL = {"id": "mlp", "hidden": [32]}
LEAGUE: dict[str, Any] = {
    "seed": 7,
    "game": {"id": "connect_four"},
    "model": SMALL_MODEL,
    "league": {
        "preset": "alphastar",
        "players": [
            {"name": "main", "role": "main"},
            {"name": "main-exploiter", "role": "main_exploiter"},
            {"name": "random", "role": "bot", "bot": "random"},
        ],
        "snapshot": {"min_steps": 20_000, "win_rate": 0.6, "max_steps": 40_000},
        "champion_gate": {"test": "sprt", "elo0": 0, "elo1": 100, "max_pairs": 60},
    },
    "generation": {"steps": 10_000, "tables": 64},
    "evaluation": {"every_generations": 2, "games": 12},
    "budget": {"steps": 200_000},
}
RUNNING = {**LEAGUE, "seed": 8, "budget": {"steps": 1_000_000_000}}
SWEEP: dict[str, Any] = {
    "trial": {
        "game": {"id": "gymnasium", "env": "CartPole-v1"},
        "model": SMALL_MODEL,
        "league": {
            "preset": "self_play",
            "champion_gate": None,
            "players": [{"name": "main"}],
            "snapshot": {"min_steps": 10**9, "max_steps": 10**9},
        },
        "generation": {"steps": 1_024, "tables": 16},
        "evaluation": {"every_generations": 1_000},
    },
    "space": {
        "algorithm.learning_rate": {"log_uniform": [1e-4, 3e-2]},
        "algorithm.epochs": {"int": [1, 8]},
        "algorithm.entropy": {"choice": [0.0, 0.01, 0.1]},
    },
    "method": "asha",
    "metric": "return",
    "trials": 6,
    "parallel": 2,
    "rungs": {"eta": 2, "first": 1_024},
    "budget": {"steps": 4_096},
}
PROBE = {"responders": 2, "steps": 5_000, "games": 20}
FORMATS = ("round_robin", "knockout", "swiss", "gauntlet", "adaptive")
OTHER_GAMES = ("tic_tac_toe", "leduc_poker", "rock_paper_scissors", "soccer")
"""Games whose boards are drawn too; bots play them."""
NOTES = "The first try with an exploiter.\nAfter 100 k steps it still loses to search."


@contextmanager
def running_league(stack: LocalStack) -> Iterator[str]:
    """The address of a league that trains, from its first gate on, until it is paused in the end."""
    found = stack.call("GET", f"/trials?project={PROJECT}&name=running")["items"]
    trial = str(found[0]["id"]) if found else _start_trial(stack, "running", RUNNING)
    if found:
        stack.call("POST", f"/trials/{trial}/resume")
    while not stack.call("GET", f"/trials/{trial}/gates?limit=1")["items"]:
        time.sleep(5)
    yield f"/trials/{trial}"
    stack.call("POST", f"/trials/{trial}/pause")


def make_small_league(stack: LocalStack) -> dict[str, str]:
    """Train it to its end, and everything beside it; the addresses of all pages by name."""
    trial = _start_trial(stack, "three-players", LEAGUE)
    sweep = str(stack.call("POST", "/sweeps", {"project": PROJECT, "name": "cartpole", "spec": SWEEP})["id"])
    _wait(stack, f"/trials/{trial}")
    _wait(stack, f"/sweeps/{sweep}")
    stack.call("PATCH", f"/trials/{trial}", {"tags": ["baseline", "exploiter"], "notes": NOTES})
    champion = str(stack.call("GET", f"/projects/{PROJECT}/aliases/champion?game=connect_four")["version_id"])
    fork = _fork(stack, trial)
    _alerts_and_schedule(stack)
    held = {form: _tournament(stack, form) for form in FORMATS}
    probe = stack.call("POST", "/probes", {"version_id": champion, "spec": PROBE})["id"]
    _wait(stack, f"/probes/{probe}")
    shared = stack.call("POST", "/shares", {"trial_id": trial, "note": "the reading group"})["path"]
    return {
        **_trial_pages(stack, trial, champion),
        **{f"tournament-{form.replace('_', '-')}": f"/tournaments/{held[form]}" for form in FORMATS},
        **_other_games(stack),
        "compare": f"/compare?trials={trial},{fork}",
        "sweep": f"/sweeps/{sweep}",
        "shared-report": shared,
        **LISTS,
    }


LISTS = {
    "trials": "/trials",
    "trials-table": "/trials?view=table",
    "trials-none": "/trials?q=nothing-has-this-name",
    "new-trial": "/trials/new?example=alphastar",
    "tournaments": "/tournaments?origin=all",
    "new-tournament": "/tournaments/new",
    "sweeps": "/sweeps",
    "new-sweep": "/sweeps/new",
    "schedules": "/schedules",
    "alerts": "/alerts",
    "system": "/system",
    "system-log": "/system?log=api",
    "not-found": "/nothing-here",
}
"""Pages that belong to no league."""


def _trial_pages(stack: LocalStack, trial: str, champion: str) -> dict[str, str]:
    root = f"/trials/{trial}"
    players = {each["name"]: each for each in stack.call("GET", f"{root}/players?limit=200")["items"]}
    games = stack.call("GET", f"{root}/matches?stream=rating&version_id={champion}&limit=200")["items"]
    game = max(games, key=lambda each: int(each["plies"]))
    main = players["main"]["id"]
    person = _game_of_a_person(stack, champion)
    return {
        "trial": root,
        **{name: f"{root}/{name}" for name in TRIAL_TABS},
        "payoff-cell": f"{root}/payoff?row={main}&column={players['random']['id']}",
        "payoff-counts": f"{root}/payoff?show=counts",
        "player": f"/players/{main}",
        "version": f"/versions/{champion}",
        "head-to-head": f"/versions/{game['version_id']}/against/{game['opponent_version_id']}",
        "replay": f"/matches/{game['id']}?ply=9",
        "replay-end": f"/matches/{game['id']}?ply={game['plies']}",
        "play": f"/play/{champion}",
        "play-game": f"/play/{champion}?game={person}",
        "people-replay": f"/people-games/{person}",
    }


TRIAL_TABS = ("metrics", "payoff", "matchmaking", "lineage", "promotions", "matches", "problems", "probes", "fork")


def _game_of_a_person(stack: LocalStack, version: str) -> str:
    """Played to its end, by the first legal move."""
    game = stack.call("POST", "/play", {"version_id": version})
    while game["result"] is None:
        game = stack.call("POST", f"/play/{game['id']}/moves", {"action": game["position"]["legal"][0][0]["action"]})
    return str(game["id"])


def _fork(stack: LocalStack, trial: str) -> str:
    changes = {"budget": {"steps": 240_000}, "algorithm": {"learning_rate": 0.003}}
    fork = str(stack.call("POST", f"/trials/{trial}/fork", {"name": "higher-learning-rate", "changes": changes})["id"])
    _wait(stack, f"/trials/{fork}")
    return fork


def _alerts_and_schedule(stack: LocalStack) -> None:
    channel = {"name": "on-call", "kind": "webhook", "url": "https://hooks.example.com/lanista/on-call"}
    made = stack.call("POST", "/alerts/channels", channel)["id"]
    kinds = ["trial_failed", "new_champion"]
    stack.call("POST", "/alerts/rules", {"channel_id": made, "kinds": kinds, "project": PROJECT})
    tournament = {"trial": "three-players", "name": "nightly", "format": "swiss", "games": 4}
    schedule = {"project": PROJECT, "name": "nightly", "cron": "0 3 * * *", "tournament": tournament}
    stack.call("POST", "/schedules", schedule)


def _tournament(stack: LocalStack, form: str, **fields: Any) -> str:
    spec = {"name": form.replace("_", "-"), "format": form, "games": 8, **fields}
    if "game" not in fields:
        spec |= {"trial": "three-players", "entrants": ["latest", "snapshots", "bots"]}
    if form == "gauntlet":
        spec["challengers"] = ["latest:main"]
    tournament = str(stack.call("POST", "/tournaments", {"project": PROJECT, "spec": spec})["id"])
    _wait(stack, f"/tournaments/{tournament}")
    return tournament


def _other_games(stack: LocalStack) -> dict[str, str]:
    """A replay of each, and the page on which a person plays it."""
    pages = {}
    for game in OTHER_GAMES:
        name, field = game.replace("_", "-"), ["bot:random", "bot:first-legal"]
        _tournament(stack, "round_robin", name=name, game={"id": game}, entrants=field)
        (found,) = stack.rows(
            "SELECT m.id, m.version_id FROM matches m JOIN tournaments t ON t.id = m.tournament_id"
            " WHERE t.game = %s AND m.plies > 0 ORDER BY m.plies DESC LIMIT 1",
            game,
        )
        pages[f"replay-{name}"] = f"/matches/{found[0]}?ply=1"
        started = stack.call("POST", "/play", {"version_id": str(found[1])})["id"]
        pages[f"play-{name}"] = f"/play/{found[1]}?game={started}"
    return pages


def _start_trial(stack: LocalStack, name: str, spec: dict[str, Any]) -> str:
    return str(stack.call("POST", "/trials", {"project": PROJECT, "name": name, "spec": spec})["id"])


def _wait(stack: LocalStack, path: str) -> None:
    while (status := stack.call("GET", path)["status"]) not in ("completed", "failed", "stopped", "cancelled"):
        time.sleep(5)
    if status != "completed":
        raise SystemExit(f"{path} ended as {status}")
