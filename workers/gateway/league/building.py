"""Makes what crews and matches ask for: agents, the learner with its weights, opponents by their checkpoints.

Models and agents are loaded in a thread, so that games under way are not held up. What needs torch is imported there.
"""

from __future__ import annotations

import asyncio
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any
from weakref import WeakValueDictionary

from orchestrator.catalog import Component
from orchestrator.user_code.code_importing import import_archives_from
from workers.games.protocol import GameSpec
from workers.games.remote import RemoteGame
from workers.gateway.contract import Cast, Director, Refused, Reply, Runner, Step, StepKind
from workers.gateway.league.demand import Contestant, Demand, GameOrder, Weights
from workers.gateway.league.work import Assignment, Collection, OpenOrder, SeatedModels, Send

if TYPE_CHECKING:
    from orchestrator.storage.artifacts import ArtifactStore
    from workers.algorithms.learner import Learner
    from workers.gateway.models import BatchedModel
    from workers.inference.actor import Actor


@dataclass(kw_only=True)
class _Loaded:
    """What a thread has loaded for a collection or an order."""

    game: RemoteGame
    agents: Any
    players: list[Callable[[int], Actor | None]]
    """Each player's actor in a seat; None where the game plays by itself."""
    learner: Learner | None = None
    actor: Actor | None = None


class LeagueBuilder:
    """See `workers.gateway.league.server.Builder`."""

    def __init__(self, store: ArtifactStore) -> None:
        self._store = store
        import_archives_from(store)  # users' own agents and models are imported from archives
        self._caches: dict[str, Any] = {}
        self._learners: WeakValueDictionary[str, Any] = WeakValueDictionary()
        self._models: WeakValueDictionary[tuple[str, str, bool], BatchedModel] = WeakValueDictionary()

    async def collection(self, demand: Demand, send: Send) -> Collection:
        """Load a generation's demand."""
        loaded = await asyncio.to_thread(self._load_collection, demand)
        from workers.gateway.models import BatchedModel

        spec = loaded.game.spec
        assert loaded.actor is not None and loaded.learner is not None
        learner = BatchedModel(loaded.actor, spec, str(demand.info.get("version", "")), seed=demand.seed)
        players = [self._seated(each, actor, spec, True) for each, actor in self._paired(demand, loaded)]
        opponents, mates = players[: len(demand.opponents)], players[len(demand.opponents) :]
        made = Collection(demand, loaded.game.name, spec, loaded.agents, send, learner, opponents, mates)
        made.nets = loaded.learner.nets
        return made

    async def order(self, order: GameOrder, send: Send) -> OpenOrder:
        """Load the players of a match."""
        loaded = await asyncio.to_thread(self._load, order.game, order.entrants)
        spec = loaded.game.spec
        pairs = zip(order.entrants, loaded.players, strict=True)
        entrants = [self._seated(each, actor, spec, order.sampled) for each, actor in pairs]
        return OpenOrder(order, loaded.game.name, spec, loaded.agents, send, entrants)

    def load(self, collection: Collection, weights: Weights) -> None:
        """Let the learner of a collection decide with these weights from now on."""
        import torch

        from workers.models.contract import see_raw_images

        nets: Any = collection.nets
        nets.load_state_dict({name: torch.from_numpy(array) for name, array in weights.arrays.items()})
        for net in nets.values():
            see_raw_images(net, weights.raw_images)
        learner: Any = collection.learner
        learner.explore = weights.explore
        learner.swap(learner.actor, update=weights.update)

    @staticmethod
    def _paired(demand: Demand, loaded: _Loaded) -> list[tuple[Contestant, Callable[[int], Actor | None]]]:
        return list(zip([*demand.opponents, *demand.mate_players], loaded.players, strict=True))

    def _seated(
        self, player: Contestant, actor: Callable[[int], Actor | None], spec: GameSpec, sampled: bool
    ) -> SeatedModels:
        """The player's model in each seat; one of a checkpoint is shared by all collections and matches."""
        from workers.gateway.models import BatchedModel

        if player.checkpoint is None:
            made = [actor(seat) for seat in range(spec.seats)]
            return [None if each is None else BatchedModel(each, spec, player.name) for each in made]
        key = player.checkpoint.sha256, spec.id, sampled
        model = self._models.get(key)
        if model is None:
            found = actor(0)
            assert found is not None
            model = self._models[key] = BatchedModel(found, spec, player.name, greedy=not sampled)
        return [model] * spec.seats

    def _load_collection(self, demand: Demand) -> _Loaded:
        loaded = self._load(demand.game, [*demand.opponents, *demand.mate_players])
        from workers.algorithms.building import build_learner
        from workers.algorithms.contract import make_algorithm

        algorithm = make_algorithm(demand.algorithm)
        learner = build_learner(algorithm, demand.model, loaded.game.spec, demand.seed)
        learner.nets.eval()
        loaded.learner, loaded.actor = learner, algorithm.actor(learner.all_nets())
        return loaded

    def _load(self, game: Component, players: Sequence[Contestant]) -> _Loaded:
        from workers.agents.agent_set import load_agents
        from workers.games.names import make_game

        made = make_game(game.id, 1, **game.options)
        assert isinstance(made, RemoteGame)
        agents = load_agents(made.agent, episode_length=made.episode_length)
        return _Loaded(game=made, agents=agents, players=[self._actor(each, made.spec) for each in players])

    def _actor(self, player: Contestant, spec: GameSpec) -> Callable[[int], Actor | None]:
        if player.checkpoint is not None:
            from workers.inference.cache import PolicyCache

            cache = self._caches.setdefault(repr(spec), PolicyCache(self._store, spec))
            policy = cache.get(player.checkpoint)
            return lambda seat: policy
        from workers.bots.names import make_bot
        from workers.bots.outside import OutsideBot
        from workers.gateway.league.bots import BotActor

        assert player.bot is not None
        bot = make_bot(player.bot, spec)
        return lambda seat: None if isinstance(bot, OutsideBot) else BotActor(bot, seat)


def runner_factory(director: Director, loop: asyncio.AbstractEventLoop) -> Callable[[str, Cast], Runner]:
    """What runs the sessions of a league: the agents of each session's game, and no game beyond its longest."""
    from workers.agents.runner import AgentRunner

    class LeagueRunner(AgentRunner):
        """A session that is aborted when it has more ticks than its game allows."""

        __slots__ = ()

        def step(self, step: Step, reply: Reply) -> None:
            part = self._parts.get(step.agent)
            most = self.cast.spec.max_steps
            if step.kind is StepKind.TICK and part is not None and part.tick >= most and not self.over:
                self.abort(f"the game has more than {most} ticks, which is its max_steps")
                reply(Refused(410, f"session {self.session!r} is aborted: more than max_steps, {most} ticks"))
                return
            super().step(step, reply)

    def make(session: str, cast: Cast) -> Runner:
        assignment: Assignment = cast.key
        return LeagueRunner(session, cast, assignment.work.agents, director, loop)

    return make
