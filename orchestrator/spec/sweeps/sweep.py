"""The specification of a sweep, in a file or a request."""

from __future__ import annotations

import math
from collections.abc import Iterable, Mapping
from typing import Annotated, Any, Literal

from pydantic import BeforeValidator, Field

from league.errors import InvalidInput
from league.sweeps.rungs import Bracket, Rungs, hyperband_brackets, one_bracket
from league.sweeps.space import Space, grid_size
from orchestrator.spec.section import Contradiction, Section
from orchestrator.spec.sweeps.dimension import DimensionSpec
from orchestrator.spec.values import LARGEST, WHOLE, Name, Positive

Method = Literal["grid", "random", "tpe", "asha", "hyperband"]
MOST_TRIALS = 1000
EARLY_STOPPING = ("asha", "hyperband")
SAMPLERS = ("grid", "random", "tpe")


def _named(metric: Any) -> Any:
    return {"name": metric} if isinstance(metric, str) else metric


class MetricSpec(Section):
    """What trials are compared by; more is better."""

    name: Literal["return", "rating", "win_rate"] = Field(
        default="return",
        description="return: mean of the newest generation; rating: Elo of the newest rated version; win_rate: against "
        "`opponent`, over all recorded games since the rung before",
    )
    player: Name | None = Field(default=None, description="whose; null: the first main of the trial")
    opponent: Name | None = Field(default=None, description="win_rate: a player of the trial, such as a bot")

    @classmethod
    def contradictions(cls, given: Mapping[str, Any]) -> Iterable[Contradiction]:
        """An opponent where none is needed, and none where one is."""
        name, opponent = given.get("name", "return"), given.get("opponent")
        if name == "win_rate" and opponent is None:
            reason = "is missing: a win rate needs an opponent, a player of the trial"
            yield Contradiction(path=("opponent",), value=..., reason=reason)
        if name != "win_rate" and opponent is not None:
            yield Contradiction(path=("opponent",), value=opponent, reason="is an option of win_rate only")


class RungsSpec(Section):
    """The steps at which trials are compared: a share 1 / eta of the budget, a share of that, and so on."""

    eta: Annotated[int, Field(strict=True, ge=2, le=16), WHOLE] = Field(
        default=3, description="of the trials at a rung, the best 1 / eta go on"
    )
    first: Positive | None = Field(
        default=None, description="steps of the lowest rung, at least; null: budget.steps / eta²"
    )
    brackets: Annotated[int, Field(strict=True, ge=1, le=16), WHOLE] | None = Field(
        default=None, description="hyperband: how many; 1: plain successive halving; null: one for each rung"
    )


class SweepBudget(Section):
    """How much is trained."""

    steps: Positive = Field(description="steps of a trial that is never stopped early; replaces the trial's budget")
    total_steps: Positive | None = Field(
        default=None, description="steps of all trials together, after which no further trial starts; null: no limit"
    )


class SweepSpec(Section):
    """A sweep. The trial, the space and the budget are needed; everything else has a default."""

    trial: dict[str, Any] = Field(description="the trial that every trial of the sweep is a variation of")
    space: dict[str, DimensionSpec] = Field(
        min_length=1,
        max_length=50,
        description="paths into the trial file, as algorithm.learning_rate, and what each may be",
    )
    method: Method = Field(
        default="asha",
        description="grid, random or tpe: every trial runs to its end; asha or hyperband: bad ones are stopped early",
    )
    sampler: Literal["grid", "random", "tpe"] | None = Field(
        default=None, description="asha, hyperband: how hyperparameters are drawn; null: random"
    )
    trials: Annotated[int, Field(strict=True, ge=1, le=MOST_TRIALS), WHOLE] | None = Field(
        default=None, description="how many trials; null: all of a grid, or 20"
    )
    parallel: Annotated[int, Field(strict=True, ge=1, le=256), WHOLE] | None = Field(
        default=None, description="trials that train at once; null: as many as crews are free"
    )
    budget: SweepBudget = Field(description="steps of a trial, and of all of them")
    metric: Annotated[MetricSpec, BeforeValidator(_named)] = Field(
        default=MetricSpec(), description="what trials are compared by"
    )
    rungs: RungsSpec = Field(default=RungsSpec(), description="asha, hyperband: when trials are compared")
    seed: Annotated[int, Field(strict=True, ge=0, le=LARGEST), WHOLE] = Field(
        default=0, description="source of everything random in the choice of hyperparameters"
    )
    same_seed: Annotated[bool, Field(strict=True)] = Field(
        default=False, description="true: every trial has the seed of the base trial; false: each has its own"
    )
    promote: Name | None = Field(
        default=None, description="alias that moves to the best trial's newest version at the end; null: none"
    )

    @classmethod
    def contradictions(cls, given: Mapping[str, Any]) -> Iterable[Contradiction]:
        """Options of another method."""
        method = given.get("method", "asha")
        if method not in EARLY_STOPPING:
            for name in ("sampler", "rungs"):
                # a stored sweep has the defaults in it
                if given.get(name) not in (None, {}, RungsSpec(), RungsSpec().to_json()):
                    reason = "is an option of asha and hyperband only"
                    yield Contradiction(path=(name,), value=given[name], reason=reason)
        rungs = given.get("rungs")
        if method == "asha" and isinstance(rungs, Mapping) and rungs.get("brackets") is not None:
            reason = "is an option of hyperband only"
            yield Contradiction(path=("rungs", "brackets"), value=rungs["brackets"], reason=reason)
        budget = given.get("budget")
        steps = budget.get("steps") if isinstance(budget, Mapping) else None
        first = rungs.get("first") if isinstance(rungs, Mapping) else None
        if isinstance(first, int) and isinstance(steps, int) and first > steps:
            reason = f"must not exceed budget.steps, {steps}"
            yield Contradiction(path=("rungs", "first"), value=first, reason=reason)

    @property
    def stops_early(self) -> bool:
        """Whether bad trials are stopped before their budget is used up."""
        return self.method in EARLY_STOPPING

    @property
    def drawn_by(self) -> str:
        """How hyperparameters are drawn: grid, random or tpe."""
        return (self.sampler or "random") if self.stops_early else self.method

    @property
    def dimensions(self) -> Space:
        """The space, as the rules take it."""
        return {path: one.dimension for path, one in self.space.items()}

    @property
    def trial_count(self) -> int:
        """How many trials the sweep has."""
        if self.drawn_by != "grid":
            return self.trials or 20
        return min(grid_size(self.dimensions), self.trials or MOST_TRIALS)

    @property
    def ladder(self) -> Rungs:
        """The rungs; without early stopping the budget is the only one."""
        if not self.stops_early:
            return Rungs(steps=(self.budget.steps,))
        return Rungs.geometric(budget=self.budget.steps, eta=self.rungs.eta, first=self.rungs.first)

    @property
    def brackets(self) -> tuple[Bracket, ...]:
        """The brackets; one, unless the method is hyperband."""
        if self.method != "hyperband":
            return one_bracket(self.trial_count)
        return hyperband_brackets(self.ladder, eta=self.rungs.eta, trials=self.trial_count, most=self.rungs.brackets)

    @property
    def most_steps(self) -> int:
        """The steps of the whole sweep if no trial were stopped early."""
        return self.trial_count * self.budget.steps


class SweepFile(SweepSpec):
    """A sweep file: a sweep with its project and name."""

    project: Name = Field(default="default", description="namespace of the sweep and its trials")
    sweep: Annotated[Name, Field(max_length=59)] = Field(
        default="sweep", description="name of the sweep; without one, the file's name is taken"
    )

    @property
    def spec(self) -> SweepSpec:
        """The sweep without `project` and `sweep`."""
        return SweepSpec(**{name: getattr(self, name) for name in SweepSpec.model_fields})


def grid_problem(spec: SweepSpec) -> str | None:
    """What keeps the space from being laid out as a grid, if anything does."""
    if spec.drawn_by != "grid":
        return None
    try:
        size = math.prod(len(one.grid()) for one in spec.dimensions.values())
    except InvalidInput as error:
        return str(error)
    if spec.trials is None and size > MOST_TRIALS:
        return f"the grid has {size} points; at most {MOST_TRIALS} trials are allowed: give `trials`, or fewer values"
    return None
