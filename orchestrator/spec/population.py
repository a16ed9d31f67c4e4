"""`league.players[].population`: members of one role that copy better ones and vary their hyperparameters."""

from __future__ import annotations

import math
from collections.abc import Iterable, Iterator, Mapping
from typing import Annotated, Any

from annotated_types import Ge, Gt, Le, Lt
from pydantic import Field, ValidationError, ValidationInfo, field_validator

from league.populations.rules import ExploitRule, Exploration, Method, ScoreOf
from orchestrator.spec.components import Choice, OtherChoice
from orchestrator.spec.section import Contradiction, Section, one_of
from orchestrator.spec.values import WHOLE, Number, Positive, Share

MOST_MEMBERS = 64
MOST_EXPLORED = 20

Range = Annotated[tuple[Number, ...], Field(min_length=2, max_length=2)]
Factor = Annotated[float, Field(strict=True, gt=0, le=1000)]


class ExploitSpec(Section):
    """Whether a member takes over the weights of a better one."""

    by: ScoreOf = Field(
        default=ScoreOf.RATING,
        description="what members are compared by: rating (from rating games), return (games of one team) or win_rate "
        "(of training games, against opponents that all members met)",
    )
    method: Method = Field(
        default=Method.TRUNCATION,
        description="truncation (the lowest quantile looks at the highest) or binary_tournament (each looks at one)",
    )
    quantile: Annotated[float, Field(strict=True, gt=0, le=0.5)] = Field(
        default=0.25, description="share of the members that counts as the lowest, and as the highest"
    )
    level: Annotated[float, Field(strict=True, gt=0, lt=0.5)] = Field(
        default=0.05, description="how often a decision may copy a member that is no better"
    )
    min_games: Annotated[int, Field(strict=True, ge=2, le=1_000_000), WHOLE] = Field(
        default=10, description="games below which a member is not compared; of win rates, against each opponent"
    )
    window: Positive = Field(
        default=1, description="newest generations of a member whose training games count, for return and win_rate"
    )

    @property
    def rule(self) -> ExploitRule:
        """The same as the league's rules take it."""
        return ExploitRule(method=self.method, quantile=self.quantile, level=self.level)


class ExploreSpec(Section):
    """How one hyperparameter changes when a member has copied another."""

    perturb: Annotated[tuple[Factor, ...], Field(min_length=1, max_length=16)] | None = Field(
        default=None, description="factors; the donor's value times one of them, at random"
    )
    resample: Range | None = Field(
        default=None, description="range, as [low, high], from which it is drawn anew; logarithmic where low is above 0"
    )
    resample_probability: Share = Field(
        default=0.25, description="how often it is drawn anew where perturb is given too"
    )
    initial: Range | None = Field(
        default=None, description="range that first values are drawn from; null: resample, or else the trial's value"
    )
    bounds: Range | None = Field(default=None, description="limits of perturbed values; null: those of the option")

    @field_validator("resample", "initial", "bounds")
    @classmethod
    def _ascends(cls, given: tuple[float, float] | None) -> tuple[float, float] | None:
        if given is not None and not given[0] < given[1]:
            raise ValueError(f"must be [low, high] with low below high, not [{given[0]:g}, {given[1]:g}]")
        return given

    @classmethod
    def contradictions(cls, given: Mapping[str, Any]) -> Iterable[Contradiction]:
        """A hyperparameter that would never change."""
        if given.get("perturb") is None and given.get("resample") is None:
            yield Contradiction(
                path=(), value=..., reason="needs perturb: [0.8, 1.25], or resample: [low, high], or both"
            )


class PopulationSpec(Section):
    """Members of one role that train side by side, copy better members and vary their hyperparameters."""

    size: Annotated[int, Field(strict=True, ge=2, le=MOST_MEMBERS), WHOLE] = Field(
        description=f"how many members, 2 to {MOST_MEMBERS}; they are named main.1, main.2, ..."
    )
    every_generations: Positive = Field(
        default=4, description="generations of a member between two decisions whether it copies another"
    )
    exploit: ExploitSpec = Field(
        default=ExploitSpec(), description="whether a member takes over a better one's weights"
    )
    explore: dict[str, ExploreSpec] = Field(
        description="options of the algorithm that vary, each with how, as {learning_rate: {perturb: [0.8, 1.25]}}"
    )

    @field_validator("explore")
    @classmethod
    def _explores_something(cls, given: dict[str, ExploreSpec], info: ValidationInfo) -> dict[str, ExploreSpec]:
        if not 1 <= len(given) <= MOST_EXPLORED:
            raise ValueError(f"must name 1 to {MOST_EXPLORED} options of the algorithm, not {len(given)}")
        return given

    def explorations(self, algorithm: Choice) -> dict[str, Exploration]:
        """The rules by hyperparameter, with the limits that the algorithm's option has."""
        return {name: _exploration(how, algorithm, name) for name, how in self.explore.items()}

    def problems(self, algorithm: Choice) -> Iterator[str]:
        """Why this algorithm cannot be varied so, with the path of each problem."""
        for name, how in self.explore.items():
            for reason in _misfits(name, how, algorithm):
                yield f"explore.{name}: {reason}"


def value_of(algorithm: Choice, name: str) -> float:
    """The number that this option of an algorithm has."""
    return float(algorithm.arguments[name])


def _exploration(how: ExploreSpec, algorithm: Choice, name: str) -> Exploration:
    low, high, whole = _limits(algorithm, name)
    bounds = how.bounds or (low, high)
    return Exploration(
        perturb=how.perturb or (),
        resample=None if how.resample is None else (how.resample[0], how.resample[1]),
        resample_probability=how.resample_probability,
        initial=None if how.initial is None else (how.initial[0], how.initial[1]),
        low=max(low, bounds[0]),
        high=min(high, bounds[1]),
        whole=whole,
    )


def _misfits(name: str, how: ExploreSpec, algorithm: Choice) -> Iterator[str]:
    start = algorithm.arguments.get(name)
    if isinstance(algorithm, OtherChoice):
        if not _is_number(start) and how.initial is None and how.resample is None:
            yield f"say a number for {name} in the options of {algorithm.id}, or an initial range"
        return
    numbers = [each for each, value in algorithm.arguments.items() if _is_number(value)]
    if name not in algorithm.arguments:
        yield f"{algorithm.id} has no such option; {one_of(name, numbers)}"
    elif not _is_number(start):
        yield f"{name} of {algorithm.id} is no number; {one_of(name, numbers)}"
    else:
        yield from _outside(name, how, algorithm)


def _outside(name: str, how: ExploreSpec, algorithm: Choice) -> Iterator[str]:
    """Ends of ranges that the option does not allow."""
    _, _, whole = _limits(algorithm, name)
    for field in ("initial", "resample", "bounds"):
        for end in getattr(how, field) or ():
            if whole and not float(end).is_integer():
                yield f"{field}: {name} is a whole number, {end:g} is not"
                continue
            try:
                type(algorithm).model_validate({**algorithm.to_json(), name: int(end) if whole else end})
            except ValidationError as error:
                yield f"{field}: {end:g} is not allowed, {error.errors(include_url=False)[0]['msg']}"


def _limits(algorithm: Choice, name: str) -> tuple[float, float, bool]:
    """The least and the largest value of an option, and whether it is a whole number; unlimited for a user's own."""
    field = type(algorithm).model_fields.get(name)
    if field is None:
        return -math.inf, math.inf, isinstance(algorithm.arguments.get(name), int)
    low, high = -math.inf, math.inf
    for limit in field.metadata:
        match limit:
            case Ge(ge=bound) if isinstance(bound, int | float):
                low = max(low, bound)
            case Gt(gt=bound) if isinstance(bound, int | float):
                low = max(low, math.nextafter(bound, math.inf))
            case Le(le=bound) if isinstance(bound, int | float):
                high = min(high, bound)
            case Lt(lt=bound) if isinstance(bound, int | float):
                high = min(high, math.nextafter(bound, -math.inf))
    return low, high, field.annotation is int


def _is_number(value: Any) -> bool:
    return isinstance(value, int | float) and not isinstance(value, bool)
