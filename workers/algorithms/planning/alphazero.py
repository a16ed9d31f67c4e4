"""AlphaZero (Silver et al. 2018): the network learns a tree search's improved policy and the games' outcomes."""

from __future__ import annotations

from collections.abc import Mapping
from typing import ClassVar

import torch
from gymnasium import spaces
from torch import Tensor, nn

from orchestrator.spec.algorithms.planning import AlphaZeroOptions
from workers.algorithms.contract import Algorithm, MakeGame, Metrics, NetFactory
from workers.algorithms.errors import BadAlgorithm
from workers.algorithms.learner import POLICY, Learner
from workers.buffers.contract import Batch, Buffer, Draw
from workers.buffers.replay import NEXT, Replay
from workers.games.protocol import GameSpec
from workers.inference.actor import Actor
from workers.models.contract import run_model
from workers.search.actor import POLICY_TARGET, VALUE, SearchActor
from workers.search.rules import SearchRules


class SearchReplay(Replay):
    """A replay whose draws have the search's value of the position at which the summed rewards end."""

    next_columns: ClassVar[tuple[str, ...]] = (*NEXT, VALUE)


class BoardLearner(Learner):
    """A learner that knows its game's mirror: it is kept while algorithm objects come and go."""

    mirrored: Tensor
    """What each action becomes in the mirror; empty where the game has none."""


class AlphaZero(Algorithm):
    """Self-play by search; the network learns the improved policy and the outcome (Silver et al. 2018).

    loss = - sum_a pi'(a) log p(a) + c_v (v - z)^2. pi' is the improved policy of the search: of `gumbel` the softmax of
    logits + sigma(completed q) (Danihelka et al. 2022), of `puct` the shares of the visits. z = (1 - s) R + s q, with R
    what the seat earned to the end of the game (or over `n_step` decisions, and then the search's value) and q the
    search's value of the position itself.

    The learner searches in its own rollouts alone. Versions of it play by the network, as all versions do; where a
    match says `search`, they search too.
    """

    Options = AlphaZeroOptions
    options: AlphaZeroOptions
    actions = (spaces.Discrete,)
    recurrent = False
    replay_class = SearchReplay

    def check(self, spec: GameSpec) -> None:
        super().check(spec)
        if spec.simultaneous or spec.hidden_information:
            raise BadAlgorithm("it learns games in which seats move in turn and see everything; mmd learns others")

    @property
    def rules(self) -> SearchRules:
        """How the learner searches in its rollouts."""
        given = self.options
        return SearchRules(
            simulations=given.simulations,
            method=given.method,
            considered=given.considered,
            value_scale=given.value_scale,
            exploration=given.exploration,
            noise_share=given.noise_share,
            discount=given.gamma,
        )

    def build(self, spec: GameSpec, net: NetFactory) -> Learner:
        learner = BoardLearner(net(POLICY))
        learner.mirrored = torch.tensor(spec.mirrored, dtype=torch.int64)
        learner.optimiser(learning_rate=self.options.learning_rate, gradient_clip=self.options.gradient_clip)
        return learner

    def explorer(self, nets: Mapping[str, nn.Module], make: MakeGame) -> Actor:
        return SearchActor(self.actor(nets), make, self.rules, self.options.precision)

    def _step_on(self, drawn: Draw, learner: Learner, buffer: Buffer) -> Metrics:
        batch = drawn.tensors(learner.device)
        if self.options.mirror and isinstance(learner, BoardLearner) and len(learner.mirrored):
            # rows are drawn in random order: every second one is a random half
            turned = torch.arange(len(drawn), device=learner.device) % 2 == 0
            batch = mirror(batch, turned, learner.mirrored.to(learner.device))
        with learner.autocast():
            losses = self.losses(batch, learner.nets[POLICY])
        learner.descend(losses["loss"].float())
        return {name: float(loss.detach()) for name, loss in losses.items()}

    def losses(self, batch: Batch, model: nn.Module) -> dict[str, Tensor]:
        """The loss and its parts, means over the rows."""
        logits, values, _ = run_model(model, batch.obs, batch.legal)
        log_probs = torch.log_softmax(logits.float(), 1)
        target = batch[POLICY_TARGET]
        policy_loss = -(target * log_probs).sum(1).mean()
        least = -(target * target.clamp_min(1e-30).log()).sum(1).mean()
        outcome = batch["reward"] + batch["discount"] * batch[f"next/{VALUE}"]
        wanted = torch.lerp(outcome, batch[VALUE], self.options.search_value_share)
        value_loss = (values.float() - wanted).square().mean()
        return {
            "loss": policy_loss + self.options.value_weight * value_loss,
            "policy_loss": policy_loss,
            "value_loss": value_loss,
            "divergence": policy_loss - least,
        }

    def loss(self, batch: Batch, nets: Mapping[str, nn.Module]) -> Tensor:
        return self.losses(batch, nets[POLICY])["loss"]


def mirror(batch: Batch, turned: Tensor, mirrored: Tensor) -> Batch:
    """The batch with some rows seen in a mirror: observations, legal actions and the improved policy."""

    def chosen(column: Tensor, other: Tensor) -> Tensor:
        return torch.where(turned.reshape(-1, *[1] * (column.dim() - 1)), other, column)

    found = Batch(batch)
    found["obs"] = chosen(batch["obs"], batch["obs"].flip(-1))
    for name in ("legal", POLICY_TARGET):
        if name in batch:
            found[name] = chosen(batch[name], batch[name][:, mirrored])
    return found
