"""How strong search makes a league: connect four judged by an exact solver, tic-tac-toe, and Hex, for a fixed time.

    python -m benchmarks.search_strength --json [--case connect_four] [--by alphazero,ppo] [--minutes 30] [--seeds 1,2]

Each run trains one main in self-play through a stack of its own until the time is over, on two cores or on those that
`taskset` leaves it. In connect four the newest version then chooses in fresh positions where the choice matters: random
games reached them, and the solver bitbully (AGPL, a program of its own in build/bitbully-venv) says that some moves
keep the game's value and others give it away. The error is the share of positions in which the value is given away, by
the network alone and with 64 and 200 simulations. Paired games against MCTS-1000 follow. A row a run is kept in
benchmarks/results/search_strength.json, and a second call runs only what is missing.
"""

from __future__ import annotations

import argparse
import json
import os
import time
from dataclasses import dataclass, replace
from functools import partial
from pathlib import Path
from typing import Any

import numpy as np
import torch
from numpy.typing import NDArray

from benchmarks.peers.rates import say
from benchmarks.peers.searching.positions import Judged, judged_positions
from benchmarks.stacks.local_stack import LocalStack, local_stack
from league.types import CheckpointRef, VersionId
from orchestrator.catalog import Component
from orchestrator.searching import searching_bot
from orchestrator.storage.artifacts import ArtifactStore
from orchestrator.user_code.code_importing import import_archives_from
from workers.algorithms.building import actor_of
from workers.bots.searching import positions
from workers.checkpoints import load
from workers.games.names import make_game
from workers.games.protocol import VectorGame
from workers.matches.play import play_match
from workers.matches.task import Entrant, MatchTask, Randomness
from workers.search.networks import network
from workers.search.rules import SearchRules
from workers.search.search import Search

RESULTS = Path(__file__).parents[1] / "results" / "search_strength.json"
WITH_SEARCH = (64, 200)
POSITIONS, PAIRS, CORES = 1000, 50, 2
"""What the solver judges, pairs of games against the bot, and the cores of a run; a row of other numbers says them in
its name."""
_NEWEST = (
    "SELECT uri, sha256, size, number, steps FROM model_versions WHERE trial_id = %s AND uri IS NOT NULL"
    " ORDER BY number DESC LIMIT 1"
)


@dataclass(frozen=True, kw_only=True)
class Case:
    """A game, how it is trained, and which bot is to be beaten."""

    game: dict[str, Any]
    minutes: float
    bot: str
    model: dict[str, Any]
    algorithm: dict[str, Any]
    steps: int
    tables: int = 256
    openings: dict[str, Any] | None = None
    """Random first moves of self-play; None for the default."""
    solved: bool = False
    """Whether the solver judges positions too."""


_CONVRES = {"id": "convres", "channels": 32, "blocks": 2}
_ALPHAZERO = {"id": "alphazero", "simulations": 32}
CASES = {
    "connect_four": Case(
        game={"id": "connect_four"},
        minutes=30.0,
        bot="mcts-1000",
        model=_CONVRES,
        algorithm=_ALPHAZERO,
        steps=16_384,
        openings={"share": 0.8, "plies": 24},
        solved=True,
    ),
    "tictactoe": Case(
        game={"id": "tic_tac_toe"},
        minutes=1.0,
        bot="minimax-random",
        model={"id": "mlp"},
        algorithm=_ALPHAZERO,
        steps=8_192,
    ),
    "hex": Case(
        game={"id": "openspiel", "game": "hex(board_size=5)"},
        minutes=10.0,
        bot="mcts-1000",
        model=_CONVRES,
        algorithm=_ALPHAZERO,
        steps=4_096,
        tables=64,
    ),
}


def spec_of(case: Case, by: str, minutes: float, seed: int) -> dict[str, Any]:
    """The trial: one main that plays itself. PPO has its own defaults, network and size of a generation."""
    ppo, actors = by == "ppo", cores()
    generation: dict[str, Any] = {"steps": case.steps, "tables": case.tables, "rollout_actors": actors}
    generation["autocast"] = "bf16"
    if case.openings is not None:
        generation["openings"] = case.openings
    return {
        "game": case.game,
        "seed": seed,
        "model": {"id": "mlp"} if ppo else case.model,
        "algorithm": {"id": "ppo"} if ppo else case.algorithm,
        "generation": {"steps": 2_000_000, "rollout_actors": actors} if ppo else generation,
        "league": {"preset": "self_play", "champion_gate": None},
        "budget": {"wall_clock": f"{round(minutes * 60)}s"},
    }


def trained(stack: LocalStack, case: Case, by: str, minutes: float, seed: int) -> tuple[CheckpointRef, dict[str, Any]]:
    """The newest version after the time, and how it came about."""
    trial = stack.start_trial(spec_of(case, by, minutes, seed), f"{by}-{seed}")
    deadline = time.monotonic() + minutes * 60 + 900
    while True:
        found = stack.call("GET", f"/trials/{trial}")
        if found["status"] in ("completed", "failed", "stopped"):
            break
        if time.monotonic() > deadline:
            raise TimeoutError(f"{by}, seed {seed}: the trial is {found['status']} long after its time")
        time.sleep(2.0)
    if found["status"] != "completed":
        raise RuntimeError(f"{by}, seed {seed}: the trial ended as {found['status']}: {found.get('status_reason')}")
    uri, sha256, size, number, steps = stack.rows(_NEWEST, trial)[0]
    return CheckpointRef(uri=uri, sha256=sha256, size=size), {"versions": number, "steps": steps}


def errors(store: ArtifactStore, version: CheckpointRef, judged: list[Judged]) -> dict[str, Any]:
    """The shares of positions in which the game's value is given away, in all and by ply."""
    checkpoint = load(store, version)
    make = partial(_made, checkpoint.game)
    evaluate = network(actor_of(checkpoint, make(1).spec))
    game = positions(make(len(judged)), [list(each.moves) for each in judged])
    turn = game.turn()
    logits, _ = evaluate(turn.observations, game.legal_of(turn))
    found = {"network": _share(judged, logits.argmax(1))}
    for simulations in WITH_SEARCH:
        search = Search(make, SearchRules(simulations=simulations), slots=len(judged))
        actions = search.run(game, np.arange(len(judged)), evaluate, None).actions
        found[f"search-{simulations}"] = _share(judged, actions)
    return found


def _made(game: Component, tables: int) -> VectorGame:
    return make_game(game.id, tables, **game.options)


def _share(judged: list[Judged], actions: NDArray[np.int64]) -> dict[str, Any]:
    wrong = [not each.keeps(int(action)) for each, action in zip(judged, actions, strict=True)]
    by_ply: dict[int, list[bool]] = {}
    for each, missed in zip(judged, wrong, strict=True):
        by_ply.setdefault(len(each.moves), []).append(missed)
    plies = {str(ply): [sum(found), len(found)] for ply, found in sorted(by_ply.items())}
    return {"error": sum(wrong) / len(wrong), "by_ply": plies}


def games(store: ArtifactStore, version: CheckpointRef, case: Case, pairs: int) -> dict[str, Any]:
    """Paired games against the case's bot, by the network alone and with 64 simulations, from random openings."""
    import_archives_from(store)
    game = Component(id=case.game["id"], options={name: part for name, part in case.game.items() if name != "id"})
    sides = {
        "network": Entrant(id=VersionId("version"), checkpoint=version),
        "search-64": Entrant(id=VersionId("version"), bot=searching_bot(64, version.sha256)),
    }
    found = {}
    for name, side in sides.items():
        entrants = (side, Entrant(id=VersionId(case.bot), bot=case.bot))
        task = MatchTask(game=game, entrants=entrants, pairs=pairs, seed=1, randomness=Randomness(sampled=False))
        tallies = play_match(task, store=store).tallies()
        found[name] = {each: sum(getattr(tally, each) for tally in tallies) for each in ("wins", "draws", "losses")}
        say(f"  {name} against {case.bot}: {found[name]}")
    return found


def run(name: str, by: str, minutes: float, seed: int, given: argparse.Namespace) -> dict[str, Any]:
    """Train for the time, then judge."""
    case = _with_options(CASES[name], given)
    judged = judged_positions(given.positions) if case.solved else []
    with local_stack() as stack:
        version, row = trained(stack, case, by, minutes, seed)
        say(f"  {row['steps']:,} steps in {row['versions']} generations")
        store = ArtifactStore(str(stack.home.artifacts))
        if judged:
            row["errors"] = errors(store, version, judged)
            say("  errors: " + ", ".join(f"{way} {each['error']:.1%}" for way, each in row["errors"].items()))
        row[case.bot] = games(store, version, case, given.pairs)
    return {**row, "cores": cores(), "load": round(os.getloadavg()[0], 1)}


def cores() -> int:
    """Those that this run may use, one process of its crew on each: `taskset -c 0` leaves one."""
    return len(os.sched_getaffinity(0))


def _with_options(case: Case, given: argparse.Namespace) -> Case:
    """The case with the model and the algorithm's options that were given."""
    model = case.model if given.model is None else json.loads(given.model)
    more = {} if given.algorithm is None else json.loads(given.algorithm)
    generation = {} if given.generation is None else json.loads(given.generation)
    return replace(case, model=model, algorithm={**case.algorithm, **more}, **generation)


def _key(given: argparse.Namespace, by: str, minutes: float, seed: int) -> str:
    """What a row is called: other options than the case's make another row."""
    options = "".join(f", {text}" for text in (given.model, given.algorithm, given.generation) if text is not None)
    if CASES[given.case].solved and given.positions != POSITIONS:
        options += f", {given.positions} positions"
    if given.pairs != PAIRS:
        options += f", {given.pairs} pairs"
    if cores() != CORES:
        options += ", 1 core" if cores() == 1 else f", {cores()} cores"
    return f"{given.case}, {by}, {minutes:g} minutes, seed {seed}{options}"


def main() -> None:
    """Run what is missing, and print all rows."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--json", action="store_true", help="print the rows as JSON")
    parser.add_argument("--case", default="connect_four", choices=list(CASES))
    parser.add_argument("--by", default="alphazero,ppo", help="algorithms, separated by commas")
    parser.add_argument("--minutes", type=float, help="minutes of each run; default: the case's own")
    parser.add_argument("--seeds", default="1,2,3")
    parser.add_argument("--positions", type=int, default=POSITIONS, help="positions that the solver judges")
    parser.add_argument("--pairs", type=int, default=PAIRS, help="pairs of games against the bot")
    parser.add_argument("--model", help="the model of alphazero, as JSON")
    parser.add_argument("--algorithm", help="other options of alphazero, as JSON")
    parser.add_argument("--generation", help="other options of the case, as JSON: steps, tables, openings")
    parser.add_argument("--file", type=Path, default=RESULTS)
    given = parser.parse_args()
    torch.set_num_threads(1)
    rows: dict[str, Any] = json.loads(given.file.read_text()) if given.file.exists() else {}
    minutes = given.minutes or CASES[given.case].minutes
    for seed in map(int, given.seeds.split(",")):
        for by in given.by.split(","):
            key = _key(given, by, minutes, seed)
            if key in rows:
                continue
            say(key)
            rows[key] = run(given.case, by, minutes, seed, given)
            given.file.write_text(json.dumps(rows, indent=1) + "\n")
    print(json.dumps(rows) if given.json else json.dumps(rows, indent=1))


if __name__ == "__main__":
    main()
