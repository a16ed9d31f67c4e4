"""OpenSpiel's own CFR, NFSP and PSRO in a small game for a fixed time, as references for leagues.

CFR knows the whole game. PSRO here has exact best responses and estimates its meta-game by play; it mixes by projected
replicator dynamics. NFSP learns by play alone, with the settings of OpenSpiel's example for Leduc poker; its
exploration decays over the steps of the example, whatever the time.
"""

from __future__ import annotations

import contextlib
import io
import time
from collections.abc import Callable, Iterable, Iterator
from importlib.util import find_spec
from typing import Any

import numpy as np
import pyspiel
from open_spiel.python import policy as spiel_policy
from open_spiel.python import rl_environment
from open_spiel.python.algorithms import exploitability, policy_aggregator
from open_spiel.python.algorithms.psro_v2 import best_response_oracle, psro_v2

from benchmarks.nash_conv.pools import Point
from workers.games.names import make_game

POINTS = 20
"""Points of a curve, evenly over the time; PSRO, whose iterations become longer, may have fewer."""
_NFSP = {
    "hidden_layers_sizes": [128],
    "reservoir_buffer_capacity": 2_000_000,
    "replay_buffer_capacity": 200_000,
    "anticipatory_param": 0.1,
    "batch_size": 128,
    "learn_every": 64,
    "rl_learning_rate": 0.01,
    "sl_learning_rate": 0.01,
    "min_buffer_size_to_learn": 1000,
    "optimizer_str": "sgd",
    "loss_str": "mse",
    "update_target_network_every": 19_200,
    "discount_factor": 1.0,
    "epsilon_decay_duration": 20_000_000,
    "epsilon_start": 0.06,
    "epsilon_end": 0.001,
}
_SIMULATIONS = 200
"""Games of each entry of PSRO's meta-game, as many as a pair of snapshots plays here."""

Stages = Iterator[tuple[int, Callable[[], float]]]
"""Iterations or episodes so far, and what computes the NashConv then."""


def check_references(names: Iterable[str]) -> None:
    """Raise RuntimeError for a reference that cannot run here, before hours are spent on the others."""
    # OpenSpiel does not ask for what its NFSP imports
    if "openspiel-nfsp" in names and find_spec("tree") is None:
        raise RuntimeError("OpenSpiel's NFSP needs dm-tree: pip install dm-tree")


def reference(name: str, game: str, seconds: float, seed: int) -> list[Point]:
    """The curve of one reference; the time of evaluations does not count.

    A mixture of many policies takes longer to evaluate than to extend, so that not every stage is.
    """
    check_references([name])
    spent, due, points = 0.0, 0.0, list[Point]()
    spiel_game = pyspiel.load_game_as_turn_based(make_game(game, 1).spec.openspiel)
    np.random.seed(seed)
    # PSRO and NFSP print and warn of their own
    with contextlib.redirect_stdout(io.StringIO()):
        stages = REFERENCES[name](spiel_game, seconds, seed)
        while spent < seconds:
            began = time.perf_counter()
            count, evaluate = next(stages)
            spent += time.perf_counter() - began
            if spent < min(due, seconds):
                continue
            value = evaluate()
            points.append(Point(steps=count, last=value, mixture=value, seconds=round(spent, 2)))
            due = (int(spent / seconds * POINTS) + 1) * seconds / POINTS
    return points


def _cfr(game: Any, seconds: float, seed: int) -> Stages:
    solver, count = pyspiel.CFRSolver(game), 0
    while True:
        began = time.perf_counter()
        while time.perf_counter() - began < seconds / POINTS:
            solver.evaluate_and_update_policy()
            count += 1
        yield count, lambda: float(pyspiel.nash_conv(game, solver.average_policy()))


def _nfsp(game: Any, seconds: float, seed: int) -> Stages:
    from open_spiel.python.pytorch import nfsp

    env = rl_environment.Environment(game)
    size, actions = env.observation_spec()["info_state"][0], env.action_spec()["num_actions"]
    nfsp.set_seed(seed)
    agents = [nfsp.NFSP(seat, size, actions, seed=seed, **_NFSP) for seat in range(game.num_players())]
    count = 0
    while True:
        began = time.perf_counter()
        while time.perf_counter() - began < seconds / POINTS:
            _episode(env, agents)
            count += 1
        yield (
            count,
            lambda: float(exploitability.nash_conv(game, AveragePolicy(game, agents, nfsp.MODE.AVERAGE_POLICY))),
        )


def _episode(env: Any, agents: list[Any]) -> None:
    now = env.reset()
    while not now.last():
        now = env.step([agents[now.observations["current_player"]].step(now).action])
    for agent in agents:
        agent.step(now)


class AveragePolicy(spiel_policy.Policy):  # type: ignore[misc]
    """The average policies of NFSP's agents, as one policy of all seats; `mode` is NFSP's name for them."""

    def __init__(self, game: Any, agents: list[Any], mode: Any) -> None:
        super().__init__(game, list(range(game.num_players())))
        self._agents, self._mode = agents, mode

    def action_probabilities(self, state: Any, player_id: int | None = None) -> dict[int, float]:
        seat, seats = state.current_player(), len(self._agents)
        legal = state.legal_actions(seat)
        seen: dict[str, Any] = {"info_state": [None] * seats, "legal_actions": [None] * seats, "current_player": seat}
        seen["info_state"][seat] = state.information_state_tensor(seat)
        seen["legal_actions"][seat] = legal
        now = rl_environment.TimeStep(observations=seen, rewards=None, discounts=None, step_type=None)
        agent = self._agents[seat]
        with agent.temp_mode_as(self._mode):
            chances = agent.step(now, is_evaluation=True).probs
        return {action: float(chances[action]) for action in legal}


def _psro(game: Any, seconds: float, seed: int) -> Stages:
    solver = psro_v2.PSROSolver(
        game,
        best_response_oracle.BestResponseOracle(game=game),
        sims_per_entry=_SIMULATIONS,
        initial_policies=[spiel_policy.TabularPolicy(game) for _ in range(game.num_players())],
        training_strategy_selector="probabilistic",
        meta_strategy_method="prd",
        prd_iterations=50_000,
        prd_gamma=1e-10,
        sample_from_marginals=True,
        symmetric_game=False,
    )
    count = 0
    while True:
        solver.iteration(seed=seed + count)
        count += 1
        policies, weights = solver.get_policies(), solver.get_meta_strategies()

        def evaluate(policies: Any = policies, weights: Any = weights) -> float:
            mixed = policy_aggregator.PolicyAggregator(game).aggregate(range(game.num_players()), policies, weights)
            return float(exploitability.nash_conv(game, mixed))

        yield count, evaluate


REFERENCES: dict[str, Callable[[Any, float, int], Stages]] = {
    "openspiel-cfr": _cfr,
    "openspiel-nfsp": _nfsp,
    "openspiel-psro": _psro,
}
