"""A league in one process decides as the store does: the same opponents, snapshots, resets and checkpoints."""

from __future__ import annotations

from dataclasses import replace
from typing import Any

import pytest

from api.schemas.enums import VersionOrigin
from lanista.training.run import train
from league.types import DecisionKind, Role
from orchestrator.contracts.generations import GenerationPlan, GenerationReport, GenerationTask, PlannedOpponent
from orchestrator.contracts.trials import EnterPlayers, InitialWeightsRequest, TrialBrief, TrialRequest
from tests.integration.league_store.driver import EXPLOITER, MAIN, RANDOM, League, Store
from workers.crews.local_generation import LocalCrews
from workers.initial_weights import initial_weights

LEAGUE_EXPLOITER = {"name": "league-exploiter", "role": "league_exploiter"}
DQN = {"name": "second", "role": "main", "algorithm": {"id": "vtrace", "rollout_steps": 8}}
STEPS = 1_024
# a level near chance, so that members copy though they differ little
POPULATION = {
    "name": "main",
    "population": {
        "size": 3,
        "every_generations": 1,
        "exploit": {"by": "win_rate", "level": 0.45, "min_games": 5, "method": "binary_tournament"},
        "explore": {"learning_rate": {"initial": [1e-4, 1e-2], "perturb": [0.8, 1.25]}},
    },
}


def trial_file(preset: str, players: list[dict[str, Any]], **league: Any) -> dict[str, Any]:
    rules = {"snapshot": {"min_steps": 2 * STEPS, "max_steps": 2 * STEPS, "win_rate": 1.0}} | league
    return {
        "game": {"id": "tic_tac_toe"},
        "model": {"id": "mlp", "hidden": [8]},
        "algorithm": {"id": "ppo", "rollout_steps": 8, "minibatch": 128},
        "seed": 7,
        "league": {"preset": preset, "players": players, **rules},
        "generation": {"steps": STEPS, "tables": 64},
        "evaluation": {"every_generations": 1000},
        "budget": {"steps": 1_000_000},
    }


def found(store: Store, file: dict[str, Any]) -> League:
    """A trial in the store with the weights that a worker makes for it."""
    league = store.create(file)
    brief: TrialBrief = store("begin_trial", TrialRequest(trial=league.trial))
    common = {"trial": brief.trial, "game": brief.game, "seed": brief.seed, "gated": brief.gated}
    shared = InitialWeightsRequest(model=brief.model, algorithm=brief.algorithm, **common)
    own = {
        player: initial_weights(
            store.artifacts, InitialWeightsRequest(model=start.model, algorithm=start.algorithm, **common)
        )
        for start in brief.own_starts
        for player in start.players
    }
    entry = EnterPlayers(trial=league.trial, initial=initial_weights(store.artifacts, shared), own=own)
    store("enter_players", entry)
    return league


def plain(task: GenerationTask, names: dict[str, str]) -> GenerationTask:
    """A plan or task without ids and without what only the store has."""

    def named(opponent: PlannedOpponent) -> PlannedOpponent:
        player = names.get(opponent.player, opponent.player)
        checkpoint = opponent.checkpoint and replace(opponent.checkpoint, uri="")
        return replace(opponent, player=player, version="", checkpoint=checkpoint)

    fields = {name: getattr(task, name) for name in GenerationTask.__dataclass_fields__}
    assert task.checkpoint is not None
    changed = {
        "player": names.get(task.player, task.player),
        "version": "",
        "checkpoint": replace(task.checkpoint, uri=""),
        "opponents": tuple(map(named, task.opponents)),
        "mates": tuple(map(named, task.mates)),
    }
    return GenerationTask(**fields | changed)


@pytest.mark.parametrize(
    ("file", "rounds"),
    [
        (trial_file("alphastar", [MAIN, EXPLOITER, LEAGUE_EXPLOITER, RANDOM], reset={"league_exploiter": 0.5}), 5),
        (trial_file("pfsp", [MAIN, RANDOM], payoff={"inherit": True}), 6),
        (trial_file("openai_five", [MAIN, DQN]), 4),
        (trial_file("self_play", [MAIN]), 2),
        (trial_file("fictitious", [POPULATION, RANDOM], matchmaking={"include_bots": True}), 5),
    ],
    ids=["alphastar", "pfsp", "openai_five", "self_play", "population"],
)
def test_one_process_and_the_store_decide_alike(store: Store, file: dict[str, Any], rounds: int) -> None:
    league, crews = found(store, file), LocalCrews(store.artifacts)
    run = train(file, games=0, generations=1_000)
    here = iter(run)
    for _ in range(rounds):
        for name in run.players:
            planned = run.league.plan(run.league.players[name])
            plan: GenerationPlan = league.plan(name)
            names = {league.player(each).id: each for each in league.names()}
            assert plain(plan, names) == plain(planned.task, {})
            outcome = crews.run_generation(plan, progress=lambda _: None)
            key = {"trial": plan.trial, "player": plan.player, "generation": plan.generation}
            store("record_generation", GenerationReport(outcome=outcome, **key))
            judged = store("judge_generation", league.key(name, plan.generation))
            generation = next(here)
            assert generation.player == name
            assert generation.checkpoint.sha256 == outcome.checkpoint.sha256
            assert generation.reset == judged.reset
            assert (generation.copied is not None) == (league.versions(name)[-1].origin is VersionOrigin.COPY)
            frozen = None if generation.snapshot is None else league.player(generation.snapshot).id
            assert frozen == judged.snapshot
    assert list(run.league.players) == league.names()
    if rounds > 2:
        assert any(player.role is Role.HISTORICAL for player in run.league.players.values())
        assert league.decisions(DecisionKind.RESET)
    if any(player.population is not None for player in run.league.learners):
        assert any(generation.copied is not None for generation in run.generations)
