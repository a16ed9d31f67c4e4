"""Kill parts of the stack at random while tournaments run; count games and compare pairings with undisturbed runs."""

from __future__ import annotations

import argparse
import json
import os
import random
import signal
import sys
import time
from contextlib import suppress
from itertools import pairwise
from typing import Any

from benchmarks.stacks.local_stack import LocalStack, local_stack
from lanista.stack.processes.leftovers import leftovers

CHILDREN = ("store-worker", "train-worker", "temporal", "postgres", "everything")
BOTS = {
    "tic_tac_toe": [
        "random",
        "first-legal",
        "minimax",
        "minimax-random",
        *(f"minimax-{n / 20:.2f}" for n in range(20)),
    ],
    "connect_four": ["random", "first-legal", *(f"mcts-{n}" for n in range(2, 24))],
}
FORMATS = {"swiss": 24, "round_robin": 12}


def spec_of(game: str, format_: str, games: int) -> dict[str, Any]:
    """One tournament; the interrupted and the undisturbed one have the same seed."""
    entrants = [f"bot:{bot}" for bot in BOTS[game][: FORMATS[format_]]]
    return {"game": {"id": game}, "format": format_, "entrants": entrants, "games": games, "seed": 11}


def hold(stack: LocalStack, spec: dict[str, Any]) -> str:
    return str(stack.call("POST", "/tournaments", {"project": "kills", "spec": spec})["id"])


def wait(stack: LocalStack, tournament: str, pairings: int | None = None, patience: float = 600) -> None:
    """Wait until the tournament is over, or this many pairings are recorded."""
    deadline = time.monotonic() + patience
    while time.monotonic() < deadline:
        row = stack.call("GET", f"/tournaments/{tournament}", patience=120)
        if row["finished_at"] or (pairings is not None and row["pairings_played"] >= pairings):
            return
        time.sleep(0.2)
    raise TimeoutError(f"tournament {tournament} did not reach this state within {patience:g} s")


def kill(stack: LocalStack, kind: str) -> None:
    """SIGKILL one part, or all of them and start again."""
    state = stack.home.read_state()
    assert state is not None
    if kind == "everything":
        pids = [state.pid, *(process.pid for process in leftovers(stack.home))]
    else:
        pids = [pid] if (pid := state.children[kind].pid) else []
    for pid in pids:
        with suppress(ProcessLookupError):
            os.kill(pid, signal.SIGKILL)
    if kind == "everything":
        stack.up()


def account(stack: LocalStack, tournament: str) -> dict[str, Any]:
    """Pairings and games as recorded."""
    pairings = stack.rows(
        "SELECT round, pair, first, second, games, seed, status FROM pairings WHERE tournament_id = %s ORDER BY 1, 2",
        tournament,
    )
    games = stack.rows(
        "SELECT round, pair, seat, seed, result, moves FROM matches WHERE tournament_id = %s ORDER BY 1, 2, 3, 4",
        tournament,
    )
    return {"pairings": pairings, "games": games}


def measure(stack: LocalStack, game: str, format_: str, games: int, kills: int, rng: random.Random) -> dict[str, Any]:
    spec = spec_of(game, format_, games)
    unbroken = hold(stack, spec)
    wait(stack, unbroken)
    expected = account(stack, unbroken)
    broken = hold(stack, spec)
    wanted = len(expected["pairings"])
    struck = []
    for number in range(kills):
        wait(stack, broken, pairings=int(wanted * (number + rng.random()) / (kills + 1)))
        struck.append(rng.choice(CHILDREN))
        kill(stack, struck[-1])
        print(f"  {format_} in {game}: killed {struck[-1]}", file=sys.stderr, flush=True)
    wait(stack, broken)
    found = account(stack, broken)
    return {
        "game": game,
        "format": format_,
        "entrants": len(spec["entrants"]),
        "killed": struck,
        "games": len(found["games"]),
        "games_expected": len(expected["games"]),
        "games_doubled": len(found["games"]) - len({game[:4] for game in found["games"]}),
        "same_pairings": found["pairings"] == expected["pairings"],
        "same_games": found["games"] == expected["games"],
    }


def timed(stack: LocalStack, every: int, firings: int) -> dict[str, Any]:
    """A schedule that fires through a restart of everything, is paused and triggered."""
    spec = {"game": {"id": "tic_tac_toe"}, "entrants": ["bot:random", "bot:minimax-0.5", "bot:minimax"], "games": 20}
    body = {"project": "kills", "name": "often", "every_seconds": every, "tournament": spec}
    schedule = stack.call("POST", "/schedules", body)["id"]
    query = (
        "SELECT started_at, finished_at FROM tournaments "
        "WHERE schedule_id = %s AND status = 'completed' ORDER BY started_at"
    )

    def held() -> list[tuple[Any, ...]]:
        return stack.rows(query, schedule)

    def until(count: int) -> None:
        deadline = time.monotonic() + 120 + 3 * every * count
        while len(held()) < count:
            if time.monotonic() > deadline:
                raise TimeoutError(f"the schedule held {len(held())} tournaments, not {count}")
            time.sleep(0.5)

    until(2)
    kill(stack, "everything")
    until(firings)
    stack.lanista("schedule", "pause", schedule)
    time.sleep(1.5 * every)
    paused = len(held())
    stack.lanista("schedule", "trigger", schedule)
    until(paused + 1)
    rows = held()
    overlaps = sum(before[1] > after[0] for before, after in pairwise(rows))
    return {
        "every_s": every,
        "held": len(rows),
        "overlapping": overlaps,
        "held_by_trigger_while_paused": len(rows) - paused,
    }


def main() -> None:
    """Measure and print; exit code 0 if everything is exact."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--games", type=int, default=20, help="games of each pairing")
    parser.add_argument("--kills", type=int, default=5, help="kills in each tournament")
    parser.add_argument("--game", choices=sorted(BOTS), action="append", help="only this game (repeatable)")
    parser.add_argument("--every", type=int, default=20, help="seconds between the schedule's firings; 0: leave it out")
    parser.add_argument("--seed", type=int, default=1)
    arguments = parser.parse_args()
    rng = random.Random(arguments.seed)
    with local_stack() as stack:
        runs = [
            measure(stack, game, format_, arguments.games, arguments.kills, rng)
            for game in arguments.game or sorted(BOTS)
            for format_ in FORMATS
        ]
        schedule = timed(stack, arguments.every, 5) if arguments.every else None
    print(json.dumps({"tournaments": runs, "schedule": schedule}, indent=1))
    exact = all(run["same_games"] and run["same_pairings"] and not run["games_doubled"] for run in runs)
    sys.exit(0 if exact and not (schedule and schedule["overlapping"]) else 1)


if __name__ == "__main__":
    main()
