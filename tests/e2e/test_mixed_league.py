"""A league of two algorithms with two models on the real stack: matched, tallied, rated and gated like any other."""

from __future__ import annotations

from tests.e2e.leagues import QUICK, SNAPSHOTS, finished, players, start, wait_until
from tests.e2e.stack import LocalStack

MAIN = {"name": "main", "role": "main"}
OTHER = {
    "name": "other",
    "role": "main",
    "algorithm": {"id": "vtrace", "learning_rate": 0.002},
    "model": {"id": "gru", "hidden": 16, "state": 8},
}
SPEC = {
    **QUICK,
    "league": {
        "preset": "pfsp",
        "players": [MAIN, OTHER],
        "snapshot": SNAPSHOTS,
        "matchmaking": {"self_play_share": 0.2},
        "champion_gate": {"test": "sprt", "elo0": 0, "elo1": 200, "max_pairs": 32},
    },
    "budget": {"steps": 120_000},
}


def test_two_algorithms_with_two_models_play_in_one_league(stack: LocalStack) -> None:
    # a champion is of its project and game: that of another test must not hold the alias
    trial = start(stack, SPEC, project="mixed-league")
    wait_until(lambda: finished(stack, trial))
    found = players(stack, trial)
    assert found["other"]["algorithm"]["id"] == "vtrace"
    assert (found["main"]["model"], found["other"]["model"]["id"]) == (None, "gru")
    assert found["other-1"]["model"] == found["other"]["model"], "a snapshot is of its parent's model"
    planned = stack.call("GET", f"/trials/{trial}/decisions?kind=matchmaking&limit=200")["items"]
    learnt = {(each["player_id"], each["evidence"]["plan"]["algorithm"]["id"]) for each in planned}
    assert learnt == {(found["main"]["id"], "ppo"), (found["other"]["id"], "vtrace")}
    payoff = stack.call("GET", f"/trials/{trial}/payoff?stream=training")
    names = [each["name"] for each in payoff["players"]]
    met = {
        (one, other)
        for one, row in zip(names, payoff["win_rate"], strict=True)
        for other, rate in zip(names, row, strict=True)
        if rate is not None
    }
    assert any(other.startswith("other-") for one, other in met if one == "main"), "PPO met snapshots of V-trace"
    assert any(other.startswith("main-") for one, other in met if one == "other"), "V-trace met snapshots of PPO"
    gates = stack.call("GET", f"/trials/{trial}/gates?limit=100")["items"]
    owners = {
        each["id"]: each["player"].partition("-")[0]
        for each in stack.call("GET", f"/trials/{trial}/versions?limit=200")["items"]
    }
    assert {owners[gate["candidate_version_id"]] for gate in gates} == {"main", "other"}
    pairs = [gate for gate in gates if gate["pairs"] and gate["champion_version_id"]]
    assert any(owners[gate["candidate_version_id"]] != owners[gate["champion_version_id"]] for gate in pairs), (
        "a gate between players of two models was played"
    )
