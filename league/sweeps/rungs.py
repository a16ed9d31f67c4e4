"""Rungs: the steps at which the trials of a sweep are compared, and the brackets of Hyperband.

Li et al. 2018, "Hyperband", JMLR 18; Li et al. 2020, "A System for Massively Parallel Hyperparameter Tuning" (ASHA).
"""

from __future__ import annotations

import math
from dataclasses import dataclass

from league.errors import InvalidInput


@dataclass(frozen=True, kw_only=True)
class Rungs:
    """The steps of each rung, ascending; the last one is the budget of a trial."""

    steps: tuple[int, ...]

    def __post_init__(self) -> None:
        if not self.steps or self.steps[0] < 1 or any(a >= b for a, b in zip(self.steps, self.steps[1:], strict=False)):
            raise InvalidInput(f"rungs need ascending steps above 0, not {list(self.steps)}")

    @property
    def last(self) -> int:
        """The number of the last rung, which ends a trial."""
        return len(self.steps) - 1

    def reached(self, steps: int) -> int | None:
        """The highest rung that so many steps reach; None below the first."""
        passed = [number for number, needed in enumerate(self.steps) if steps >= needed]
        return passed[-1] if passed else None

    @classmethod
    def geometric(cls, *, budget: int, eta: int, first: int | None = None) -> Rungs:
        """The budget, a share 1 / eta of it, and so on down to `first`; without `first`, three rungs."""
        if eta < 2:
            raise InvalidInput(f"eta must be 2 or more, not {eta}")
        least = max(1, budget // eta**2) if first is None else first
        if not 1 <= least <= budget:
            raise InvalidInput(f"the first rung must have 1 to {budget} steps, the budget; it has {least}")
        steps = [budget]
        while steps[-1] // eta >= least and steps[-1] // eta >= 1:
            steps.append(steps[-1] // eta)
        return cls(steps=tuple(reversed(steps)))


@dataclass(frozen=True, kw_only=True)
class Bracket:
    """Trials that are compared with each other, from one rung on."""

    number: int
    first_rung: int
    trials: int


def one_bracket(trials: int) -> tuple[Bracket, ...]:
    """All trials together, from the lowest rung."""
    return (Bracket(number=0, first_rung=0, trials=trials),)


def hyperband_brackets(rungs: Rungs, *, eta: int, trials: int, most: int | None = None) -> tuple[Bracket, ...]:
    """Brackets of Hyperband: the first stops many trials early, the last runs a few to the end.

    Their sizes are in Hyperband's proportions; the largest remainders get what is left over.
    """
    halvings = rungs.last
    count = min(halvings + 1, trials, most or halvings + 1)
    sizes = [math.ceil((halvings + 1) / (halvings - first + 1) * eta ** (halvings - first)) for first in range(count)]
    shares = [trials * size / sum(sizes) for size in sizes]
    given = [max(1, math.floor(share)) for share in shares]
    order = sorted(range(count), key=lambda number: (given[number] - shares[number], number))
    place = 0
    while sum(given) < trials:
        given[order[place % count]] += 1
        place += 1
    while sum(given) > trials:
        given[given.index(max(given))] -= 1
    return tuple(Bracket(number=number, first_rung=number, trials=size) for number, size in enumerate(given))


def bracket_of(brackets: tuple[Bracket, ...], number: int) -> Bracket:
    """The bracket of a trial: they are filled one after another."""
    for bracket in brackets:
        if number < bracket.trials:
            return bracket
        number -= bracket.trials
    return brackets[-1]
