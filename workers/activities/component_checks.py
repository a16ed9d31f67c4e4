"""Tries the components of a trial before it starts: alone, and a game, model and algorithm together."""

from __future__ import annotations

import inspect
from collections.abc import Sequence
from functools import partial
from pathlib import Path

import numpy as np
from pydantic import ValidationError

from orchestrator.catalog import CatalogError, Component, Kind
from orchestrator.catalog import load as load_component
from orchestrator.contracts.interactive import ComponentCheck, ComponentVerdict
from orchestrator.matchmakers import load_matchmaker
from orchestrator.spec.algorithms.imitation import DatasetOptions
from orchestrator.spec.topology import NOT_ASYNCHRONOUS, resolve_topology
from orchestrator.storage.artifacts import ArtifactStore
from orchestrator.user_code.import_folders import find_import
from workers.activities.buffer_sizes import full_buffer_bytes
from workers.activities.failures import failure_message
from workers.agents.agent_set import load_agents
from workers.algorithms.building import build_learner, fresh_weights
from workers.algorithms.contract import Algorithm, make_algorithm
from workers.algorithms.errors import BadAlgorithm
from workers.bots.names import bot_maker
from workers.buffers.demonstrations import check_first
from workers.checkpoints import check_weights, load, read_weights
from workers.crews.remote_rollouts import check_remote_algorithm
from workers.games.enumeration import check_enumerable
from workers.games.errors import BadGame
from workers.games.names import make_game, make_new_game
from workers.games.protocol import VectorGame
from workers.games.remote import RemoteGame
from workers.models.contract import BadModel, build_model, model_maker, state_size


def try_component(
    check: ComponentCheck,
    folders: Sequence[Path] | None = None,
    buffer_memory: int = 0,
    store: ArtifactStore | None = None,
) -> ComponentVerdict:
    """Whether the component can be used, and whether it fits those that the check names.

    `folders` are those that data sets may be read from; None: any. `buffer_memory` is the memory for the buffers of all
    crews: the API knows how many buffers the trial has. `store` has the weights that a check names.
    """
    section, buffer_bytes = check.kind, 0
    try:
        teams = _load(check)
        for kind, build in _together(check, folders):
            section = kind
            buffer_bytes = build()
        if check.weights is not None or check.source is not None:
            section, buffer_bytes = check.kind, 0
            _check_weights(check, store, folders)
    except CatalogError as error:
        return ComponentVerdict(usable=False, problem=str(error), section=section)
    except (Exception, SystemExit) as error:  # user code may raise anything; that is the verdict
        return ComponentVerdict(usable=False, problem=failure_message(error), section=section, option=_option(error))
    return ComponentVerdict(
        usable=True,
        teams=list(teams),
        buffer_bytes=buffer_bytes,
        buffer_memory=buffer_memory,
        defaults=_at_default(check.component) if check.kind is Kind.GAME else [],
        no_nash_conv=_no_nash_conv(check) if check.nash_conv else "",
    )


def _no_nash_conv(check: ComponentCheck) -> str:
    """Why NashConv cannot be computed in the game with the model; empty where it can."""
    game = check.component
    try:
        check_enumerable(partial(_table, game))
        if check.model is not None and state_size(build_model(check.model, _table(game, 1).spec)):
            return f"NashConv needs a model without recurrent state, and {check.model.id} has one"
    except (Exception, SystemExit) as error:  # a user's game may raise anything while it is played
        return failure_message(error)
    return ""


def _table(game: Component, tables: int) -> VectorGame:
    return make_game(game.id, tables, **game.options)


def _option(error: BaseException) -> str | None:
    """The first option that an algorithm refuses."""
    if not isinstance(error, BadAlgorithm) or not isinstance(error.__cause__, ValidationError):
        return None
    return next((str(each["loc"][0]) for each in error.__cause__.errors(include_url=False) if each["loc"]), None)


def _at_default(game: Component) -> list[str]:
    """The options whose value is the default of the game's class or function; none where it does not tell them."""
    try:
        parameters = inspect.signature(load_component(Kind.GAME, game.id)).parameters
    except (TypeError, ValueError):
        return []
    defaults = {name: parameters[name].default for name in game.options if name in parameters}
    return [
        name
        for name, value in game.options.items()
        if name in defaults and type(defaults[name]) is type(value) and defaults[name] == value
    ]


def _check_weights(check: ComponentCheck, store: ArtifactStore | None, folders: Sequence[Path] | None) -> None:
    """Raise an error where a player of the algorithm and model cannot start from the weights that the check names."""
    assert check.game is not None and check.model is not None, "weights are of a whole player"
    if check.source is not None:
        weights, _ = read_weights(find_import(check.source, folders or ()).read_bytes())
    else:
        assert store is not None and check.weights is not None
        weights = dict(load(store, check.weights).weights)
    spec = make_game(check.game.id, 1, **check.game.options).spec
    like, _ = fresh_weights(check.model, check.component, spec, 0)
    check_weights(weights, like)


def _load(check: ComponentCheck) -> tuple[int, ...]:
    """Import the component, and make it if it is a game; returns the game's teams."""
    match check.kind:
        case Kind.GAME:
            game = make_new_game(check.component.id, 1, **check.component.options)
            if isinstance(game, RemoteGame):
                load_agents(game.agent, episode_length=game.episode_length)
            return game.spec.teams
        case Kind.MODEL:
            model_maker(check.component.id)
        case Kind.ALGORITHM:
            _check_crew(check, make_algorithm(check.component))
        case Kind.BOT:
            bot_maker(check.component.id)
        case Kind.MATCHMAKER:
            load_matchmaker(check.component.id)
        case Kind.AGENT:
            load_agents({"id": check.component.id, "options": check.component.options})
    return ()


def _check_crew(check: ComponentCheck, algorithm: Algorithm) -> None:
    """Raise BadAlgorithm if the trial's crews cannot train by this algorithm."""
    topology = resolve_topology(check.topology, 1, asynchronous=algorithm.asynchronous)
    if algorithm.restarts and topology == "asynchronous":
        raise BadAlgorithm(f"algorithm {check.component.id!r}: {NOT_ASYNCHRONOUS}")
    if check.tables is not None:
        algorithm.explore_at(algorithm.explore(0), np.zeros(1, np.int64), check.tables)  # raises if these are too few


def _together(check: ComponentCheck, folders: Sequence[Path] | None) -> list[tuple[Kind, _Try]]:
    """What is to be tried with the game, the model first; nothing where the game cannot be made by itself."""
    named = {Kind.GAME: check.game, Kind.MODEL: check.model, Kind.ALGORITHM: check.algorithm}
    if check.kind in named:
        named[check.kind] = check.component
    game, model, algorithm = named.values()
    made = None if game is None or model is None else _made(game)
    if made is None or model is None:
        return []
    tried = [(Kind.MODEL, _Try(made, model))]
    return tried if algorithm is None else [*tried, (Kind.ALGORITHM, _Try(made, model, algorithm, folders))]


class _Try:
    """Builds a model for a game, or the learner and the actor of an algorithm with it."""

    def __init__(
        self,
        game: VectorGame,
        model: Component,
        algorithm: Component | None = None,
        folders: Sequence[Path] | None = None,
    ) -> None:
        self._game, self._spec, self._model = game, game.spec, model
        self._algorithm, self._folders = algorithm, folders

    def __call__(self) -> int:
        """Returns the bytes of one full buffer of the algorithm, or of its data set; 0 where there is none."""
        if self._algorithm is None:
            build_model(self._model, self._spec)
            return 0
        algorithm = make_algorithm(self._algorithm)
        try:
            actor = algorithm.actor(build_learner(algorithm, self._model, self._spec, 0).all_nets())
            if isinstance(self._game, RemoteGame):
                check_remote_algorithm(algorithm, actor)
        except (BadGame, BadModel, BadAlgorithm) as error:
            raise BadAlgorithm(
                f"algorithm {self._algorithm.id!r} cannot learn {self._spec.id}, "
                f"whose actions are {self._spec.action}: {error}"
            ) from error
        if isinstance(algorithm.options, DatasetOptions):
            return check_first(algorithm.options, self._spec, self._folders)
        return full_buffer_bytes(algorithm, actor, self._game)


def _made(game: Component) -> VectorGame | None:
    """The game on one table; None if it cannot be made, which its own check reports."""
    try:
        return make_game(game.id, 1, **game.options)
    except (Exception, SystemExit):
        return None
