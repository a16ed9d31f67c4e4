"""TPE by optuna: ask on a study in memory that is rebuilt from our rows each time.

Optuna's own storage would have tables of its own in our database, and a study that a crash leaves half told. The rows
are the only record: a study rebuilt from them with the seed of the trial's number asks for the same point again.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

from league.seeds import derived_seed
from league.sweeps import Choice, Dimension, Integer, Space

STARTUP_TRIALS = 10
"""Points at random before TPE has anything to learn from; optuna's default."""


@dataclass(frozen=True, kw_only=True)
class Told:
    """A trial of the sweep, as the study is told of it."""

    point: dict[str, Any]
    value: float | None
    steps: int
    ended: bool


def ask(space: Space, told: Sequence[Told], *, seed: int, number: int) -> dict[str, Any]:
    """The point that TPE asks for next."""
    import optuna

    optuna.logging.set_verbosity(optuna.logging.WARNING)
    sampler = optuna.samplers.TPESampler(
        seed=derived_seed("tpe", seed, number) % 2**32, n_startup_trials=STARTUP_TRIALS, constant_liar=True
    )
    study = optuna.create_study(direction="maximize", sampler=sampler)
    distributions = {path: _distribution(optuna, one) for path, one in space.items()}
    for each in told:
        study.add_trial(_frozen(optuna, each, distributions, space))
    trial = study.ask(distributions)
    return {path: _value(space[path], trial.params[path]) for path in space}


def fanova(space: Space, points: Sequence[dict[str, Any]], values: Sequence[float]) -> dict[str, float]:
    """Importances by optuna's fANOVA."""
    import optuna

    optuna.logging.set_verbosity(optuna.logging.WARNING)
    study = optuna.create_study(direction="maximize")
    distributions = {path: _distribution(optuna, one) for path, one in space.items()}
    for point, value in zip(points, values, strict=True):
        study.add_trial(_frozen(optuna, Told(point=point, value=value, steps=0, ended=True), distributions, space))
    evaluator = optuna.importance.FanovaImportanceEvaluator(seed=0)
    found: dict[str, float] = optuna.importance.get_param_importances(study, evaluator=evaluator)
    return found


def _frozen(optuna: Any, told: Told, distributions: dict[str, Any], space: Space) -> Any:
    states = optuna.trial.TrialState
    params = {path: _param(space[path], told.point[path]) for path in space}
    if not told.ended:
        return optuna.trial.create_trial(state=states.RUNNING, params=params, distributions=distributions)
    if told.value is None:
        return optuna.trial.create_trial(state=states.FAIL, params=params, distributions=distributions)
    return optuna.trial.create_trial(value=told.value, params=params, distributions=distributions)


def _distribution(optuna: Any, dimension: Dimension) -> Any:
    kinds = optuna.distributions
    if isinstance(dimension, Choice):
        # by number: a choice may hold lists and mappings, which optuna refuses
        return kinds.CategoricalDistribution(tuple(range(len(dimension.values))))
    if isinstance(dimension, Integer):
        return kinds.IntDistribution(dimension.low, dimension.high, log=dimension.log)
    return kinds.FloatDistribution(dimension.low, dimension.high, log=dimension.log)


def _param(dimension: Dimension, value: Any) -> Any:
    return dimension.values.index(value) if isinstance(dimension, Choice) else value


def _value(dimension: Dimension, param: Any) -> Any:
    return dimension.values[param] if isinstance(dimension, Choice) else param
