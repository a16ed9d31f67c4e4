"""The trials of a sweep: the base trial with the values of one point of the space laid over it."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping, Sequence
from copy import deepcopy
from typing import Any

from league.seeds import derived_seed
from league.sweeps.space import Choice, Dimension, grid_points, random_point
from orchestrator.spec.reading.checking import check_spec
from orchestrator.spec.reading.problems import InvalidTrial, Problem, shown
from orchestrator.spec.sweeps.sweep import SweepSpec
from orchestrator.spec.trial import TrialSpec

Point = Mapping[str, Any]
_REPLACED = ("budget", "start")
"""What a sweep decides itself."""
MOST_CHECKED = 200
"""Trials of a sweep that are checked before it starts, each for about a millisecond."""
_OF_FILES = ("project", "trial", "mode")
_SHORT = {"players": "league.players"}
"""Short forms of paths, by their first part."""


class WrongPath(ValueError):
    """A path that leads nowhere in the trial."""


def trial_at(spec: SweepSpec, point: Point, number: int) -> TrialSpec:
    """The trial of a point; raises InvalidTrial, with the paths of the space."""
    try:
        data = _laid_over(spec, point, number)
    except WrongPath as error:
        raise InvalidTrial([Problem(path="space", message=str(error))]) from None
    return check_spec(data)


def middle_trial(spec: SweepSpec) -> TrialSpec:
    """The trial in the middle of the space; the base trial alone may lack what the space gives."""
    return trial_at(spec, _middle(spec), 0)


def corner_trials(spec: SweepSpec) -> Iterator[TrialSpec]:
    """The trial in the middle of the space, and those at the ends of each range and at each choice."""
    base = _middle(spec)
    yield trial_at(spec, base, 0)
    for path, one in spec.dimensions.items():
        for value in _ends(one):
            yield trial_at(spec, {**base, path: value}, 0)


def _middle(spec: SweepSpec) -> dict[str, Any]:
    return {path: one.at(0.5) for path, one in spec.dimensions.items()}


def problems_of(spec: SweepSpec) -> list[Problem]:
    """The problems of the base trial, of each path and of the ends of each range, each reported once."""
    base = _middle(spec)
    found = _problems_at(spec, base, "trial")
    if found:
        return found
    for path, one in spec.dimensions.items():
        for value in _ends(one):
            problems = _problems_at(spec, {**base, path: value}, f"space.{path}")
            if problems:
                found += problems[:1]
                break
    return found or _problem_of_a_trial(spec)


def _problem_of_a_trial(spec: SweepSpec) -> list[Problem]:
    """The first trial whose values contradict each other, though each by itself is allowed; TPE's are not known yet."""
    for number, point in enumerate(_known_points(spec)):
        try:
            trial_at(spec, point, number)
        except InvalidTrial as error:
            values = ", ".join(f"{path} = {shown(value)}" for path, value in point.items())
            problem = error.problems[0]
            message = f"trial {number}, with {values}, is refused: {problem.path}: {problem.message}"
            return [Problem(path="space", message=message)]
    return []


def _known_points(spec: SweepSpec) -> Iterable[Point]:
    count = min(spec.trial_count, MOST_CHECKED)
    if spec.drawn_by == "grid":
        return grid_points(spec.dimensions, count)
    if spec.drawn_by == "random":
        return (random_point(spec.dimensions, seed=spec.seed, number=number) for number in range(count))
    return ()


def _problems_at(spec: SweepSpec, point: Point, where: str) -> list[Problem]:
    try:
        trial = trial_at(spec, point, 0)
    except InvalidTrial as error:
        own = [problem for problem in error.problems if not problem.path.startswith("space")]
        misled = [problem for problem in error.problems if problem.path.startswith("space")]
        located = [_located(problem, _swept(problem, point) or where) for problem in own]
        return misled + located
    return list(_wrong_metric(spec, trial))


def _swept(problem: Problem, point: Point) -> str | None:
    """The path of the space that the problem is about, if the base trial does not have it by itself."""
    return next((f"space.{path}" for path in point if f"{problem.path}.".startswith(f"{path}.")), None)


def _located(problem: Problem, where: str) -> Problem:
    said = f"{problem.path}: {problem.message}" if where.startswith("space") else problem.message
    path = where if where.startswith("space") else ".".join(part for part in (where, problem.path) if part)
    return Problem(path=path, message=said, value=problem.value)


def _wrong_metric(spec: SweepSpec, trial: TrialSpec) -> Iterator[Problem]:
    players = {player.name: player for player in trial.league.players}
    names = ", ".join(players)
    for field in ("player", "opponent"):
        name = getattr(spec.metric, field)
        if name is not None and name not in players:
            message = f"the trial has no such player; it has {names}"
            yield Problem(path=f"metric.{field}", message=message, value=shown(name))
    if spec.metric.player in players and not players[spec.metric.player].role.learns:
        yield Problem(path="metric.player", message="this player does not learn", value=shown(spec.metric.player))


def _ends(dimension: Dimension) -> Sequence[Any]:
    return dimension.values if isinstance(dimension, Choice) else (dimension.at(0.0), dimension.at(1.0))


def _laid_over(spec: SweepSpec, point: Point, number: int) -> dict[str, Any]:
    data = {name: deepcopy(value) for name, value in spec.trial.items() if name not in (*_REPLACED, *_OF_FILES)}
    for path, value in point.items():
        _set(data, path, value)
    data["budget"] = {"steps": spec.budget.steps}
    base = spec.trial.get("seed", 0)
    # a seed that is no whole number stays, so that it is reported with the trial's other problems
    if not spec.same_seed and "seed" not in point and type(base) is int:
        data["seed"] = derived_seed("sweep trial", spec.seed, base, number)
    return data


def _set(data: dict[str, Any], path: str, value: Any) -> None:
    """Set the field that a path names. Missing sections are made; an item of a list is named by number or name."""
    parts = path.split(".")
    parts = [*_SHORT.get(parts[0], parts[0]).split("."), *parts[1:]]
    if parts[0] in (*_REPLACED, *_OF_FILES):
        raise WrongPath(f"{path}: a sweep sets {parts[0]} itself")
    place: Any = data
    for depth, part in enumerate(parts[:-1]):
        place = _below(place, part, path, ".".join(parts[:depth]))
    if isinstance(place, list):
        raise WrongPath(f"{path}: name a field of an item of the list {'.'.join(parts[:-1])}, not an item")
    place[parts[-1]] = value


def holds(trial: Mapping[str, Any], path: str, value: Any) -> bool:
    """Whether a stored trial has this value at this path; the trial may have defaults besides."""
    parts = path.split(".")
    place: Any = trial
    for part in (*_SHORT.get(parts[0], parts[0]).split("."), *parts[1:]):
        if isinstance(place, list):
            named = (item for index, item in enumerate(place) if part in (str(index), item.get("name")))
            place = next(named, None)
        elif isinstance(place, Mapping):
            place = place.get(part)
        else:
            return False
    return _includes(place, value)


def _includes(place: Any, value: Any) -> bool:
    if isinstance(place, Mapping) and isinstance(value, Mapping):
        return all(name in place and _includes(place[name], each) for name, each in value.items())
    return bool(place == value)


def _below(place: Any, part: str, path: str, before: str) -> Any:
    if isinstance(place, list):
        for index, item in enumerate(place):
            if str(index) == part or (isinstance(item, dict) and item.get("name") == part):
                return item
        known = ", ".join(str(item.get("name", index)) for index, item in enumerate(place) if isinstance(item, dict))
        raise WrongPath(f"{path}: {before} has no item {part!r}; it has {known or 'none'}")
    if not isinstance(place, dict):
        raise WrongPath(f"{path}: {before} is {shown(place)} and has no field {part!r}")
    below = place.setdefault(part, {})
    if not isinstance(below, dict | list):
        raise WrongPath(f"{path}: {before + '.' if before else ''}{part} is {shown(below)} and has no fields")
    return below
