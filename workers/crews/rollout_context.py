"""What a rollout process keeps between generations: its game, a policy cache and the bots it has made."""

from __future__ import annotations

from collections.abc import Callable, Sequence

import numpy as np
from torch import nn

from orchestrator.catalog import Component
from orchestrator.contracts.generations import GenerationTask, PlannedOpponent
from orchestrator.storage.artifacts import ArtifactStore
from workers.algorithms.contract import Algorithm
from workers.bots.names import make_bot
from workers.bots.protocol import Bot
from workers.crews.errors import BadTask
from workers.crews.plan import CrewPlan
from workers.crews.remote_rollouts import RemoteRollouts
from workers.games.names import make_game
from workers.games.protocol import GameSpec, VectorGame
from workers.games.remote import RemoteGame
from workers.inference.actor import Actor, Rate
from workers.inference.cache import PolicyCache
from workers.inference.policy import Policy
from workers.rollout.openings import OpeningRules
from workers.rollout.remote import RemoteSampler
from workers.rollout.sampler import Sampler
from workers.rollout.seating import seat


def build_game(component: Component, tables: int) -> VectorGame:
    """Make the component's game on this many tables."""
    return make_game(component.id, tables, **component.options)


def check_mates(task: GenerationTask, spec: GameSpec) -> None:
    """Raise BadTask if the task has mates and no team of the game has room for one."""
    if task.mates and spec.team_count == spec.seats:
        raise BadTask(f"league.mates: each seat of {spec.id} is a team of its own, so that nobody has a mate")


class RolloutContext:
    """The sampling side of one process. `part` is its number among the crew's rollout processes."""

    def __init__(self, plan: CrewPlan, store: ArtifactStore, part: int) -> None:
        self._plan, self._part = plan, part
        self.game = build_game(plan.game, plan.tables)
        self._cache = PolicyCache(store, self.game.spec, device=plan.resources.samples_on)
        self._bots: dict[str, Bot] = {}
        self._remote = RemoteRollouts(plan, self.game, part) if isinstance(self.game, RemoteGame) else None

    def sampler(
        self,
        task: GenerationTask,
        learner: Actor,
        algorithm: Algorithm,
        nets: nn.Module,
        check: Callable[[], None] = lambda: None,
    ) -> Sampler | RemoteSampler:
        """A sampler for one generation: tables are reset and seeded from the task's seed and `part`.

        Of a game that calls in, gateways decide with copies of `nets`, and `check` raises to end the sampling.
        """
        spec, parts = self.game.spec, self._plan.rollout_actors
        seats_rng = np.random.default_rng([task.seed, 1])
        rng = np.random.default_rng([task.seed, 2, self._part])
        shares = task.shares if spec.team_count > 1 else [1.0]
        check_mates(task, spec)
        seating = seat(
            tables=self.game.tables,
            teams=spec.teams,
            shares=shares,
            rng=seats_rng,
            part=self._part,
            parts=parts,
            mates=task.mate_shares,
        )
        if self._remote is not None:
            return self._remote.sampler(task, seating, learner, algorithm, nets, check)
        self.game.reset(rng.integers(0, 2**64, self.game.tables, dtype=np.uint64))
        return Sampler(
            game=self.game,
            seating=seating,
            learner=learner,
            opponents=self._players(task.others, set(seating.blocks)),
            mates=None if seating.mates is None else self._players(task.mates, set(seating.mates.tolist())),
            steps=algorithm.options.rollout_steps,
            rng=rng,
            openings=OpeningRules(share=task.opening_share, plies=task.opening_plies),
            central=algorithm.central,
            restarts=algorithm.restarts,
        )

    def explore(self, algorithm: Algorithm, rate: float) -> Rate:
        """The exploration rate of this process's tables."""
        first, tables = self._part * self._plan.tables, np.arange(self._plan.tables)
        return algorithm.explore_at(rate, first + tables, self._plan.tables * self._plan.rollout_actors)

    def _players(self, opponents: Sequence[PlannedOpponent], seated: set[int]) -> dict[int, Policy | Bot]:
        """The opponents that have a table here; checkpoints of the others are not read."""
        return {number: self._player(opponent) for number, opponent in enumerate(opponents) if number in seated}

    def _player(self, opponent: PlannedOpponent) -> Policy | Bot:
        if opponent.checkpoint is not None:
            return self._cache.get(opponent.checkpoint)
        assert opponent.bot is not None
        if opponent.bot not in self._bots:
            self._bots[opponent.bot] = make_bot(opponent.bot, self.game.spec)
        return self._bots[opponent.bot]
