"""A trial's whole life from the command line, on a real stack."""

from __future__ import annotations

import json
import subprocess
import sys
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

import pytest

from lanista.client import Client
from lanista.client.local import find_api
from tests.e2e.stack import LocalStack

TINY = """
game: {id: tic_tac_toe}
project: command-line
model: {id: mlp, hidden: [16]}
league:
  preset: pfsp
  players:
    - {name: main, role: main}
    - {name: random, role: bot, bot: random}
  champion_gate: null # a stop would wait for it
  snapshot: {min_steps: 20_000, max_steps: 40_000}
generation: {steps: 20_000, tables: 64}
evaluation: {every_generations: 1_000_000} # rating games of a paused trial go on, and are commits
budget: {steps: 1_000_000_000}
"""


@pytest.fixture
def tiny(stack: LocalStack) -> Path:
    file = stack.folder / "tiny.yaml"
    file.write_text(TINY)
    return file


def test_a_trial_is_started_paused_forked_watched_and_stopped(stack: LocalStack, tiny: Path) -> None:
    def lanista(*arguments: str) -> str:
        ended = stack.lanista(*arguments)
        assert ended.returncode == 0, f"lanista {' '.join(arguments)}: {ended.stdout}{ended.stderr}"
        return ended.stdout

    started = json.loads(lanista("trial", "start", str(tiny), "--json"))
    assert (started["project"], started["name"]) == ("command-line", "tiny")
    where = find_api(home=stack.home.root)
    with Client(where.url, where.token) as client:
        first = next(event for event in client.events(started["id"], after=0) if event.type == "generation.recorded")
        assert first.payload["player"] == "main" and first.payload["generation"] == 1

        assert "command-line/tiny is paused" in lanista("trial", "pause", "command-line/tiny", "--wait")
        forked = json.loads(lanista("trial", "fork", "tiny", "second", "--set", "algorithm.entropy=0.05", "--json"))
        origin = client.find_trial("tiny")
        assert origin.status == "paused" and origin.steps > 0
        assert (forked["forked_from_trial_id"], forked["forked_at_commit"]) == (origin.id, origin.last_commit)
        assert forked["spec"]["algorithm"]["entropy"] == 0.05 and forked["steps"] == origin.steps
        next(event for event in client.events(forked["id"], after=0) if event.type == "trial.status")
        client.stop_trial(forked["id"], mode="now")

        lanista("model", "download", "tiny/main", "--to", "weights.safetensors")
        imported = json.loads(lanista("model", "import", "tiny", "veteran", "weights.safetensors", "--json"))
        assert (imported["player"], imported["origin"], imported["number"]) == ("veteran", "imported", 0)

        with watching(stack, "tiny") as watch:
            lanista("trial", "resume", "tiny")
            assert watch.stdout is not None
            assert any("main finished generation" in line for line in watch.stdout), "it shows what happens"
            lanista("trial", "stop", "tiny", "--reason", "seen enough")
            said, _ = watch.communicate(timeout=150)
        assert "command-line/tiny is stopped: seen enough" in said and watch.returncode == 0

        league = client.league(origin)
        assert {"main", "random", "main-1", "veteran"} <= {player.name for player in league.players}
        assert league.to_frame().loc["main", "steps"] == league.trial.steps > origin.steps
        newest = client.find_version("tiny/main")
        assert len(client.checkpoint(newest.id)) == newest.size


@contextmanager
def watching(stack: LocalStack, trial: str) -> Iterator[subprocess.Popen[str]]:
    """`lanista trial watch` beside the test, ended with it."""
    command = [sys.executable, "-m", "lanista", "trial", "watch", trial]
    process = subprocess.Popen(
        command, cwd=stack.folder, env=stack.environment(), stdout=subprocess.PIPE, stderr=subprocess.STDOUT, text=True
    )
    try:
        yield process
    finally:
        process.kill()
        process.communicate()


OWN = """
game: {id: "nim_of_mine:Nim", most: 21}
project: own-code
model: {id: mlp, hidden: [16]}
league: {preset: self_play, champion_gate: null}
generation: {steps: 4_000, tables: 64}
evaluation: {every_generations: 1_000_000}
budget: {steps: 4_000}
"""
NIM = (Path(__file__).parents[2] / "examples" / "own_game.py").read_text()


def test_own_code_is_sent_along_and_an_edit_is_picked_up_by_the_next_trial(stack: LocalStack) -> None:
    module, file = stack.folder / "nim_of_mine.py", stack.folder / "own.yaml"
    module.write_text(NIM)
    file.write_text(OWN)
    checked = stack.lanista("trial", "validate", str(file))
    assert checked.returncode == 0 and "not checked" not in checked.stderr, checked.stderr
    first = json.loads(stack.lanista("trial", "start", str(file), "--json").stdout)
    assert first["game"] == "nim_of_mine:Nim", "an option at its default is the same game"
    assert stack.lanista("trial", "watch", first["id"]).returncode == 0, "it completes"

    module.write_text(NIM.replace("self.stones -= actions + 1", "raise KeyError('no such stone')"))
    second = json.loads(stack.lanista("trial", "start", str(file), "--name", "edited", "--json").stdout)
    assert second["game"] == first["game"] and second["spec"]["game"]["id"] != first["spec"]["game"]["id"]
    watched = stack.lanista("trial", "watch", second["id"])
    assert watched.returncode == 1 and "KeyError: 'no such stone'" in watched.stdout
    shown = stack.lanista("trial", "show", second["id"]).stdout
    assert "nim_of_mine.py" in shown and "raise KeyError('no such stone')" in shown
