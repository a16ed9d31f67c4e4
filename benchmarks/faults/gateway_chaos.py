"""Kill gateways, agents, the batching service and the trainer under load; count what was harmed or doubled.

A league trains on a game that calls in while its champion is served beside it, with a canary. A run makes some kills
and adds its counts to a file, so that many short runs make a long one.
"""

from __future__ import annotations

import argparse
import json
import random
import sys
import time
from collections import Counter
from collections.abc import Callable, Mapping, Sequence
from contextlib import suppress
from pathlib import Path
from typing import Any

import psutil

from benchmarks.faults.striking import Striker, say
from benchmarks.stacks.gamecores import SPEC, Gamecores
from benchmarks.stacks.local_stack import LocalStack, local_stack
from benchmarks.stacks.served_champion import ServedChampion

RESULTS = Path(__file__).parents[1] / "results" / "gateway_chaos.json"
LEAGUE_KINDS = ("gateway", "agent process", "train-worker", "trainer")
SERVED_KINDS = ("served agent process", "batching service")
KINDS = LEAGUE_KINDS + SERVED_KINDS
"""`gateway`: a whole gateway with its processes; `agent process`: one of them, which holds sessions and their agents;
`trainer`: an actor of a crew on Ray; `batching service`: a replica of the inference service on Ray."""
EXPECTED = {404, 409, 410, 503, 504}
"""How a session ends that was aborted, or whose process is gone: in words, and without harm to others."""
GAMES_AFTER = 20
"""Served games that must be played after a kill."""
TRIAL: dict[str, Any] = {
    "game": {"id": "remote", "spec": SPEC},
    "model": {"id": "mlp", "hidden": [32]},
    "algorithm": {"id": "ppo", "rollout_steps": 16, "minibatch": 256},
    "seed": 5,
    "league": {
        "preset": "pfsp",
        "players": [
            {"name": "main", "role": "main"},
            {"name": "second", "role": "main"},
            {"name": "random", "role": "bot", "bot": "random"},
            {"name": "house", "role": "bot", "bot": "outside-house"},
        ],
        "matchmaking": {"include_bots": True},
        "snapshot": {"min_steps": 4_096, "win_rate": 0.6, "max_steps": 16_384},
        "champion_gate": {"test": "sprt", "elo0": 0, "elo1": 35, "max_pairs": 50},
    },
    "generation": {"steps": 2_048, "tables": 64},
}


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--kills", type=int, default=40, help="kills of this run")
    parser.add_argument("--gamecores", type=int, default=16, help="games at once; half as many are served")
    parser.add_argument("--seed", type=int, help="default: the number of runs so far")
    parser.add_argument("--file", type=Path, default=RESULTS, help="the runs so far; this one is added")
    parser.add_argument("--json", action="store_true", help="print the sum of all runs as JSON on stdout")
    arguments = parser.parse_args()
    runs = read_runs(arguments.file)
    seed = len(runs) + 1 if arguments.seed is None else arguments.seed
    # Ray places the replicas beside the crews: they reserve a CPU each, and use little of it
    with local_stack(LANISTA_GATEWAY_PROCESSES="2", LANISTA_RAY_CPUS="6", RAY_worker_niceness="0") as stack:
        state = stack.home.read_state()
        assert state is not None
        address = state.children["gateway"].address.removeprefix("http://")
        with Gamecores(address, arguments.gamecores, pause=0.002) as games:
            chaos = GatewayChaos(stack, random.Random(seed), games)
            run = chaos.kill_and_count(arguments.kills, max(1, arguments.gamecores // 2))
    runs.append({"seed": seed, **run})
    total = summed(runs)
    arguments.file.write_text(json.dumps({"total": total, "runs": runs}, indent=1) + "\n")
    print(json.dumps(total) if arguments.json else "\n".join(f"{key}: {value}" for key, value in total.items()))
    sys.exit(0 if total["doubled"] == total["harmed"] == total["lost"] == total["audit"] == 0 else 1)


def read_runs(path: Path) -> list[dict[str, Any]]:
    """The runs of a file; none where there is no file."""
    runs: list[dict[str, Any]] = json.loads(path.read_text())["runs"] if path.exists() else []
    return runs


def summed(runs: list[dict[str, Any]]) -> dict[str, Any]:
    """All runs as one: counts are added, of waits the longest is taken."""
    total: dict[str, Any] = {"runs": len(runs), "kills_by_kind": {}}
    for run in runs:
        for name, value in run.items():
            if name == "kills_by_kind":
                total[name] = dict(Counter(total[name]) + Counter(value))
            elif name == "longest_recovery_s":
                total[name] = max(value, total.get(name, 0))
            elif name != "seed":
                total[name] = total.get(name, 0) + value
    return total


class GatewayChaos(Striker):
    """One run: kills in turn, each followed by work that is done, then the count."""

    def __init__(self, stack: LocalStack, rng: random.Random, games: Gamecores) -> None:
        super().__init__(stack, rng)
        self._games = games

    def kill_and_count(self, kills: int, served_games: int) -> dict[str, Any]:
        """Kill so often, at random moments of running games."""
        trial = self.stack.start_trial(TRIAL)
        self._wait_until(lambda: self._generations(trial) >= 4, 600, "the first generations")
        versions = self._promote(trial)
        began = time.monotonic()
        with (
            ServedChampion(self.stack, "benchmarks@champion", versions[0]) as self._served,
            Gamecores(self._served.address, served_games, pause=0.002) as self._served_games,
        ):
            for kind in self._order(kills):
                time.sleep(self.rng.uniform(0.0, 1.0))
                self._kill(kind, trial)
        self.stack.call("POST", f"/trials/{trial}/stop", {"mode": "drain"})
        self._wait_until(lambda: self._status(trial) == "stopped", 300, "the trial to stop")
        return self._count(trial, time.monotonic() - began)

    def _order(self, kills: int) -> list[str]:
        """Every kind as often as any other, in a random order; what does not divide is drawn."""
        rest = self.rng.sample(KINDS, kills % len(KINDS))
        kinds = [*KINDS * (kills // len(KINDS)), *rest]
        self.rng.shuffle(kinds)
        return kinds

    def _promote(self, trial: str) -> list[str]:
        """Make the newest version champion; returns two versions, of which the second is the champion."""
        rows = self.stack.rows(
            "SELECT v.id FROM model_versions v JOIN players p ON p.id = v.player_id WHERE v.trial_id = %s "
            "AND v.number > 0 AND p.role = 'main' ORDER BY v.created_at LIMIT 2",
            trial,
        )
        found = [str(row[0]) for row in rows]
        body = {"version_id": found[1], "reason": "chaos"}
        self.stack.call("PUT", "/projects/benchmarks/aliases/champion", body)
        return found

    def _kill(self, kind: str, trial: str) -> None:
        """Kill one process of a kind; it has recovered when another is in its place and has done work since then."""
        find = self._finders()[kind]
        self._wait_until(lambda: bool(find()), 120, f"a process: {kind}")
        before = frozenset(find())
        victim = self.rng.choice(sorted(before))
        killed = time.monotonic()
        self._signal([victim])
        self.kills[kind] += 1
        self._wait_until(lambda: replaced(victim, before, find()), 300, f"another process in place of the {kind}")
        worked = self._work_after(kind, trial)
        self._wait_until(worked, 300, f"work after killing {kind}")
        self.recoveries.append(time.monotonic() - killed)
        say(f"killed {kind}: recovered after {self.recoveries[-1]:.1f} s ({sum(self.kills.values())} kills)")

    def _work_after(self, kind: str, trial: str) -> Callable[[], bool]:
        """Whether work was done since now: a generation of every player that learns, or served games."""
        if kind in LEAGUE_KINDS:
            generations = self._by_player(trial)
            return lambda: all_grew(generations, self._by_player(trial))
        played = self._served_games.played
        return lambda: self._served_games.played >= played + GAMES_AFTER

    def _by_player(self, trial: str) -> dict[str, int]:
        """Committed generations of each player that learns."""
        rows = self.stack.rows(
            "SELECT p.name, count(g.player_id) FROM players p LEFT JOIN generations g ON g.player_id = p.id "
            "WHERE p.trial_id = %s AND p.role = 'main' GROUP BY 1",
            trial,
        )
        return {str(name): int(count) for name, count in rows}

    def _finders(self) -> dict[str, Callable[[], list[int]]]:
        """The processes of each kind that run now."""
        return {
            "gateway": lambda: self._part("gateway"),
            "train-worker": lambda: self._part("train-worker"),
            "agent process": self._gateway_processes,
            "served agent process": lambda: self._served.processes(),
            "batching service": lambda: self._named(lambda name: name.startswith("ray::InferenceReplica")),
            "trainer": lambda: self._named(_is_crew),
        }

    def _part(self, name: str) -> list[int]:
        state = self.stack.home.read_state()
        assert state is not None
        pid = state.children[name].pid
        return [pid] if pid else []

    def _gateway_processes(self) -> list[int]:
        """The processes that hold sessions: children of the stack's part."""
        for pid in self._part("gateway"):
            with suppress(psutil.NoSuchProcess):
                children = psutil.Process(pid).children()
                return [child.pid for child in children if "spawn_main" in " ".join(child.cmdline())]
        return []

    def _count(self, trial: str, seconds: float) -> dict[str, Any]:
        games, served = self._games, self._served_games
        audit = json.loads(self.stack.lanista("audit", "--json", check=False))
        recorded, compared = self._recorded(trial), self._compared()
        doubled = max(0, recorded - games.played - games.unanswered)
        doubled += max(0, compared - served.played - served.unanswered)
        refusals = games.refusals + served.refusals
        say(f"refusals of sessions under way: {dict(refusals)}")
        return {
            "kills": sum(self.kills.values()),
            "kills_by_kind": dict(self.kills),
            "seconds": round(seconds),
            "generations": self._generations(trial),
            "played": games.played,
            "aborted": games.lost,
            "unanswered": games.unanswered,
            "recorded": recorded,
            "served_played": served.played,
            "served_aborted": served.lost,
            "served_unanswered": served.unanswered,
            "served_recorded": compared,
            "doubled": doubled + audit["doubled"],
            "harmed": sum(count for status, count in refusals.items() if status not in EXPECTED),
            "lost": audit["lost"],
            "audit": 0 if audit["ok"] else 1,
            "longest_recovery_s": round(max(self.recoveries, default=0.0), 1),
        }

    def _recorded(self, trial: str) -> int:
        """Results of the trial: tallies of training, and games of gates and ratings."""
        trained = self.stack.rows(
            "SELECT coalesce(sum(wins + draws + losses), 0) FROM tallies WHERE trial_id = %s AND stream = 'training'",
            trial,
        )
        matches = self.stack.rows("SELECT count(*) FROM matches WHERE trial_id = %s", trial)
        return int(trained[0][0]) + int(matches[0][0])

    def _compared(self) -> int:
        """Served sessions whose results the store has."""
        rows = self.stack.rows("SELECT coalesce(sum(champion_sessions + canary_sessions), 0) FROM canary_results")
        return int(rows[0][0])


def replaced(victim: int, before: frozenset[int], now: Sequence[int]) -> bool:
    """Whether the killed process is gone, and one that was not there before runs."""
    return victim not in now and bool(set(now) - before)


def all_grew(before: Mapping[str, int], now: Mapping[str, int]) -> bool:
    """Whether every player has more generations than before."""
    return all(now.get(name, 0) > count for name, count in before.items())


def _is_crew(name: str) -> bool:
    """Whether this is the title of a Ray actor that trains."""
    return name.startswith("ray::") and not any(word in name for word in ("IDLE", "Agent", "InferenceReplica"))


if __name__ == "__main__":
    main()
