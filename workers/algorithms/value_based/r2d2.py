"""Recurrent replay distributed DQN (R2D2), Kapturowski et al. 2019."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

import numpy as np
import torch
from torch import Tensor, nn

from orchestrator.spec.algorithms.value_based import R2d2Options
from workers.algorithms.contract import Metrics, NetFactory
from workers.algorithms.errors import BadAlgorithm
from workers.algorithms.learner import POLICY, Learner
from workers.algorithms.targets.n_step import rescaled_n_step
from workers.algorithms.value_based.heads import action_values, best_actions
from workers.algorithms.value_based.learning import Exploring, summary
from workers.algorithms.value_based.unrolling import each, followed, unroll
from workers.buffers.contract import Batch, Buffer
from workers.buffers.sequences import PrioritisedSequences, Sequences
from workers.games.protocol import GameSpec
from workers.inference.actor import STATE
from workers.models.contract import state_size


class R2d2(Exploring):
    """Learns h(Q(s, a)) of a recurrent network along sequences, from the state that was stored when they were played.

    target_t = h(sum_k<n gamma^k r_(t+k) + gamma^n h^-1(Q'(s_(t+n), argmax Q(s_(t+n), .)))), with the target network Q'
    and h(x) = sign(x) (sqrt(|x| + 1) - 1) + x / 1000. The first `burn_in` decisions bring the state up to date. A
    sequence's priority is eta max |error| + (1 - eta) mean |error|.
    """

    Options = R2d2Options
    options: R2d2Options

    def network(self, spec: GameSpec, net: NetFactory) -> nn.Module:
        found = net(POLICY)
        if not state_size(found):
            raise BadAlgorithm("it needs a recurrent model, such as gru; dqn learns with any other")
        return found

    def buffer(self, spec: GameSpec) -> Buffer:
        given = self.options
        # targets of several steps are made along the sequences, not when they are drawn
        options = {**given.buffer_arguments, "n_step": 1, "length": given.length, "burn_in": given.burn_in}
        if not given.prioritised:
            return Sequences(**options)
        return PrioritisedSequences(alpha=given.priority_alpha, beta=given.priority_beta, **options)

    def update(self, learner: Learner, buffer: Buffer, rng: np.random.Generator) -> Iterator[Metrics]:
        sequences = max(1, round(self.options.minibatch / self.options.length / self.processes))
        measured: list[tuple[Tensor, Tensor]] = []
        for _ in range(self.gradient_steps):
            drawn = buffer.draw(sequences, rng)
            if drawn is None:
                learner.skip()
            else:
                batch = drawn.tensors(learner.device)
                with learner.autocast():
                    errors, values, mask = self.sequence_errors(learner, batch)
                learned = mask.sum().clamp(min=1.0)
                loss = (0.5 * errors.square() * mask * drawn.weight_tensor(learner.device)).sum() / learned
                learner.descend(loss)
                if self.options.prioritised:
                    buffer.feedback(drawn.ids, self._priorities(errors.detach(), mask).cpu().numpy())
                measured.append((loss.detach(), (values.detach() * mask).sum() / learned))
            yield {}
        yield summary(measured, sequences * self.options.length)

    def sequence_errors(self, learner: Learner, batch: Batch) -> tuple[Tensor, Tensor, Tensor]:
        """Errors, values of the actions taken, and 1 where a decision is to be learnt from; all [steps, sequences]."""
        legal = None if batch.legal is None or batch.next_legal is None else followed(batch.legal, batch.next_legal)
        shown, valid = followed(batch.obs, batch.next_obs), batch["valid"]
        now = self._unroll(learner.model, shown, legal, batch[STATE])
        with torch.no_grad():
            lagged = self._unroll(learner.lagged(), shown, legal, batch[STATE])
            best = best_actions(_flat(now[1:, :, :-1].detach()), _flat(None if legal is None else legal[1:]))
            later = self._values(lagged[1:], None if legal is None else legal[1:]).gather(1, best).view_as(valid)
            last = torch.cat([valid[1:] == 0, torch.ones_like(valid[:1], dtype=torch.bool)])
            wanted = rescaled_n_step(batch["reward"], batch["discount"], later, self.options.n_step, last)
        taken = batch["action"].reshape(-1, 1)
        values = self._values(now[:-1], None if legal is None else legal[:-1]).gather(1, taken).view_as(valid)
        # a sequence from the start of a game has the right state without a burn-in
        from_start = (batch[STATE] == 0).all(1)
        return values - wanted, values, torch.where(from_start, valid, batch["mask"])

    def _unroll(self, model: nn.Module, shown: Any, legal: Tensor | None, state: Tensor) -> Tensor:
        """The network along the sequences; no gradient flows into the burn-in."""
        burn = self.options.burn_in
        if not burn:
            return unroll(model, shown, legal, state)[0]
        first, state = unroll(
            model, each(shown, lambda part: part[:burn]), None if legal is None else legal[:burn], state
        )
        rest, _ = unroll(
            model, each(shown, lambda part: part[burn:]), None if legal is None else legal[burn:], state.detach()
        )
        return torch.cat([first, rest])

    def _values(self, out: Tensor, legal: Tensor | None) -> Tensor:
        return action_values(_flat(out), _flat(legal), self.options.dueling)

    def _priorities(self, errors: Tensor, mask: Tensor) -> Tensor:
        sizes = errors.abs() * mask
        mean = sizes.sum(0) / mask.sum(0).clamp(min=1.0)
        return torch.lerp(mean, sizes.max(0).values, self.options.priority_eta)


def _flat(part: Any) -> Any:
    """[steps, rows, ...] as [steps * rows, ...]."""
    return None if part is None else part.flatten(0, 1)
