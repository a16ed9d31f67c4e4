"""A league on a game that calls in, on the real stack: it waits for games, trains, gates, and holds tournaments."""

from __future__ import annotations

from typing import Any

from benchmarks.stacks.gamecores import SPEC, Gamecores
from lanista.client import Client
from lanista.client.local import find_api
from tests.e2e.leagues import finished, players, start, wait_until
from tests.e2e.stack import LocalStack

TRIAL: dict[str, Any] = {
    "game": {"id": "remote", "name": "noughts", "spec": SPEC},
    "model": {"id": "mlp", "hidden": [16]},
    "algorithm": {"id": "ppo", "rollout_steps": 8, "minibatch": 64},
    "seed": 3,
    "generation": {"steps": 512, "tables": 32},
    "league": {
        "preset": "pfsp",
        "players": [
            {"name": "main", "role": "main"},
            {"name": "random", "role": "bot", "bot": "random"},
            {"name": "house", "role": "bot", "bot": "outside-house"},
        ],
        "matchmaking": {"include_bots": True},
        "snapshot": {"min_steps": 512, "win_rate": 0.5, "max_steps": 1024},
        "champion_gate": {"test": "sprt", "elo0": 0, "elo1": 400, "max_pairs": 8},
    },
    "budget": {"steps": 2_560},
}


def hold_tournament(stack: LocalStack, trial: str) -> list[dict[str, Any]]:
    """A tournament of the newest version and both bots; its pairings."""
    spec = {"trial": stack.call("GET", f"/trials/{trial}")["name"], "entrants": ["latest", "bots"], "games": 4}
    held = stack.call("POST", "/tournaments", {"project": "remote-league", "spec": spec})["id"]
    wait_until(lambda: stack.call("GET", f"/tournaments/{held}")["status"] == "completed", 120)
    pairings: list[dict[str, Any]] = stack.call("GET", f"/tournaments/{held}/pairings?limit=100")["items"]
    return pairings


def test_a_league_waits_for_its_game_and_then_trains_gates_and_rates_by_it(stack: LocalStack) -> None:
    trial = start(stack, TRIAL, project="remote-league")
    where = find_api(home=stack.home.root)
    shown = ""
    with Client(where.url, where.token) as client:
        for event in client.events(trial, after=0):
            if event.type == "progress":
                shown = next((each.waiting or "" for each in event.generations), "") or shown
            if event.type == "generation_retried":
                break
    assert event.payload["failure"] == "no_gamecore"
    assert "no process of the game 'noughts' calls in" in event.payload["problem"]
    assert "no process of the game 'noughts' calls in" in shown
    state = stack.home.read_state()
    assert state is not None
    address = state.children["gateway"].address
    with Gamecores(address.removeprefix("http://"), game="noughts") as games:
        wait_until(lambda: games.played > 20, 150)
        before = stack.pid("gateway")
        stack.kill("gateway")
        wait_until(lambda: finished(stack, trial), 200)
        held = hold_tournament(stack, trial)
    assert games.tickets["training"] and games.tickets["match"], "games were asked for by the game's name"
    assert [each["games"] for each in held] == [4] * 3, "everybody met everybody"
    assert stack.pid("gateway") != before
    found = players(stack, trial)
    payoff = stack.call("GET", f"/trials/{trial}/payoff?stream=training")
    names = [each["name"] for each in payoff["players"]]
    row = dict(zip(names, payoff["win_rate"][names.index("main")], strict=True))
    assert row["random"] is not None and row["house"] is not None
    metrics = stack.call("GET", f"/trials/{trial}/metrics?limit=200")["items"]
    series = {each["name"]: each["values"] for each in metrics if each["player_id"] == found["main"]["id"]}
    assert set(series["exact"]) == {0.0}
    assert all(5 <= value <= 9 for value in series["agent/moves"])
    assert sum(series["games"]) <= games.played
    gates = stack.call("GET", f"/trials/{trial}/gates?limit=100")["items"]
    assert any(gate["pairs"] for gate in gates), "gating games were ordered and played"
    audit = stack.lanista("audit")
    assert audit.returncode == 0, audit.stdout
