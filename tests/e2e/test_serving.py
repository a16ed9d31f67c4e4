"""A version of a real league, served by a process of its own, promoted under way, compared and exported."""

from __future__ import annotations

import subprocess
import sys
import time
from pathlib import Path

import lanista
from lanista.client import Client
from lanista.client.local import find_api
from tests.e2e.leagues import QUICK, start, wait_until
from tests.e2e.stack import LocalStack
from tests.integration.gateway.test_serving import play, serving

ROSTER = [{"name": name, "role": "main"} for name in ("first", "second", "canary")]
LEAGUE = {**QUICK, "league": {"preset": "self_play", "players": ROSTER, "champion_gate": None}}


def test_a_version_is_served_promoted_compared_and_exported(stack: LocalStack, tmp_path: Path) -> None:
    where = find_api(home=stack.home.root)
    with Client(where.url, where.token) as client:
        trial = start(stack, LEAGUE, project="serving")
        wait_until(lambda: {each.player for each in client.versions(trial)} == {"first", "second", "canary"})
        stack.call("POST", f"/trials/{trial}/stop", {"mode": "now"})
        versions = {each.player: each for each in client.versions(trial)}
        assert where.token is not None
        client.set_alias("serving", "champion", version_id=versions["first"].id, reason="a test")
        arguments = ["--alias", "serving@champion", "--canary", versions["canary"].id, "--share", "0.5"]
        with serving(tmp_path, where.url, *arguments, token=where.token) as games:
            played = {play(games, f"game-{number}").partition(":")[0] for number in range(40)}
            assert played == {"first", "canary"}
            client.set_alias("serving", "champion", version_id=versions["second"].id, reason="a test")
            deadline = time.monotonic() + 60
            while any(play(games, f"later-{number}").startswith("first") for number in range(10)):
                assert time.monotonic() < deadline, "the promotion did not arrive"
        compared = list(client.canaries("serving", "champion"))
    assert sum(each.champion_sessions + each.canary_sessions for each in compared) >= 50
    assert all(each.wins == each.losses == 0 for each in compared), "every game was won"
    exported = stack.lanista("model", "export", "serving@champion", "--to", "served")
    assert exported.returncode == 0 and "largest difference from torch" in exported.stdout, exported.stderr
    ran = subprocess.run([sys.executable, "served/runner.py"], cwd=stack.folder, capture_output=True, text=True)
    actor = lanista.load("serving@champion", url=where.url, token=where.token)
    assert ran.stdout == f"{actor.act([[[0.0] * 3] * 3] * 2)}\n", ran.stderr
    audited = stack.lanista("audit", "--json")
    assert audited.returncode == 0, audited.stdout
