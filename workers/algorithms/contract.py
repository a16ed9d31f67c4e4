"""The interface of an algorithm: it builds a learner and a buffer, and says how an update goes.

See docs/decisions/algorithms.md.
"""

from __future__ import annotations

import inspect
import math
from collections.abc import Callable, Iterator, Mapping, Sequence
from pathlib import Path
from typing import Any, ClassVar, Protocol

import numpy as np
from gymnasium import spaces
from numpy.typing import NDArray
from pydantic import BaseModel, ValidationError
from torch import Tensor, nn

from orchestrator.catalog import Component, Kind, load
from orchestrator.spec.algorithms.base import AlgorithmOptions, ReplayOptions
from workers.algorithms.errors import BadAlgorithm
from workers.algorithms.learner import POLICY, Learner
from workers.buffers.contract import Batch, Buffer, Draw
from workers.buffers.fresh import Fresh
from workers.buffers.replay import Replay
from workers.games.protocol import GameSpec, VectorGame
from workers.inference.actor import Actor, Rate
from workers.inference.policy import Policy
from workers.models.box_heads import BoxHead
from workers.user_errors import NotFinite


class NetFactory(Protocol):
    """Makes the trial file's model, of whatever kind it is, for one of a learner's networks."""

    def __call__(
        self,
        name: str,
        *,
        observation: spaces.Space[Any] | None = None,
        outputs: int | None = None,
        head: BoxHead | None = None,
    ) -> nn.Module:
        """The network of this name; by default it sees the game's observations and its outputs are the action head's.

        `observation` is another space to see: `Dict({"obs": ..., "action": ...})` for a critic, a global state. With
        `outputs` its first output has so many numbers a row, which no mask can be applied to. `head` is the
        distribution of Box actions, in place of the one that the trial file's model names.
        """


MakeGame = Callable[[int], VectorGame]
"""Makes the trial's game on this many tables."""

Metrics = Mapping[str, float]
"""Means of one gradient step or more; `rows`, where given, says how many decisions they are means over."""


class Algorithm:
    """Trains a learner on experience.

    The short form of an algorithm is `loss` alone; `build`, `actor`, `buffer`, `explore` and `update` may be replaced.
    """

    Options: ClassVar[type[AlgorithmOptions]] = AlgorithmOptions
    """The options that a trial file may give; checked before a trial starts."""
    count_metrics: ClassVar[frozenset[str]] = frozenset({"rows"})
    """Metrics that a generation sums over its updates and processes; all others are averaged, weighted by rows."""
    plays: ClassVar[bool] = True
    """Whether it learns from games of its own; if not, no game is played, and steps are rows learnt from."""
    data_folders: Sequence[Path] | None = None
    """The folders that data sets may be read from; None: any. A worker sets it."""
    equal_steps: ClassVar[bool] = False
    """Whether `update` takes the same number of gradient steps in every process by itself."""
    asynchronous: ClassVar[bool] = False
    """Whether a crew of topology `auto` is asynchronous: the algorithm corrects for samples of older weights."""
    restarts: ClassVar[bool] = False
    """Whether games begin anew for each update: what is under way at its end is dropped, and of each table only the
    first game since then is tallied."""
    actions: ClassVar[tuple[type[spaces.Space[Any]], ...]] = ()
    """The kinds of action space that it learns to act in; empty for all."""
    replay_class: ClassVar[type[Replay]] = Replay
    """The buffer of an algorithm with `ReplayOptions`: see `buffer`."""
    central: ClassVar[bool] = False
    """Whether the game's global state, if it declares one, is recorded for `update` as the column "global"."""

    recurrent: ClassVar[bool] = True
    """Whether it learns along trajectories or sequences, as recurrent models need; False: from single decisions."""

    def __init__(self, options: Any, expected_rows: int = 0, processes: int = 1) -> None:
        """`expected_rows` is the decisions that one update of the whole crew adds: it sets the number of steps."""
        self.options = options
        self.processes = processes
        self.minibatches = 1
        """Gradient steps of one pass over the new decisions."""
        self.expect(expected_rows)

    def expect(self, rows: int) -> None:
        """The next update adds about this many decisions of the whole crew."""
        self._expected_rows = rows
        self.minibatches = max(1, round(rows / self.options.minibatch))

    @property
    def gradient_steps(self) -> int:
        """Gradient steps of one update: `replay_ratio` (1 where there is none) times the new decisions."""
        ratio = float(getattr(self.options, "replay_ratio", 1.0))
        return max(1, round(ratio * self._expected_rows / int(self.options.minibatch)))

    def check(self, spec: GameSpec) -> None:
        """Raise BadAlgorithm for a game that it cannot learn; called before a trial starts, and before `build`."""
        if self.actions and not isinstance(spec.action, self.actions):
            allowed = " and ".join(kind.__name__ for kind in self.actions)
            raise BadAlgorithm(f"it learns {allowed} actions only")

    def build(self, spec: GameSpec, net: NetFactory) -> Learner:
        """Networks, optimisers and lagged copies; by default one network, the policy."""
        learner = Learner(net(POLICY))
        learner.optimiser(learning_rate=self.options.learning_rate, gradient_clip=self.options.gradient_clip)
        return learner

    def actor(self, nets: Mapping[str, nn.Module]) -> Policy:
        """Decides with these networks, in rollouts and matches; by default by the policy's distribution."""
        return Policy(nets[POLICY])

    def explorer(self, nets: Mapping[str, nn.Module], make: MakeGame) -> Actor:
        """Decides in the learner's own rollouts, where it may differ from `actor`; by default it is `actor`.

        `make` makes the game on any number of tables, for one that searches (`workers.inference.actor.GameActor`).
        """
        return self.actor(nets)

    def schedule(self, learner: Learner, steps: int) -> None:
        """Set what changes with the player's environment steps, before an update; by default nothing.

        The place for schedules: `learner.optimisers["policy"].learning_rate = scheduled(...)`, or a number of one's own
        such as `self.entropy`, which `loss` reads. A function of the steps alone resumes exactly.
        """

    def explore(self, steps: int) -> float:
        """The actor's exploration rate after this many environment steps of the player."""
        return 0.0

    def explore_at(self, rate: float, tables: NDArray[np.int64], total: int) -> Rate:
        """The rate of `explore` at each of these tables, of `total` tables of all processes; by default the same.

        Rates that differ explore in different ways at once: see `workers.algorithms.value_based.apex`.
        """
        return rate

    def buffer(self, spec: GameSpec) -> Buffer:
        """What `update` draws from: by `ReplayOptions` a replay, else the newest experience alone."""
        given = self.options
        if not isinstance(given, ReplayOptions):
            return Fresh(gamma=given.gamma)
        return self.replay_class(**given.buffer_arguments)

    def loss(self, batch: Batch, nets: Mapping[str, nn.Module]) -> Tensor:
        """The loss of rows drawn from the buffer: one number, or one for each row.

        A loss for each row is weighted by the buffer's weights, and tells the buffer which rows surprise. The lagged
        copy of a network is `nets["lagged/<name>"]`.
        """
        raise NotImplementedError

    def update(self, learner: Learner, buffer: Buffer, rng: np.random.Generator) -> Iterator[Metrics]:
        """Train; yields after each gradient step. By default `gradient_steps` steps of `loss`."""
        rows = max(1, round(self.options.minibatch / self.processes))
        for _ in range(self.gradient_steps):
            drawn = buffer.draw(rows, rng)
            if drawn is None:
                learner.skip()
                yield {}
            else:
                yield {**self._step_on(drawn, learner, buffer), "rows": float(len(drawn))}

    def _step_on(self, drawn: Draw, learner: Learner, buffer: Buffer) -> Metrics:
        """One gradient step of `loss` on these rows; returns its metrics."""
        with learner.autocast():
            loss = self.loss(drawn.tensors(learner.device), learner.all_nets()).float()
        errors = loss.detach() if loss.ndim else None
        if errors is not None:
            loss = (loss * drawn.weight_tensor(learner.device)).mean()
        learner.descend(loss)
        value = float(loss.detach())
        if not math.isfinite(value):
            kind = type(self)
            raise NotFinite(f"the loss of {kind.__module__}:{kind.__qualname__} is {value}, which is not finite")
        if errors is not None:
            buffer.feedback(drawn.ids, errors.cpu().numpy())
        return {"loss": value}


def algorithm_class(component: Component) -> type[Algorithm]:
    """The algorithm class of this id; raises BadAlgorithm where it is none, or one of an earlier release."""
    found = load(Kind.ALGORITHM, component.id)
    if not (isinstance(found, type) and issubclass(found, Algorithm)):
        raise BadAlgorithm(f"algorithm {component.id!r} is not a subclass of lanista.algorithms.Algorithm")
    _refuse_earlier(component.id, found)
    if not (isinstance(found.Options, type) and issubclass(found.Options, BaseModel)):
        raise BadAlgorithm(f"algorithm {component.id!r}: Options must be a subclass of AlgorithmOptions")
    if found.loss is Algorithm.loss and found.update is Algorithm.update:
        raise BadAlgorithm(f"algorithm {component.id!r} defines neither loss nor update")
    return found


def parse_options(component: Component) -> AlgorithmOptions:
    """The component's options, checked."""
    kind = algorithm_class(component).Options
    try:
        return kind.model_validate(dict(component.options))
    except ValidationError as error:
        problems = "; ".join(
            f"{'.'.join(map(str, each['loc'])) or 'options'}: {each['msg']}" for each in error.errors(include_url=False)
        )
        raise BadAlgorithm(f"algorithm {component.id!r}: {problems}") from error


def make_algorithm(component: Component, expected_rows: int = 0, processes: int = 1) -> Algorithm:
    """The algorithm with its options, checked."""
    return algorithm_class(component)(parse_options(component), expected_rows, processes)


def _refuse_earlier(name: str, found: type[Algorithm]) -> None:
    """Say what to change in an algorithm written for a release in which `update` took a batch."""
    old = []
    if "options_class" in vars(found):
        old.append("options_class is now `Options`, a subclass of lanista.algorithms.AlgorithmOptions (pydantic)")
    parameters = list(inspect.signature(found.update).parameters)
    if len(parameters) < 4:
        old.append(
            "update(self, batch, rng) -> dict is now update(self, learner, buffer, rng), a generator that yields "
            "metrics after each gradient step; the newest batch is buffer.newest"
        )
    if old:
        raise BadAlgorithm(f"algorithm {name!r} is written for an earlier release: {'; '.join(old)}")


def return_spread(returns: NDArray[np.float32]) -> float:
    """The standard deviation of the returns, at least 1: the small returns of early training are not scaled up."""
    return max(float(returns.std()), 1.0) if len(returns) else 1.0


def explained_variance(predicted: NDArray[np.float32], actual: NDArray[np.float32]) -> float:
    """1 for a perfect value head, 0 for one that knows no more than the mean."""
    spread = float(actual.var())
    return 1.0 - float((actual - predicted).var()) / spread if spread > 0.0 else 0.0
