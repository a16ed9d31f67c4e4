"""Monte Carlo tree search by OpenSpiel's C++ bot, on states rebuilt from the tables' histories."""

import numpy as np
import pyspiel
from numpy.typing import NDArray

from workers.bots.protocol import BadBot, Bot, BotInput
from workers.games.protocol import GameSpec

EXPLORATION = 2.0
MEMORY_MB = 1000
_SEED_BITS = np.uint64(33)


class MctsBot(Bot):
    """UCT with random rollouts, one per simulation; a fresh tree for every move."""

    def __init__(self, spec: GameSpec, *, simulations: int) -> None:
        super().__init__(spec)
        if simulations < 2:
            raise BadBot(f"mcts needs at least 2 simulations per move, not {simulations}")
        if spec.openspiel is None:
            raise BadBot(f"mcts plays only games that OpenSpiel has too, not {spec.id}")
        if spec.simultaneous or spec.hidden_information:
            raise BadBot(f"mcts plays only turn-based games without hidden information, not {spec.id}")
        self.simulations = simulations
        self._game = pyspiel.load_game(spec.openspiel)

    def act(self, inputs: BotInput) -> NDArray[np.int64]:
        seeds = (inputs.keys >> _SEED_BITS).tolist()
        return np.array([self._search(inputs.history(row), seed) for row, seed in enumerate(seeds)], np.int64)

    def _search(self, history: list[int], seed: int) -> int:
        state = self._game.new_initial_state()
        for action in history:
            state.apply_action(action)
        bot = pyspiel.MCTSBot(
            game=self._game,
            evaluator=pyspiel.RandomRolloutEvaluator(n_rollouts=1, seed=seed),
            uct_c=EXPLORATION,
            max_simulations=self.simulations,
            max_memory_mb=MEMORY_MB,
            solve=True,
            seed=seed,
            verbose=False,
        )
        return int(bot.step(state))
