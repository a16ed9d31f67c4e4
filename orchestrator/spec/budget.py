"""`budget`: when a trial ends. With several limits, the first one reached ends it."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from typing import Annotated, Any

from pydantic import Field, ValidationInfo, field_validator

from orchestrator.catalog import Kind
from orchestrator.spec.components import KnownNames, check_name
from orchestrator.spec.section import Contradiction, Section
from orchestrator.spec.values import Duration, Positive


class TargetSpec(Section):
    """A win rate to reach against one opponent."""

    opponent: str = Field(min_length=1, description="a player of this trial, or a bot: mcts-100")
    win_rate: Annotated[float, Field(strict=True, gt=0, le=1)] = Field(
        default=0.9, description="win rate of a main against it in rating games"
    )

    @field_validator("opponent")
    @classmethod
    def _known(cls, opponent: str, info: ValidationInfo) -> str:
        if isinstance(info.context, KnownNames) and opponent in info.context.players:
            return opponent
        return check_name(Kind.BOT, opponent, info)


class BudgetSpec(Section):
    """Limits of a trial: at least one, and each kind at most once."""

    steps: Positive | None = Field(
        default=None, description="environment steps sampled and learnt from, over all players together"
    )
    wall_clock: Duration | None = Field(default=None, description="time spent running, as 30m, 2h or 1h30m")
    until: TargetSpec | None = Field(default=None, description="a strength to reach")

    def next_generation(self, steps: int, *, used: int, under_way: int = 0) -> int:
        """The steps of a generation that usually has `steps`, where so many of the budget are used or under way.

        The last generations are shorter, so that a trial ends close to its budget; 0: all of it is under way.
        """
        return steps if self.steps is None else max(0, min(steps, self.steps - used - under_way))

    @classmethod
    def contradictions(cls, given: Mapping[str, Any]) -> Iterable[Contradiction]:
        """A budget without any limit."""
        if all(given.get(name) is None for name in cls.model_fields):
            reason = f"a budget needs at least one of {', '.join(cls.model_fields)}"
            yield Contradiction(path=(), value=dict(given), reason=reason)
