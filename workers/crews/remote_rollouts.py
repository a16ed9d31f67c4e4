"""What a rollout process keeps for games that call in: its connections to gateways, and the collection under way."""

from __future__ import annotations

from collections.abc import Callable, Sequence

import numpy as np
from torch import nn

from orchestrator.contracts.generations import GenerationTask, PlannedOpponent
from workers.algorithms.contract import Algorithm
from workers.algorithms.errors import BadAlgorithm
from workers.crews.errors import BadTask
from workers.crews.plan import CrewPlan
from workers.games.protocol import GameSpec
from workers.games.remote import RemoteGame
from workers.gateway.league.access import NO_GATEWAY
from workers.gateway.league.demand import Contestant, Demand
from workers.gateway.league.links import Links
from workers.inference.actor import Actor
from workers.rollout.remote import WINDOW_BATCHES, RemoteSampler, new_id
from workers.rollout.seating import LEARNER, Seating


class RemoteRollouts:
    """Makes samplers of a game that calls in. `part` is the process's number among the crew's rollout processes."""

    def __init__(self, plan: CrewPlan, game: RemoteGame, part: int) -> None:
        if plan.gateways is None or not plan.gateways.addresses:
            raise BadTask(NO_GATEWAY)
        self._plan, self._game, self._part = plan, game, part
        self._links = Links(plan.gateways, f"rollout process {part} of a crew")
        self._sampler: RemoteSampler | None = None

    def sampler(
        self,
        task: GenerationTask,
        seating: Seating,
        learner: Actor,
        algorithm: Algorithm,
        nets: nn.Module,
        check: Callable[[], None],
    ) -> RemoteSampler:
        """A sampler for one generation; what an earlier one left under way is aborted."""
        if self._sampler is not None:
            self._sampler.drop("its generation was given up")
        check_remote_algorithm(algorithm, learner)
        spec, rollout_steps = self._game.spec, algorithm.options.rollout_steps
        rows = decisions_of_batch(seating, spec, rollout_steps)
        demand = Demand(
            id=new_id(),
            game=task.game,
            model=task.model,
            algorithm=task.algorithm,
            seed=task.seed,
            owner=seating.owner,
            mates=seating.mates,
            opponents=_contestants(task.others),
            mate_players=_contestants(task.mates),
            window=WINDOW_BATCHES * max(1, rows),
            info={
                "player": task.player,
                "version": task.version,
                "trial": getattr(task, "trial", ""),
                "generation": getattr(task, "generation", 0),
            },
        )
        self._sampler = RemoteSampler(
            links=self._links,
            demand=demand,
            seating=seating,
            spec=spec,
            nets=nets,
            rows=rows,
            steps=rollout_steps * self._plan.tables,
            check=check,
        )
        return self._sampler

    def close(self) -> None:
        """Close the connections, which aborts what is under way."""
        self._links.close()


def check_remote_algorithm(algorithm: Algorithm, learner: Actor) -> None:
    """Raise BadAlgorithm for an algorithm that needs tables which are stepped here."""
    by_tables = isinstance(algorithm.explore_at(algorithm.explore(0), np.zeros(1, np.int64), 1 << 20), np.ndarray)
    if algorithm.restarts or by_tables or getattr(learner, "placed", False):
        raise BadAlgorithm(
            f"{type(algorithm).__name__} needs the tables of its decisions (mates that act at once, games that begin "
            "anew, or exploration by tables), and games that call in have none"
        )


def decisions_of_batch(seating: Seating, spec: GameSpec, rollout_steps: int) -> int:
    """The learner's decisions in so many steps at every table, if seats decide equally often."""
    share = float(np.mean(seating.owner == LEARNER))
    width = spec.seats if spec.simultaneous else 1
    return max(1, round(rollout_steps * len(seating.owner) * width * share))


def _contestants(opponents: Sequence[PlannedOpponent]) -> list[Contestant]:
    return [
        Contestant(name=each.version, player=each.player_name, checkpoint=each.checkpoint, bot=each.bot)
        for each in opponents
    ]
