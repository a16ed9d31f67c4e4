"""What algorithms that learn from a data set alone share: the buffer, the update, the measurements."""

from __future__ import annotations

from abc import abstractmethod
from collections import deque
from collections.abc import Callable, Iterator, Mapping
from concurrent.futures import ThreadPoolExecutor

import numpy as np
import torch
from torch import Tensor, nn

from orchestrator.spec.algorithms.imitation import OfflineOptions
from workers.algorithms.contract import Algorithm, Metrics
from workers.algorithms.imitation.likelihood import agreement
from workers.algorithms.learner import Learner
from workers.buffers.contract import Batch, Buffer, Draw
from workers.buffers.demonstrations import Demonstrations
from workers.games.protocol import GameSpec
from workers.models.contract import encode
from workers.models.encoding import Observed
from workers.models.normalised import Normalised

MOST_MEASURED = 65_536
"""Rows from which the moments of normalised networks are taken."""
Losses = dict[str, Tensor]
"""Means over a batch by name; `loss` is what is minimised."""


class Offline(Algorithm):
    """Takes gradient steps on rows of a data set; no game is played, and a generation's steps are rows learnt from."""

    plays = False
    recurrent = False
    equal_steps = True
    options: OfflineOptions

    def buffer(self, spec: GameSpec) -> Buffer:
        return Demonstrations(self.options, spec, gamma=self.options.gamma, folders=self.data_folders)

    @abstractmethod
    def losses(self, batch: Batch, nets: Mapping[str, nn.Module]) -> Losses:
        """The loss of rows of the data set, and what it consists of."""

    def loss(self, batch: Batch, nets: Mapping[str, nn.Module]) -> Tensor:
        return self.losses(batch, nets)["loss"]

    def update(self, learner: Learner, buffer: Buffer, rng: np.random.Generator) -> Iterator[Metrics]:
        rows = max(1, round(self.options.minibatch / self.processes))
        nets = learner.all_nets()
        assert isinstance(buffer, Demonstrations)
        self._normalise(learner, buffer)
        for drawn in drawn_ahead(buffer, rows, rng, count=self.gradient_steps, ahead=self.options.prefetch):
            with learner.autocast():
                losses = self.losses(drawn.tensors(learner.device), nets)
            learner.descend(losses["loss"].float())
            found = {name: float(loss.detach()) for name, loss in losses.items()}
            yield {**found, "rows": float(len(drawn)), **self._validated(learner, buffer, rng)}

    def observed(self, name: str, batch: Batch) -> Observed:
        """What the network of this name sees of a batch."""
        seen: Observed = batch.obs
        return seen

    def _normalise(self, learner: Learner, buffer: Demonstrations) -> None:
        """Take the moments of normalised networks from the data, once; the same rows in every process."""
        wrapped = {name: net for name, net in learner.nets.items() if isinstance(net, Normalised) and not net.rows}
        drawn = buffer.draw(min(len(buffer), MOST_MEASURED), np.random.default_rng(0)) if wrapped else None
        for name, net in wrapped.items():
            assert drawn is not None
            batch = drawn.tensors(learner.device)
            net.absorb(net.moments(encode(net, self.observed(name, batch))), len(drawn))

    def _validated(self, learner: Learner, buffer: Demonstrations, rng: np.random.Generator) -> Metrics:
        """The loss and the agreement on decisions that are not learnt from, every `validation_every` steps."""
        if learner.updates % self.options.validation_every:
            return {}
        rows = max(1, round(self.options.minibatch / self.processes))
        rows *= self.options.validation_batches
        return validated(learner, buffer, rows, rng, lambda batch: self.loss(batch, learner.all_nets()))


def drawn_ahead(
    buffer: Demonstrations, rows: int, rng: np.random.Generator, *, count: int, ahead: int
) -> Iterator[Draw]:
    """So many draws; with `ahead`, a thread prepares that many while the network learns from the one before.

    The thread has random numbers of its own, so that what is drawn does not depend on who is faster.
    """
    if not ahead:
        for _ in range(count):
            yield _draw(buffer, rows, rng)
        return
    own = np.random.default_rng(rng.integers(1 << 63))
    with ThreadPoolExecutor(1, "prefetch") as thread:
        waiting = deque(thread.submit(_draw, buffer, rows, own) for _ in range(min(ahead, count)))
        for number in range(count):
            drawn = waiting.popleft().result()
            if number + ahead < count:
                waiting.append(thread.submit(_draw, buffer, rows, own))
            yield drawn


def _draw(buffer: Demonstrations, rows: int, rng: np.random.Generator) -> Draw:
    drawn = buffer.draw(rows, rng)
    assert drawn is not None, "a data set has rows"
    return drawn


@torch.no_grad()
def validated(
    learner: Learner, buffer: Demonstrations, rows: int, rng: np.random.Generator, loss: Callable[[Batch], Tensor]
) -> Metrics:
    """The loss and the agreement on so many decisions that are not learnt from; empty where none are held out."""
    held = buffer.measure(rows, rng)
    if held is None:
        return {}
    batch = held.tensors(learner.device)
    learner.nets.eval()
    found = {"loss": loss(batch), **agreement(learner.model, batch)}
    learner.nets.train()
    return {f"validation_{name}": float(value) for name, value in found.items()}
