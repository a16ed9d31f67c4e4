"""`evaluation`: when the league's players play rating games."""

from __future__ import annotations

import re
from typing import Annotated

from pydantic import AfterValidator, Field

from orchestrator.spec.section import Section
from orchestrator.spec.values import WHOLE, Flag, Positive

_CRON = (("minute", 0, 59), ("hour", 0, 23), ("day of the month", 1, 31), ("month", 1, 12), ("day of the week", 0, 7))
_PART = re.compile(r"(?:\*|(?P<first>\d{1,2})(?:-(?P<last>\d{1,2}))?)(?:/(?P<step>\d{1,2}))?")


def check_cron(line: str) -> str:
    """Check a cron line; raises ValueError with what is allowed."""
    fields = line.split()
    if len(fields) != len(_CRON):
        raise ValueError("must be five fields, minute hour day month weekday: '0 3 * * *' is every night at 3:00 UTC")
    for text, (name, low, high) in zip(fields, _CRON, strict=True):
        for part in text.split(","):
            if not _is_cron_part(part, low, high):
                raise ValueError(f"{name} {part!r} must be *, numbers from {low} to {high}, ranges or steps")
    return " ".join(fields)


def _is_cron_part(part: str, low: int, high: int) -> bool:
    match = _PART.fullmatch(part)
    if match is None:
        return False
    first = int(match["first"] or low)
    last = int(match["last"] or first)
    return low <= first <= last <= high and match["step"] not in ("0", "00")


MOST_AGAINST_TARGET = 20_000
"""The most games against a target: one batch, recorded in one transaction that takes some seconds."""

MOST_PER_PAIRING = 1000
"""The most games of one pairing that a tournament allows."""


class EvaluationSpec(Section):
    """Rating games while the trial runs, and a scheduled tournament."""

    every_generations: Positive = Field(default=5, description="generations of a player between two evaluations")
    games: Annotated[int, Field(strict=True, ge=2, le=1_000_000), WHOLE] = Field(
        default=200,
        description="rating games of each evaluation, seats swapped between the two of a pair; with budget.until at "
        "most 20000, which are played and recorded as one",
    )
    schedule: Annotated[str, AfterValidator(check_cron)] | None = Field(
        default=None, description="cron line (UTC) of a tournament of the whole league, as '0 3 * * *'; null: none"
    )

    nash_conv: Flag = Field(
        default=False,
        description="whether each evaluation also computes NashConv as the metric nash_conv, with the preset psro "
        "also that of the pool's mixture (nash_conv_mixture); for games of at most 50,000 histories",
    )

    @property
    def games_against_target(self) -> int:
        """Games of one evaluation against the target of `budget.until`."""
        return min(self.games, MOST_AGAINST_TARGET)

    def games_per_pairing(self, pairings: int, least: int = 2) -> int:
        """Games of each pairing of a field evaluation: an even share, and an even number, of its games."""
        return min(MOST_PER_PAIRING, max(2, least, self.games // max(1, pairings) // 2 * 2))


def check_games_against_target(evaluation: EvaluationSpec) -> None:
    """Raise ValueError if an evaluation against the target needs more games than one batch has."""
    if evaluation.games > MOST_AGAINST_TARGET:
        raise ValueError(
            f"until is measured by one batch of evaluation.games: at most {MOST_AGAINST_TARGET}, not {evaluation.games}"
        )
