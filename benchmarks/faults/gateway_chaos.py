"""Kill gateways, crews and the train worker of a league whose game calls in; count what was harmed or doubled."""

from __future__ import annotations

import argparse
import json
import random
import sys
import time
from collections import Counter
from typing import Any

from benchmarks.faults.chaos import Chaos, say
from benchmarks.stacks.gamecores import SPEC, Gamecores
from benchmarks.stacks.local_stack import LocalStack, local_stack

KINDS = ("gateway", "gateway", "train-worker", "ray actor")
EXPECTED = {404, 409, 410, 503, 504}
"""How a session ends that was aborted, or whose process is gone: in words, and without harm to others."""
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
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--kills", type=int, default=40)
    parser.add_argument("--gamecores", type=int, default=16)
    parser.add_argument("--seed", type=int, default=1)
    parser.add_argument("--json", action="store_true", help="print the result as JSON on stdout")
    arguments = parser.parse_args()
    with local_stack(LANISTA_GATEWAY_PROCESSES="2", RAY_worker_niceness="0") as stack:
        state = stack.home.read_state()
        assert state is not None
        address = state.children["gateway"].address.removeprefix("http://")
        with Gamecores(address, arguments.gamecores, pause=0.002) as games:
            result = GatewayChaos(stack, random.Random(arguments.seed), games).kill_and_count(arguments.kills)
    print(json.dumps(result) if arguments.json else "\n".join(f"{key}: {value}" for key, value in result.items()))
    sys.exit(0 if result["doubled"] == result["harmed"] == 0 and result["audit"] == 0 else 1)


class GatewayChaos(Chaos):
    """One run: kills in turn, each followed by a committed generation, then the count."""

    def __init__(self, stack: LocalStack, rng: random.Random, games: Gamecores) -> None:
        super().__init__(stack, rng, 0.0)
        self._games = games

    def kill_and_count(self, kills: int) -> dict[str, Any]:
        """Kill so often, at random moments of running games."""
        trial = self.stack.start_trial(TRIAL)
        self._wait_until(lambda: self._generations(trial) >= 2, 180, "the first generations")
        began = time.monotonic()
        for _ in range(kills):
            time.sleep(self.rng.uniform(0.0, 1.0))
            self._kill(self.rng.choice(KINDS), trial)
        self.stack.call("POST", f"/trials/{trial}/stop", {"mode": "drain"})
        self._wait_until(lambda: self._status(trial) == "stopped", 180, "the trial to stop")
        return self._count(trial, time.monotonic() - began)

    def _strike(self, kind: str) -> None:
        if kind == "gateway":
            processes = self._gateway_processes()
            self._signal([self.rng.choice(processes)] if processes else [])
        elif kind == "train-worker":
            state = self.stack.home.read_state()
            assert state is not None
            pid = state.children[kind].pid
            self._signal([pid] if pid else [])
        else:
            super()._strike(kind)

    def _gateway_processes(self) -> list[int]:
        """The processes that hold sessions: children of the stack's part, or the part itself."""
        import psutil

        state = self.stack.home.read_state()
        assert state is not None
        pid = state.children["gateway"].pid
        if pid is None:
            return []
        try:
            children = psutil.Process(pid).children()
        except psutil.NoSuchProcess:
            return []
        return [child.pid for child in children if "spawn_main" in " ".join(child.cmdline())] or [pid]

    def _count(self, trial: str, seconds: float) -> dict[str, Any]:
        games, audit = self._games, json.loads(self.stack.lanista("audit", "--json", check=False))
        recorded = self._recorded(trial)
        most = games.played + games.unanswered
        unexpected = {status: count for status, count in games.refusals.items() if status not in EXPECTED}
        say(f"refusals of sessions under way: {dict(games.refusals)}")
        return {
            "kills": sum(self.kills.values()),
            "kills_by_kind": dict(Counter(self.kills)),
            "generations": self._generations(trial),
            "played": games.played,
            "aborted": games.lost,
            "unanswered": games.unanswered,
            "recorded": recorded,
            "doubled": max(0, recorded - most) + audit["doubled"],
            "harmed": sum(unexpected.values()),
            "lost": audit["lost"],
            "audit": 0 if audit["ok"] else 1,
            "longest_recovery_s": round(max(self.recoveries), 1),
            "games_per_second": round(games.played / seconds, 1),
        }

    def _recorded(self, trial: str) -> int:
        """Results of the trial: tallies of training, and games of gates and ratings."""
        trained = self.stack.rows(
            "SELECT coalesce(sum(wins + draws + losses), 0) FROM tallies WHERE trial_id = %s AND stream = 'training'",
            trial,
        )
        matches = self.stack.rows("SELECT count(*) FROM matches WHERE trial_id = %s", trial)
        return int(trained[0][0]) + int(matches[0][0])


if __name__ == "__main__":
    main()
