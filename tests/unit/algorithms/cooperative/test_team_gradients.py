"""COMA, MAPPO and ATOC: their gradients against the losses as the papers write them, one row at a time, by autograd."""

from typing import Any

import numpy as np
import pytest
import torch
from torch import Tensor

from tests.unit.algorithms.cooperative.teams import drawn, made, team_spec
from workers.algorithms.cooperative.atoc import Atoc
from workers.algorithms.cooperative.coma import ADVANTAGE, INPUTS, TARGET, Coma
from workers.algorithms.cooperative.critics import CounterfactualCritic, StateCritic
from workers.algorithms.cooperative.mappo import Mappo
from workers.algorithms.cooperative.seats import SeatNets
from workers.algorithms.cooperative.talk import Talk, TalkingNets
from workers.algorithms.learner import Learner
from workers.algorithms.targets.counterfactual import counterfactual_advantages
from workers.buffers.contract import Batch
from workers.rollout.batch import PENDING, TERMINAL, Experience

SPEC = team_spec((0, 1, 0, 1))
SHARING: list[dict[str, Any]] = [{}, {"share": False}]


def gradient_of(learner: Learner, loss: Tensor, optimiser: str = "policy") -> Tensor:
    learner.optimisers[optimiser].clear()
    loss.backward()  # type: ignore[no-untyped-call]
    learner.optimisers[optimiser].collect()
    return learner.optimisers[optimiser].gradient.clone()


def policy_gradient(learner: Learner, outputs: Any, gradients: Any) -> Tensor:
    learner.optimisers["policy"].clear()
    torch.autograd.backward(outputs, gradients)
    learner.optimisers["policy"].collect()
    return learner.optimisers["policy"].gradient.clone()


def one(batch: Batch, row: int) -> Batch:
    return Batch({name: column[row : row + 1] for name, column in batch.items()})


def test_the_baseline_is_what_other_actions_would_bring() -> None:
    values = torch.tensor([[1.0, 2.0, 4.0], [0.0, -1.0, 1.0]])
    probs = torch.tensor([[0.5, 0.25, 0.25], [0.0, 1.0, 0.0]])
    found = counterfactual_advantages(values, probs, torch.tensor([2, 1]))
    assert found.tolist() == [4.0 - (0.5 + 0.5 + 1.0), 0.0]


def test_the_critic_sees_the_others_actions_and_not_the_mates_own() -> None:
    _, learner = made("coma", SPEC)
    critic, batch = learner.nets["critic"], drawn(SPEC)
    assert isinstance(critic, CounterfactualCritic)
    before = critic(critic.inputs(batch))
    changed = Batch(batch)
    changed["action"] = batch["action"].clone()
    changed["action"][:, 0] = (batch["action"][:, 0] + 1) % 3
    after = critic(critic.inputs(changed))
    torch.testing.assert_close(after[:, 0], before[:, 0])
    assert bool((after[:, 1] != before[:, 1]).all())


@pytest.mark.parametrize("options", SHARING, ids=str)
def test_coma_follows_its_papers_gradient(options: dict[str, Any]) -> None:
    algorithm, learner = made("coma", SPEC, normalise_advantages=False, entropy=0.1, **options)
    assert isinstance(algorithm, Coma)
    batch, critic = drawn(SPEC), learner.nets["critic"]
    assert isinstance(critic, CounterfactualCritic)
    batch[INPUTS] = critic.inputs(batch)
    batch[ADVANTAGE] = algorithm.advantages(learner, batch, np.arange(6))
    found = policy_gradient(learner, *algorithm.gradients(learner, batch)[:2])
    loss, count = torch.zeros(()), batch["present"].sum()
    for row in range(6):
        logits, _ = SeatNets(learner.all_nets()).joint(one(batch, row).obs, one(batch, row).legal)
        for mate in range(2):
            if batch["present"][row, mate]:
                chances = torch.softmax(logits[0, mate], 0)
                q = critic(batch[INPUTS])[row, mate].detach()
                action = batch["action"][row, mate]
                advantage = q[action] - sum(chances[a].detach() * q[a] for a in range(3))
                legal = chances > 0
                entropy = -(chances[legal] * chances[legal].log()).sum()
                loss = loss - (advantage * chances[action].log() + 0.1 * entropy) / count
    torch.testing.assert_close(found, gradient_of(learner, loss), rtol=1e-4, atol=1e-6)


def test_comas_critic_learns_td_lambda_returns() -> None:
    algorithm, learner = made("coma", SPEC, gamma=0.9, td_lambda=0.7)
    assert isinstance(algorithm, Coma)
    batch = drawn(SPEC)
    critic = learner.nets["critic"]
    assert isinstance(critic, CounterfactualCritic)
    batch[INPUTS] = critic.inputs(batch)
    # two sequences: 0 -> 2 -> 4 which ends, and 1 -> 3 -> 5 which goes on
    joined = Experience(
        columns={"reward": batch["reward"].numpy()},
        next_row=np.array([2, 3, 4, 5, TERMINAL, PENDING]),
        offsets=np.array([0, 2, 4, 6]),
        streams=np.array([0, 1] * 3),
        acted_by=np.zeros(6, np.int64),
        tables=2,
    )
    values, returns = algorithm.targets(learner, joined, batch)
    lagged = learner.lagged("critic")(batch[INPUTS])
    for row in range(6):
        there = [m for m in range(2) if batch["present"][row, m]]
        assert values[row] == pytest.approx(
            np.mean([float(lagged[row, m, batch["action"][row, m]].detach()) for m in there]), abs=1e-5
        )
    reward = batch["reward"].tolist()
    assert returns[4] == pytest.approx(reward[4], abs=1e-5)
    assert returns[2] == pytest.approx(reward[2] + 0.9 * (0.3 * values[4] + 0.7 * returns[4]), abs=1e-5)
    assert returns[0] == pytest.approx(reward[0] + 0.9 * (0.3 * values[2] + 0.7 * returns[2]), abs=1e-5)
    assert returns[3] == pytest.approx(reward[3] + 0.9 * values[5], abs=1e-5)
    batch[TARGET] = torch.from_numpy(returns)
    slow = [
        (critic(batch[INPUTS])[r, m, batch["action"][r, m]] - returns[r]) ** 2
        for r in range(6)
        for m in range(2)
        if batch["present"][r, m]
    ]
    torch.testing.assert_close(algorithm.critic_loss(learner, batch), torch.stack(slow).mean())


@pytest.mark.parametrize("options", SHARING, ids=str)
def test_mappo_follows_ppos_loss_with_one_advantage_for_all_mates(options: dict[str, Any]) -> None:
    algorithm, learner = made("mappo", SPEC, entropy=0.1, value_clip=0.0, **options)
    assert isinstance(algorithm, Mappo)
    batch, critic = drawn(SPEC), learner.nets["critic"]
    assert isinstance(critic, StateCritic)
    batch["central"] = critic.central(batch)
    logits, _ = SeatNets(learner.all_nets()).joint(batch.obs, batch.legal)
    now = torch.log_softmax(logits.detach(), 2).gather(2, batch["action"].unsqueeze(2)).squeeze(2)
    generator = torch.Generator().manual_seed(1)
    batch["log_prob"] = now + 0.3 * torch.randn(now.shape, generator=generator)
    batch["advantage"], batch["return"] = (torch.randn(6, generator=generator) for _ in range(2))
    batch["value"] = torch.zeros(6)
    found = policy_gradient(learner, *algorithm.gradients(learner, batch, 2.0)[:2])
    loss, count = torch.zeros(()), batch["present"].sum()
    clipped = 0
    for row in range(6):
        part = one(batch, row)
        logits, _ = SeatNets(learner.all_nets()).joint(part.obs, part.legal)
        value = critic(torch.cat([part["global"][0], torch.eye(2)[part["team"][0]]]).unsqueeze(0))[0]
        loss = loss + 0.5 * 0.5 * (value - part["return"][0]) ** 2 / (6 * 2.0**2)
        for mate in range(2):
            if part["present"][0, mate]:
                chances = torch.softmax(logits[0, mate], 0)
                ratio = chances[part["action"][0, mate]] / part["log_prob"][0, mate].exp()
                gain = part["advantage"][0]
                bounded = ratio.clamp(0.8, 1.2)
                clipped += bool(bounded * gain < ratio * gain)
                legal = chances > 0
                entropy = -(chances[legal] * chances[legal].log()).sum()
                loss = loss - (torch.minimum(ratio * gain, bounded * gain) + 0.1 * entropy) / count
    assert 0 < clipped < int(count)
    torch.testing.assert_close(found, gradient_of(learner, loss), rtol=1e-4, atol=1e-6)


def slow_talk(talk: Talk, thoughts: list[Tensor], calls: list[bool], present: list[bool]) -> list[Tensor]:
    """What talking adds to the logits of the mates of one table, group by group."""
    thoughts = [h if there else torch.zeros_like(h) for h, there in zip(thoughts, present, strict=True)]
    heard = [False] * len(thoughts)
    for caller, members in enumerate(talk.groups):
        if calls[caller] and present[caller]:
            passed = talk.merge(talk.channel(torch.stack([thoughts[m] for m in members]).unsqueeze(0))[0])[0]
            for place, member in enumerate(members):
                if present[member]:
                    thoughts[member], heard[member] = passed[place], True
    return [talk.head(h) if got else torch.zeros(3) for h, got in zip(thoughts, heard, strict=True)]


def test_groups_talk_one_after_the_other() -> None:
    spec = team_spec((0, 0, 0, 0))
    _, learner = made("atoc", spec, thought=6, group_size=2)
    talk, batch = learner.nets["talk"], drawn(spec)
    assert isinstance(talk, Talk) and talk.groups == [[0, 1], [1, 2], [2, 3], [0, 3]]
    thoughts, _ = talk.think(batch.obs)
    calls = torch.rand(6, 4, generator=torch.Generator().manual_seed(2)) < 0.5
    found = talk(thoughts, calls, batch["present"])
    for row in range(6):
        slow = slow_talk(talk, list(thoughts[row]), calls[row].tolist(), batch["present"][row].tolist())
        torch.testing.assert_close(found[row], torch.stack(slow), rtol=1e-5, atol=1e-6)


def test_atocs_attention_learns_where_the_critic_sees_a_gain() -> None:
    algorithm, learner = made("atoc", SPEC, thought=6, attention_weight=0.5, normalise_advantages=False)
    assert isinstance(algorithm, Atoc)
    batch, critic, talk = drawn(SPEC), learner.nets["critic"], learner.nets["talk"]
    assert isinstance(critic, CounterfactualCritic) and isinstance(talk, Talk)
    batch[INPUTS] = critic.inputs(batch)
    batch[ADVANTAGE] = algorithm.advantages(learner, batch, np.arange(6))
    outputs, gradients, _ = algorithm.gradients(learner, batch)
    found = policy_gradient(learner, outputs[1], gradients[1])
    thoughts, attention = talk.think(batch.obs)
    quiet, _ = SeatNets(learner.all_nets()).joint(batch.obs, batch.legal)
    q = critic(batch[INPUTS]).detach()
    gains = torch.zeros(6, 2)
    for row in range(6):
        present = batch["present"][row].tolist()
        for mate in range(2):
            calls = [other == mate for other in range(2)]
            said = slow_talk(talk, list(thoughts[row].detach()), calls, present)
            members = [member for member in talk.groups[mate] if present[member]]
            total = torch.zeros(())
            for member in members:
                change = torch.softmax(quiet[row, member] + said[member], 0) - torch.softmax(quiet[row, member], 0)
                total = total + change.detach() @ q[row, member]
            gains[row, mate] = total / max(1, len(members))
    torch.testing.assert_close(
        algorithm.gains(learner, TalkingNets(learner.all_nets()), batch), gains, rtol=1e-4, atol=1e-5
    )
    weights = gains.abs() * batch["present"]
    chance = torch.sigmoid(attention)
    log_loss = -torch.where(gains > 0, chance, 1 - chance).log()
    slow = gradient_of(learner, 0.5 * (weights / weights.sum() * log_loss).sum())
    torch.testing.assert_close(found, slow, rtol=1e-4, atol=1e-6)
    assert bool((gains > 0).any()) and bool((gains < 0).any())
