"""VDN and QMIX: their losses against a slow reference, and what each can represent."""

from dataclasses import replace
from pathlib import Path

import numpy as np
import pytest
import torch
from torch import Tensor, nn

from league.types import VersionId
from orchestrator.catalog import Component
from orchestrator.contracts.generations import PlannedOpponent
from orchestrator.storage.artifacts import ArtifactStore
from tests.unit.algorithms.cooperative.teams import TWO_STEP, drawn, made, task, team_spec
from tests.unit.training.learning.test_exact_resume import new_process
from workers.algorithms.contract import Algorithm, make_algorithm
from workers.algorithms.cooperative.qmix import Mixer
from workers.algorithms.cooperative.seats import Seats
from workers.algorithms.learner import Learner
from workers.buffers.joint import JointReplay
from workers.matches.play import play_match
from workers.matches.task import Entrant, MatchTask

SPECS = [team_spec(), team_spec((0, 1, 0, 1)), team_spec(state=None)]


def seat_values(nets: dict[str, nn.Module], prefix: str, seen: Tensor, legal: Tensor, mate: int) -> Tensor:
    """One mate's values of its actions, one row at a time."""
    seats = nets[f"{prefix}seats"]
    assert isinstance(seats, Seats)
    name = f"{prefix}policy" if seats.networks == 1 or not mate else f"{prefix}policy_{mate}"
    shift = 0.0 if seats.embedding is None else seats.embedding[mate]
    outputs, _ = nets[name]((seen + shift).unsqueeze(0), legal.unsqueeze(0))
    return outputs[0]


def mixed(nets: dict[str, nn.Module], prefix: str, values: list[Tensor], state: Tensor) -> Tensor:
    """Q_tot as the papers write it, of one row."""
    if f"{prefix}mixer" not in nets:
        return torch.stack(values).sum()
    mixer = nets[f"{prefix}mixer"]
    assert isinstance(mixer, Mixer)
    weights = mixer.first(state).abs().reshape(len(values), -1)
    hidden = mixer.first_bias(state)
    for value, row in zip(values, weights, strict=True):
        hidden = hidden + value * row
    hidden = torch.where(hidden > 0, hidden, hidden.exp() - 1)
    return hidden @ mixer.second(state).abs() + mixer.second_bias(state)[0]


def slow_losses(algorithm: Algorithm, learner: Learner, spec_index: int) -> list[Tensor]:
    spec, nets = SPECS[spec_index], learner.all_nets()
    batch = drawn(spec)
    found = []
    for row in range(len(batch["reward"])):
        taken, chosen = [], []
        for mate in range(batch["present"].shape[1]):
            there = batch["present"][row, mate].float()
            q = seat_values(nets, "", batch["obs"][row, mate], batch["legal"][row, mate], mate)
            taken.append(there * q[batch["action"][row, mate]])
            after = batch["next/obs"][row, mate], batch["next/legal"][row, mate], mate
            best = seat_values(nets, "", *after).argmax()
            chosen.append(there * seat_values(nets, "lagged/", *after)[best])
        if spec.state is None:
            states = [batch[name][row].flatten() for name in ("obs", "next/obs")]
        else:
            team = torch.eye(spec.team_count)[batch["team"][row]] if spec.team_count > 1 else torch.zeros(0)
            states = [torch.cat([batch[name][row], team]) for name in ("global", "next/global")]
        after_value = mixed(nets, "lagged/", chosen, states[1])
        target = batch["reward"][row] + batch["discount"][row] * after_value
        found.append((mixed(nets, "", taken, states[0]) - target) ** 2)
    return found


@pytest.mark.parametrize("spec_index", range(len(SPECS)))
@pytest.mark.parametrize("options", [{}, {"share": False}, {"seat_ids": False}], ids=str)
@pytest.mark.parametrize("id", ["vdn", "qmix"])
def test_the_loss_is_the_papers(id: str, options: dict[str, bool], spec_index: int) -> None:
    spec = SPECS[spec_index]
    algorithm, learner = made(id, spec, **options)
    loss = algorithm.loss(drawn(spec), learner.all_nets())
    torch.testing.assert_close(loss, torch.stack(slow_losses(algorithm, learner, spec_index)), rtol=1e-5, atol=1e-5)


@pytest.mark.parametrize("id", ["vdn", "qmix"])
def test_exploration_falls_by_the_options_of_dqn(id: str) -> None:
    given = {"explore_start": 0.8, "explore_least": 0.2, "explore_steps": 100}
    team, alone = (make_algorithm(Component(id=name, options=given)) for name in (id, "dqn"))
    assert [team.explore(steps) for steps in (0, 50, 200)] == pytest.approx([0.8, 0.5, 0.2])
    assert [team.explore(steps) for steps in range(0, 120, 7)] == [alone.explore(steps) for steps in range(0, 120, 7)]
    slower = make_algorithm(Component(id=id, options={**given, "explore_schedule": "exponential"}))
    assert slower.explore(50) == pytest.approx(0.4)
    assert isinstance(team.buffer(SPECS[0]), JointReplay)


def test_the_teams_value_never_falls_with_a_mates() -> None:
    _, learner = made("qmix", team_spec())
    mixer = learner.nets["mixer"]
    values = torch.randn(50, 2, requires_grad=True)
    mixer(values, torch.randn(50, 4)).sum().backward()
    assert values.grad is not None and bool((values.grad >= 0).all()) and bool((values.grad > 0).any())


@pytest.mark.parametrize(("id", "reached"), [("vdn", 7.0), ("qmix", 8.0)])
def test_the_two_step_game_shows_what_a_sum_cannot_represent(id: str, reached: float, tmp_path: Path) -> None:
    """Explored at random, as in the QMIX paper: VDN settles on the certain 7, QMIX finds the 8."""
    store = ArtifactStore(str(tmp_path))
    options = {"explore_least": 1.0, "learning_rate": 0.005, "target_every": 20, "warm_up": 100, "replay_ratio": 8.0}
    given = task(Component(id=id, options=options), tables=32)
    actor = new_process(given, store)
    actor.prepare(given, True)
    report = actor.advance(100)
    ref = actor.save(report.steps, [actor.store_buffer()])
    entrant = Entrant(id=VersionId("team"), checkpoint=ref)
    result = play_match(MatchTask(game=TWO_STEP, entrants=(entrant,), pairs=2, seed=1), store=store)
    assert result.mean_return() == reached


def test_a_team_meets_another_in_soccer(tmp_path: Path) -> None:
    """Rows have the learner's own team alone; a past version is an opponent and plays matches."""
    store = ArtifactStore(str(tmp_path))
    soccer = Component(id="soccer")
    options = {"warm_up": 64, "minibatch": 32, "rollout_steps": 8, "share": False}
    given = task(Component(id="qmix", options=options), soccer)
    actor = new_process(given, store)
    actor.prepare(given, True)
    first = actor.save(actor.advance(2).steps, [actor.store_buffer()])
    past = PlannedOpponent(version="past", player="main", probability=1.0, checkpoint=first)
    actor.prepare(replace(given, seed=4, checkpoint=first, opponents=(past,)), True)
    report = actor.advance(2)
    assert np.isfinite(report.metrics.values()["loss"])
    joint = actor._training.buffer
    drawn_rows = joint.draw(8, np.random.default_rng(0))
    assert drawn_rows is not None and drawn_rows.columns["obs"].shape == (8, 2, 4, 5, 7)
    assert drawn_rows.columns["present"].all()
    entrants = (Entrant(id=VersionId("a"), checkpoint=first), Entrant(id=VersionId("b"), bot="random"))
    assert len(play_match(MatchTask(game=soccer, entrants=entrants, pairs=2, seed=1), store=store).games) == 4
