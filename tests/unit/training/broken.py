"""Games, models, algorithms and a bot with bugs, as users write them."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import replace

import numpy as np
from numpy.typing import NDArray
from torch import Tensor, nn

from lanista.algorithms import Algorithm, EpsilonGreedy, Learner, Metrics
from lanista.buffers import Batch, Buffer
from lanista.games import Bot, BotInput, StepResult, Turn
from lanista.models import Mlp
from workers.games.builtin.tic_tac_toe import TicTacToe


class RulesBroken(Exception):
    """Takes two arguments, so that it cannot be unpickled."""

    def __init__(self, rule: str, move: int) -> None:
        super().__init__(f"{rule} in move {move}")


class RaisingGame(TicTacToe):
    """Breaks in its third step."""

    steps = 0

    def advance(self, actions: NDArray[np.int64]) -> StepResult:
        self.steps += 1
        if self.steps == 3:
            raise RulesBroken("gravity", self.steps)
        return super().advance(actions)


class BlindGame(TicTacToe):
    """Shows NaN at one table."""

    def turn(self) -> Turn:
        turn = super().turn()
        turn.observations[turn.tables == 3] = np.nan  # type: ignore[index]
        return turn


class InfiniteGame(TicTacToe):
    """Rewards without limit."""

    def advance(self, actions: NDArray[np.int64]) -> StepResult:
        result = super().advance(actions)
        return replace(result, rewards=np.where(result.done[:, None], np.inf, result.rewards).astype(np.float32))


class RaisingModel(Mlp):
    """Breaks after the rows that it is tried with."""

    def forward(self, observations: Tensor, legal: Tensor | None) -> tuple[Tensor, Tensor]:
        if len(observations) > 2:
            raise KeyError("attention")
        return super().forward(observations, legal)


class NanModel(Mlp):
    """Divides by zero after its tenth call."""

    calls = 0

    def forward(self, observations: Tensor, legal: Tensor | None) -> tuple[Tensor, Tensor]:
        self.calls += 1
        logits, values = super().forward(observations, legal)
        return (logits, values) if self.calls < 10 else (logits * np.nan, values)


class LateNanModel(NanModel):
    """Divides by zero in a rollout."""

    def forward(self, observations: Tensor, legal: Tensor | None) -> tuple[Tensor, Tensor]:
        if self.training:
            self.calls = 100
            return Mlp.forward(self, observations, legal)
        return super().forward(observations, legal) if self.calls == 100 else Mlp.forward(self, observations, legal)


class NarrowGame(TicTacToe):
    """Forgets a seat."""

    def advance(self, actions: NDArray[np.int64]) -> StepResult:
        result = super().advance(actions)
        return replace(result, rewards=result.rewards[:, :1])


class RaisingLoss(Algorithm):
    def loss(self, batch: Batch, nets: Mapping[str, nn.Module]) -> Tensor:
        return batch["advantage"].mean()


class NanLoss(Algorithm):
    def loss(self, batch: Batch, nets: Mapping[str, nn.Module]) -> Tensor:
        logits, _ = nets["policy"](batch.obs, batch.legal)
        loss: Tensor = (logits - logits).sum() / 0.0
        return loss


class Cheat(Bot):
    """Plays a forbidden action."""

    def act(self, inputs: BotInput) -> NDArray[np.int64]:
        assert inputs.legal is not None
        return np.asarray(np.argmin(inputs.legal, axis=1))


class Greedy(Algorithm):
    """Its actor returns actions alone, so that only the loss shows what the observations are."""

    def actor(self, nets: Mapping[str, nn.Module]) -> EpsilonGreedy:
        return EpsilonGreedy(nets["policy"])

    def loss(self, batch: Batch, nets: Mapping[str, nn.Module]) -> Tensor:
        values, _ = nets["policy"](batch.obs, batch.legal)
        loss: Tensor = values.square().mean()
        return loss


class NanStep(Algorithm):
    """Divides by zero in an update of its own."""

    def update(self, learner: Learner, buffer: Buffer, rng: np.random.Generator) -> Iterator[Metrics]:
        parameter = next(learner.model.parameters())
        learner.descend(parameter.sum() * float("inf"))
        yield {}
