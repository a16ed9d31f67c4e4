"""Checks a trial's own components before it starts: a worker that has the code imports them, the API must not."""

from __future__ import annotations

import asyncio
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field, replace

from starlette.concurrency import run_in_threadpool
from temporalio.client import Client

from api.schemas.enums import Scope
from api.web.live.cluster_status import ClusterStatus
from api.web.problems import ProblemError
from api.web.temporal.ask_worker import ask
from league.populations.rules import ScoreOf
from league.types import CheckpointRef
from orchestrator.catalog import BUILT_IN, Component, Kind, resolve
from orchestrator.contracts.interactive import ComponentCheck, ComponentVerdict, check_component
from orchestrator.contracts.queues import Queue
from orchestrator.spec import TrialSpec
from orchestrator.spec.code_names import CodeName, code_in_trial
from orchestrator.spec.judgement import too_many_teams
from orchestrator.spec.population_checks import unsuited_score
from orchestrator.spec.reading.problems import path_text
from orchestrator.spec.values import is_id

Path = tuple[str | int, ...]

FOR_EVERY_GAME = ("ppo", "vtrace")
"""Built-in algorithms that learn every game with every built-in model, so that no worker has to try them."""


@dataclass(frozen=True, kw_only=True)
class _Named:
    """A component that a trial names, and where."""

    path: Path
    kind: Kind
    component: Component
    together: tuple[_Named, ...] = ()
    """What is tried with it: a model must fit a game's spaces, and an algorithm both."""


@dataclass(frozen=True, kw_only=True)
class UnusableComponent:
    """A component that cannot be used: where the trial file names it, its name, and why not."""

    path: Path
    name: str
    problem: str


@dataclass(frozen=True, kw_only=True)
class ComponentsChecked:
    """The result of the check."""

    unusable: list[UnusableComponent]
    not_checked: str | None = None
    """Why nothing was checked; None where it was, or where there is nothing to check."""
    defaults: tuple[str, ...] = ()
    """Options of a user's own game that were given and have their default value."""


@dataclass(frozen=True, kw_only=True)
class OwnComponent:
    """A component that a worker must try: not built in, or a game with options (such as a name of OpenSpiel's)."""

    path: Path
    check: ComponentCheck
    code: tuple[CodeName, ...]
    """The names of code in it; none where it comes with an installed package."""
    imported: bool
    """Whether trying it imports anything that does not come with Lanista."""
    sections: Mapping[Kind, Path] = field(default_factory=dict)
    """Where the trial names what is tried together with it."""
    gated: bool = False
    """Whether it is the game of a trial with gates."""
    mated: bool = False
    """Whether it is the game of a trial whose learners share their teams."""
    scores: tuple[tuple[Path, ScoreOf], ...] = ()
    """Of the game of a trial with populations: where each says what its members are compared by."""
    buffers: int = 0
    """How many buffers the trial has of the algorithm: one for each player that learns by it and each process."""

    @property
    def scope(self) -> Scope:
        """The scope that is needed to have it tried."""
        return Scope.CODE if self.code else Scope.OPERATOR


async def check_components(
    temporal: Client, cluster: ClusterStatus, wanted: Sequence[OwnComponent], before: Callable[[], None]
) -> ComponentsChecked:
    """Have a train worker try these components; `before` is called in a thread before anything is imported."""
    if not wanted:
        return ComponentsChecked(unusable=[])
    polled = (await cluster.task_queues()).value
    if polled is None or not any(worker.queue is Queue.INTERACTIVE for worker in polled.workers):
        return ComponentsChecked(unusable=[], not_checked="not checked: no train worker")
    await run_in_threadpool(before)
    try:
        verdicts = await asyncio.gather(*(ask(temporal, check_component, each.check) for each in wanted))
    except ProblemError as refusal:
        return ComponentsChecked(unusable=[], not_checked=f"not checked: {refusal.detail}")
    problems = [
        unusable_component(each, verdict) for each, verdict in zip(wanted, verdicts, strict=True) if not verdict.usable
    ]
    return ComponentsChecked(
        defaults=tuple(
            name
            for each, verdict in zip(wanted, verdicts, strict=True)
            if each.check.kind is Kind.GAME and each.imported
            for name in verdict.defaults
        ),
        # components that were tried together report one problem several times
        unusable=list(dict.fromkeys(problems))
        + [
            unusable
            for each, verdict in zip(wanted, verdicts, strict=True)
            for unusable in _misfits(each, verdict.teams)
        ]
        + [_without_nash_conv(verdict) for verdict in verdicts if verdict.no_nash_conv]
        + _too_large_buffers(wanted, verdicts),
    )


def unusable_component(each: OwnComponent, verdict: ComponentVerdict) -> UnusableComponent:
    """What has the problem: one of the components that were tried together, or an option that the trial gives it."""
    others = {Kind.GAME: each.check.game, Kind.MODEL: each.check.model, Kind.ALGORITHM: each.check.algorithm}
    other = None if verdict.section in (None, each.check.kind) else others.get(verdict.section)
    if other is None:
        path, component, name = each.path, each.check.component, each.check.source or each.check.component.id
    else:
        path, component, name = each.sections[Kind(str(verdict.section))], other, other.id
    if path[-1] == "id" and verdict.option is not None and verdict.option in component.options:
        path, name = (*path[:-1], verdict.option), str(component.options[verdict.option])
    return UnusableComponent(path=path, name=name, problem=verdict.problem)


def _too_large_buffers(wanted: Sequence[OwnComponent], verdicts: Sequence[ComponentVerdict]) -> list[UnusableComponent]:
    """Algorithms with a buffer, where all full buffers of the trial take more memory than the worker has for them."""
    found: dict[Path, tuple[OwnComponent, ComponentVerdict]] = {}
    for each, verdict in zip(wanted, verdicts, strict=True):
        if verdict.buffer_bytes and verdict.buffer_memory:
            found[_algorithm(each)[0]] = each, verdict
    total = sum(each.buffers * verdict.buffer_bytes for each, verdict in found.values())
    return [_too_large(each, verdict, total) for each, verdict in found.values() if total > verdict.buffer_memory]


def _too_large(each: OwnComponent, verdict: ComponentVerdict, total: int) -> UnusableComponent:
    path, algorithm = _algorithm(each)
    capacity = algorithm.options.get("capacity")
    remedies = ["compressed: true", "a larger LANISTA_BUFFER_MEMORY_MB"]
    place = path
    if isinstance(capacity, int):
        remedies.insert(0, f"a capacity of at most {capacity * verdict.buffer_memory // total:,}")
        place = (*path[:-1], "capacity")
    elif "dataset" in algorithm.options:
        remedies[0], place = "a smaller data set", (*path[:-1], "dataset")
    one, all_of_them, allowed = (
        f"{size / (1 << 20):,.1f} MB" for size in (verdict.buffer_bytes, total, verdict.buffer_memory)
    )
    what = "the data set" if place[-1] == "dataset" else "a full buffer"
    problem = (
        f"{what} takes {one}; there are {each.buffers:,} of them, one for each training process of each player "
        f"that learns so, and all buffers of the trial take {all_of_them}; allowed: {allowed} "
        f"(LANISTA_BUFFER_MEMORY_MB). Choose {', '.join(remedies[:-1])}, or {remedies[-1]}"
    )
    return UnusableComponent(path=place, name=str(capacity or algorithm.id), problem=problem)


def _algorithm(each: OwnComponent) -> tuple[Path, Component]:
    """Where the trial names the algorithm that was tried, and the algorithm."""
    if each.check.kind is Kind.ALGORITHM:
        return each.path, each.check.component
    assert each.check.algorithm is not None, "only an algorithm that was tried has a buffer"
    return each.sections[Kind.ALGORITHM], each.check.algorithm


async def missing_gpus(cluster: ClusterStatus, spec: TrialSpec) -> list[UnusableComponent]:
    """The device of a trial that asks for more GPUs than Ray has; nothing where no train worker can say."""
    learnt_by = [player.algorithm or spec.algorithm for player in spec.league.learners]
    needed = max((spec.generation.needed_gpus(each) for each in learnt_by), default=0.0)
    ray = (await cluster.ray()).value if needed else None
    if ray is None or needed <= ray.gpus:
        return []
    field = "device" if spec.generation.device == "cuda" else "sampling_device"
    problem = f"a crew needs {needed:g} GPUs, Ray has {ray.gpus:g}; say cpu, or auto for GPUs where there are any"
    return [UnusableComponent(path=("generation", field), name="cuda", problem=problem)]


def _without_nash_conv(verdict: ComponentVerdict) -> UnusableComponent:
    return UnusableComponent(path=("evaluation", "nash_conv"), name="true", problem=verdict.no_nash_conv)


def _misfits(game: OwnComponent, teams: list[int]) -> Iterator[UnusableComponent]:
    """What the game's teams do not allow: a gate of more than two teams, mates where nobody has one, scores."""
    count, name = len(set(teams)), game.check.component.id
    if game.mated and teams and count == len(teams):
        problem = f"each seat of {name} is a team of its own, so that nobody has a mate; leave mates out"
        yield UnusableComponent(path=("league", "mates"), name=name, problem=problem)
    if game.gated and count > 2:
        yield UnusableComponent(path=("league", "champion_gate"), name=name, problem=too_many_teams(name, count))
    yield from unsuited_scores(game, teams)


def unsuited_scores(game: OwnComponent, teams: list[int]) -> Iterator[UnusableComponent]:
    """Populations whose members cannot be compared as they say, since the game has one team or several."""
    for path, by in game.scores if teams else ():
        problem = unsuited_score(by, len(set(teams)), game.check.component.id)
        if problem is not None:
            yield UnusableComponent(path=path, name=by.value, problem=problem)


def own_components(spec: TrialSpec) -> Iterator[OwnComponent]:
    """Components by import path or of another package, and games with options."""
    code = code_in_trial(spec)
    gates, mates = spec.league.champion_gate is not None, spec.league.mates.any
    buffers, scores = _buffers(spec), tuple(_scores(spec))
    nash_conv = spec.evaluation.nash_conv
    for each in _named(spec):
        named = _code_below(each.path, code)
        built_in = resolve(each.kind, each.component.id).entry.source == BUILT_IN
        game = each.kind is Kind.GAME
        tried = each.component.options or mates or scores or nash_conv
        if named or not built_in or (game and tried) or _may_misfit(each):
            others = _others(each, bool(named), code)
            yield OwnComponent(
                path=each.path,
                check=ComponentCheck(
                    kind=each.kind,
                    component=each.component,
                    game=_component(others, Kind.GAME),
                    model=_component(others, Kind.MODEL),
                    algorithm=_component(others, Kind.ALGORITHM),
                    topology=spec.generation.topology,
                    tables=spec.generation.tables * spec.generation.rollout_actors,
                    nash_conv=game and nash_conv,
                ),
                code=named,
                imported=bool(named) or not built_in,
                sections={kind: other.path for kind, other in others.items()},
                gated=game and gates,
                mated=game and mates,
                scores=scores if game else (),
                buffers=buffers.get(each.path if each.kind is Kind.ALGORITHM else _path(others), 0),
            )


def started_learners(spec: TrialSpec, weights: Mapping[str, CheckpointRef]) -> Iterator[OwnComponent]:
    """The algorithms of players that start from recorded weights or from a file, each with the weights' source."""
    seen = set()
    code = tuple(code_in_trial(spec))
    for number, player in enumerate(spec.league.players):
        shared = player.weights is None and player.model is None
        source = spec.initial_weights if shared else player.weights
        if source is None or not player.role.learns or (is_id(source) and source not in weights):
            continue
        check = ComponentCheck(
            kind=Kind.ALGORITHM,
            component=(player.algorithm or spec.algorithm).component,
            game=spec.game.component,
            model=(player.model or spec.model).component,
            weights=weights.get(source),
            source=None if is_id(source) else source,
        )
        path: Path = ("initial_weights",) if shared else ("league", "players", number, "weights")
        if repr(check) not in seen:
            seen.add(repr(check))
            sections: dict[Kind, Path] = {Kind.GAME: ("game", "id"), Kind.MODEL: ("model", "id")}
            yield OwnComponent(path=path, check=check, code=code, imported=bool(code), sections=sections)


def _component(others: Mapping[Kind, _Named], kind: Kind) -> Component | None:
    return others[kind].component if kind in others else None


def _path(others: Mapping[Kind, _Named]) -> Path:
    return others[Kind.ALGORITHM].path if Kind.ALGORITHM in others else ()


def _scores(spec: TrialSpec) -> Iterator[tuple[Path, ScoreOf]]:
    for number, player in enumerate(spec.league.players):
        if player.population is not None:
            path: Path = ("league", "players", number, "population", "exploit", "by")
            yield path, player.population.exploit.by


def _buffers(spec: TrialSpec) -> dict[Path, int]:
    """How many buffers there are of each algorithm that the trial names, by where it names it."""
    found: dict[Path, int] = {("algorithm", "id"): 0}
    for number, player in enumerate(spec.league.players):
        if player.role.learns:
            own = player.algorithm is not None
            path: Path = ("league", "players", number, "algorithm", "id") if own else ("algorithm", "id")
            processes = spec.generation.training_processes(player.algorithm or spec.algorithm)
            found[path] = found.get(path, 0) + processes * len(player.members)
    return found


def _may_misfit(named: _Named) -> bool:
    """Whether it is an algorithm that not every game and model suits."""
    return named.kind is Kind.ALGORITHM and named.component.id not in FOR_EVERY_GAME


def _others(named: _Named, may_import: bool, code: Sequence[CodeName]) -> dict[Kind, _Named]:
    """What to try together with a component: only what needs no more than the scope that the component needs."""
    return {each.kind: each for each in named.together if may_import or not _code_below(each.path, code)}


def _code_below(path: Path, code: Sequence[CodeName]) -> tuple[CodeName, ...]:
    section = path[:-1] if path[-1] == "id" else path
    return tuple(each for each in code if each.path[: len(section)] == section)


def imported_names(components: Iterable[OwnComponent]) -> dict[str, str]:
    """What trying these components imports, by field, for the audit log."""
    found: dict[str, str] = {}
    for each in components:
        if each.code:
            found |= {name.field: name.name for name in each.code}
        elif each.imported:
            found[path_text(each.path)] = each.check.component.id
    return found


def _named(spec: TrialSpec) -> Iterator[_Named]:
    game = _Named(path=("game", "id"), kind=Kind.GAME, component=spec.game.component)
    model = _Named(path=("model", "id"), kind=Kind.MODEL, component=spec.model.component)
    algorithm = _Named(path=("algorithm", "id"), kind=Kind.ALGORITHM, component=spec.algorithm.component)
    yield replace(game, together=(model, algorithm))
    yield replace(model, together=(game, algorithm))
    yield replace(algorithm, together=(game, model))
    yield _Named(path=("league", "preset"), kind=Kind.MATCHMAKER, component=Component(id=spec.league.preset))
    for number, player in enumerate(spec.league.players):
        path = ("league", "players", number)
        if player.bot is not None:
            yield _Named(path=(*path, "bot"), kind=Kind.BOT, component=Component(id=player.bot))
        own_model, own_algorithm = model, algorithm
        if player.model is not None:
            own_model = replace(model, path=(*path, "model", "id"), component=player.model.component)
        if player.algorithm is not None:
            own_algorithm = replace(algorithm, path=(*path, "algorithm", "id"), component=player.algorithm.component)
        if player.model is not None:
            yield replace(own_model, together=(game, own_algorithm))
        if player.algorithm is not None:
            yield replace(own_algorithm, together=(game, own_model))
