"""`space`: what a field of the trial file may be in the trials of a sweep."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from typing import Annotated, Any

from pydantic import Field

from league.errors import InvalidInput
from league.sweeps.space import Choice, Dimension, Integer, Uniform
from orchestrator.spec.section import Contradiction, Section
from orchestrator.spec.values import LARGEST, WHOLE

_Whole = Annotated[int, Field(strict=True, ge=-LARGEST, le=LARGEST), WHOLE]
_Real = Annotated[float, Field(strict=True, allow_inf_nan=False)]
_Points = Annotated[int, Field(strict=True, ge=1, le=1000), WHOLE]

KINDS = ("choice", "uniform", "log_uniform", "int", "log_int")


class DimensionSpec(Section):
    """Exactly one of choice, uniform, log_uniform, int and log_int."""

    choice: Annotated[tuple[Any, ...], Field(min_length=1, max_length=1000)] | None = Field(
        default=None, description="one of these values, of any kind"
    )
    uniform: tuple[_Real, _Real] | None = Field(default=None, description="a number between two others")
    log_uniform: tuple[_Real, _Real] | None = Field(
        default=None, description="a number between two others above 0, each decade as likely as another"
    )
    int: tuple[_Whole, _Whole] | None = Field(default=None, description="a whole number, both ends included")
    log_int: tuple[_Whole, _Whole] | None = Field(
        default=None, description="a whole number above 0, each decade as likely as another"
    )
    points: _Points | None = Field(default=None, description="values of a grid along a range, both ends included")

    @classmethod
    def contradictions(cls, given: Mapping[str, Any]) -> Iterable[Contradiction]:
        """Not exactly one kind, points of a choice, and ranges that are none."""
        kinds = [kind for kind in KINDS if given.get(kind) is not None]
        if len(kinds) != 1:
            reason = f"needs exactly one of {', '.join(KINDS)}"
            yield Contradiction(path=(), value=dict(given), reason=reason)
            return
        kind = kinds[0]
        if kind == "choice":
            if given.get("points") is not None:
                yield Contradiction(path=("points",), value=given["points"], reason="is an option of ranges only")
            return
        value = given[kind]
        pair = isinstance(value, list | tuple) and len(value) == 2
        if pair and all(isinstance(end, int | float) and not isinstance(end, bool) for end in value):
            try:
                Uniform(low=float(value[0]), high=float(value[1]), log=kind.startswith("log"))
            except InvalidInput as error:
                yield Contradiction(path=(kind,), value=value, reason=str(error))

    @property
    def dimension(self) -> Dimension:
        """The dimension, as the rules take it."""
        if self.choice is not None:
            return Choice(values=tuple(self.choice))
        for bounds, log in ((self.uniform, False), (self.log_uniform, True)):
            if bounds is not None:
                return Uniform(low=bounds[0], high=bounds[1], log=log, points=self.points)
        whole = self.int or self.log_int
        assert whole is not None, "the section holds exactly one kind"
        return Integer(low=whole[0], high=whole[1], log=self.int is None, points=self.points)
