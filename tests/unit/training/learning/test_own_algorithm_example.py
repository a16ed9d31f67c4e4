"""The example of one's own algorithm runs as a user has it, and learns."""

from dataclasses import replace
from pathlib import Path

import pytest

from orchestrator.contracts.generations import GenerationTask
from orchestrator.spec.reading.loading import load_trial_file
from orchestrator.storage.artifacts import ArtifactStore
from tests.unit.training.learning.test_exact_resume import DQN, new_process
from workers.algorithms.contract import parse_options
from workers.algorithms.errors import BadAlgorithm

EXAMPLES = Path(__file__).parents[4] / "examples"


def test_dqn_learns_to_balance_the_pole(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.syspath_prepend(EXAMPLES)
    trial = load_trial_file(EXAMPLES / "own_algorithm.yaml")
    task = GenerationTask(
        game=trial.game.component,
        model=trial.model.component,
        algorithm=trial.algorithm.component,
        steps=5000,
        seed=1000,
        tables=trial.generation.tables,
        player="main",
    )
    actor = new_process(task, ArtifactStore(str(tmp_path)))
    ref, returns = None, []
    for number in range(3):
        actor.prepare(replace(task, seed=1000 + number, checkpoint=ref), ref is None)
        report = actor.advance(5000 // (8 * task.tables))
        counts = actor.counts()
        returns.append(counts.returns / counts.games)
        ref = actor.save(report.steps, [actor.store_buffer()])
    assert returns[0] < 40 and returns[-1] > 80  # a random policy balances for about 22 steps


def test_the_example_is_short() -> None:
    assert len((EXAMPLES / "own_algorithm.py").read_text().splitlines()) <= 80


def test_its_options_are_checked_like_built_in_ones() -> None:
    wrong = replace(DQN.algorithm, options={"target_rate": 2.0, "explor_steps": 1})
    with pytest.raises(BadAlgorithm, match=r"target_rate: must be less.*explor_steps: no such option"):
        parse_options(wrong)
