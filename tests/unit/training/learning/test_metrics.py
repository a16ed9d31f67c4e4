"""Metrics of an update are means over all its minibatches, those of a generation over all updates and processes."""

import pytest
import torch

from orchestrator.spec.algorithms.actor_critic import PpoOptions, VtraceOptions
from tests.unit.training.samples import learner_of, random_batch, updated
from workers.algorithms.actor_critic.ppo import Ppo
from workers.algorithms.actor_critic.vtrace import Vtrace
from workers.algorithms.contract import Algorithm
from workers.algorithms.learner import Learner
from workers.algorithms.metrics import MetricMeans
from workers.algorithms.targets.gae import gae
from workers.models.mlp import Mlp


def still_learner() -> Learner:
    torch.manual_seed(3)
    model = Mlp(observation_shape=(6,), actions=5, hidden=[8])
    with torch.no_grad():
        model.heads.weight *= 100.0
    return learner_of(model, PpoOptions(learning_rate=1e-30))


def expected(model: Mlp) -> dict[str, float]:
    """Entropy, KL and the value error over all trainable rows at once."""
    batch = random_batch()
    rows = torch.from_numpy(batch.trainable)
    with torch.no_grad():
        logits, values = model(torch.from_numpy(batch.observations)[rows], torch.from_numpy(batch.legal)[rows])
    policy = torch.distributions.Categorical(logits=logits)
    shift = policy.log_prob(torch.from_numpy(batch.actions)[rows]) - torch.from_numpy(batch.log_probs)[rows]
    returns = torch.from_numpy(gae(batch, 1.0, 0.95).returns)[rows]
    return {
        "entropy": float(policy.entropy().mean()),
        "kl": float((shift.exp() - 1 - shift).mean()),
        "value_loss": float((values - returns).square().mean()),
    }


@pytest.mark.parametrize(
    ("algorithm", "names"),
    [
        (Ppo(PpoOptions(minibatch=10, target_kl=0.0), 48), 3),
        (Vtrace(VtraceOptions(minibatch=10, epochs=2), 48), 2),
    ],
    ids=["ppo", "vtrace"],
)
def test_an_updates_metrics_are_means_over_all_rows(algorithm: Algorithm, names: int) -> None:
    """With a learning rate of almost 0 every minibatch sees the same policy, so the mean is that of the whole batch."""
    learner = still_learner()
    metrics = updated(algorithm, learner, random_batch())
    assert isinstance(learner.model, Mlp)
    wanted = dict(list(expected(learner.model).items())[:names])
    assert {name: metrics[name] for name in wanted} == pytest.approx(wanted, rel=1e-4)
    assert metrics["rows"] == len(random_batch().trainable)


def test_updates_count_by_their_rows_and_counts_add_up() -> None:
    mine, theirs = MetricMeans(), MetricMeans()
    mine.add({"entropy": 1.0, "rows": 30.0}, 30, {"rows"})
    mine.add({"entropy": 2.0, "rows": 10.0}, 10, {"rows"})
    theirs.add({"entropy": 3.0, "rows": 40.0, "other": 5.0}, 40, {"rows"})
    theirs.add({"entropy": 99.0, "rows": 0.0}, 0, {"rows"})
    mine.merge(theirs)
    assert mine.values() == {"entropy": (30 * 1.0 + 10 * 2.0 + 40 * 3.0) / 80, "rows": 80.0, "other": 5.0}
