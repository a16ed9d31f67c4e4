"""Runs one case here: generations of a warm crew, each judged by greedy games that the clock does not count."""

from __future__ import annotations

import tempfile
import time
from contextlib import closing
from dataclasses import replace

from benchmarks.algorithms.cases import GAMES, Case
from benchmarks.algorithms.rows import Key, Point, Row, settings_key
from benchmarks.peers.rates import say
from league.types import CheckpointRef, VersionId
from orchestrator.catalog import Component
from orchestrator.contracts.generations import GenerationOutcome, GenerationTask
from orchestrator.storage.artifacts import ArtifactStore
from workers.algorithms.contract import parse_options
from workers.crews.generation import run_generation
from workers.crews.pool import CrewPool
from workers.matches.play import play_match
from workers.matches.task import Entrant, MatchTask, Randomness


def run(case: Case, seed: int) -> Row:
    """Train until the target or the last step; Ray must be initialised."""
    algorithm = _algorithm(case)
    task = GenerationTask(
        game=case.game,
        model=case.model,
        algorithm=algorithm,
        steps=case.evaluate_every,
        seed=0,
        tables=case.tables,
        player="player",
    )
    curve: list[Point] = []
    with tempfile.TemporaryDirectory() as folder:
        store = ArtifactStore(folder)
        with closing(CrewPool(store)) as crews:
            _run(replace(task, steps=1, player="warm-up"), store, crews)
            learner: CheckpointRef | None = None
            steps, seconds = 0, 0.0
            while steps < case.most_steps:
                now = replace(task, checkpoint=learner, seed=seed * 1_000_003 + len(curve))
                begun = time.perf_counter()
                done = _run(now, store, crews)
                seconds += time.perf_counter() - begun
                steps, learner = steps + done.steps, done.checkpoint
                curve.append(Point(steps, seconds, judge(case, learner, store, seed)))
                say(f"  {case.algorithm} seed {seed}: {steps:,} steps, {seconds:.1f} s, return {curve[-1].value:.1f}")
                if curve[-1].value >= case.target:
                    break
    return Row.of(key(case, seed), curve)


NEWER = {"learning_rate_steps": 0, "learning_rate_left": 0.0}
"""Options that older rows do not know, with the values by which nothing has changed."""


def key(case: Case, seed: int) -> Key:
    """The key of this run: every option of the algorithm counts, defaults too."""
    options = _algorithm(case).options.items()
    settings = {
        "algorithm": {name: value for name, value in options if name not in NEWER or value != NEWER[name]},
        "model": {"id": case.model.id, **case.model.options},
        "game": dict(case.game.options),
        "tables": case.tables,
        "evaluate_every": case.evaluate_every,
        "most_steps": case.most_steps,
        "games": GAMES,
    }
    return Key(case.algorithm, "lanista", case.env, case.target, seed, settings_key(settings))


def _algorithm(case: Case) -> Component:
    given = Component(id=case.algorithm, options=dict(case.options))
    return Component(id=case.algorithm, options=parse_options(given).model_dump(mode="json"))


def judge(case: Case, checkpoint: CheckpointRef, store: ArtifactStore, seed: int) -> float:
    """The mean return of greedy games."""
    entrants = (Entrant(id=VersionId("learner"), checkpoint=checkpoint),)
    greedy = Randomness(sampled=False)
    task = MatchTask(game=case.game, entrants=entrants, pairs=GAMES, seed=10_000 + seed, randomness=greedy)
    mean = play_match(task, store=store).mean_return()
    assert mean is not None
    return mean


def _run(task: GenerationTask, store: ArtifactStore, crews: CrewPool) -> GenerationOutcome:
    return run_generation(task, store=store, progress=lambda _: None, should_stop=lambda: False, crews=crews)
