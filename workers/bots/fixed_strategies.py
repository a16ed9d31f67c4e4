"""Bots with a fixed strategy, which use only the legal mask: random, first legal, and mixed strategies."""

from collections.abc import Sequence
from typing import Any

import numpy as np
from numpy.typing import NDArray

from workers.bots.protocol import BadBot, Bot, BotInput
from workers.games.protocol import GameSpec
from workers.games.seeding import mix, uniform


def draw(weights: NDArray[np.float64], keys: NDArray[np.uint64]) -> NDArray[np.int64]:
    """One column per row, drawn in proportion to the row's weights; a column of weight 0 is never drawn."""
    rising = np.cumsum(weights, axis=1)
    return np.asarray(np.argmax(rising > (uniform(keys) * rising[:, -1])[:, None], axis=1))


class RandomBot(Bot):
    """Any legal move, uniformly over the action space."""

    def act(self, inputs: BotInput) -> NDArray[Any]:
        if not self.spec.discrete:
            numbers = np.stack([uniform(mix(inputs.keys, number)) for number in range(self.layout.width)], axis=1)
            return self.layout.draw(numbers, inputs.legal)
        return draw(inputs.legal.astype(np.float64), inputs.keys)


class FirstLegalBot(Bot):
    """The legal move with the lowest number; zeros, as far as the bounds allow, in spaces of other numbers."""

    def act(self, inputs: BotInput) -> NDArray[Any]:
        return self.layout.any_legal(len(inputs.keys), inputs.legal)


class MixedBot(Bot):
    """A fixed probability for each action; if no action with a positive probability is legal, any legal one."""

    def __init__(self, spec: GameSpec, *, probabilities: Sequence[float]) -> None:
        super().__init__(spec)
        _refuse_other_spaces("mixed", spec)
        given = np.asarray(probabilities, np.float64)
        if given.shape != (spec.actions,):
            raise BadBot(f"mixed: {len(given)} probabilities; {spec.id} has {spec.actions} actions")
        if not (given >= 0).all() or abs(given.sum() - 1) > 1e-6:
            raise BadBot(f"mixed: probabilities must be at least 0 and add up to 1, not {given.tolist()}")
        self.probabilities = given

    def act(self, inputs: BotInput) -> NDArray[Any]:
        weights = inputs.legal * self.probabilities
        stuck = ~weights.any(axis=1)
        weights[stuck] = inputs.legal[stuck]
        return draw(weights, inputs.keys)


def always(spec: GameSpec, action: str) -> MixedBot:
    """The bot that plays one action, given by its name or its number."""
    _refuse_other_spaces("always", spec)
    names = spec.action_names or tuple(map(str, range(spec.actions)))
    if action in names:
        chosen = names.index(action)
    elif action.isdecimal() and int(action) < spec.actions:
        chosen = int(action)
    else:
        raise BadBot(f"always: {spec.id} has no action {action!r}; allowed: {', '.join(names)}")
    return MixedBot(spec, probabilities=np.eye(spec.actions)[chosen].tolist())


def _refuse_other_spaces(bot: str, spec: GameSpec) -> None:
    if not spec.discrete:
        raise BadBot(f"{bot} plays only games of Discrete actions; those of {spec.id} are {spec.action}")
