"""The built-in games, models, algorithms, bots, matchmakers and agents: name -> target.

`<simulations:int>` in a name is a number that is passed on as an option: see `orchestrator.catalog`.
"""

from __future__ import annotations

from collections.abc import Mapping
from types import MappingProxyType
from typing import Any, NamedTuple


class BuiltIn(NamedTuple):
    """One row of a table."""

    target: str
    description: str
    options: Mapping[str, Any] = MappingProxyType({})
    opening_plies: int | None = None
    """See `orchestrator.catalog.Entry.opening_plies`."""


GAMES: Mapping[str, BuiltIn] = {
    "connect_four": BuiltIn(
        "workers.games.builtin.connect_four:ConnectFour", "Connect four, 7 columns by 6 rows", opening_plies=4
    ),
    "tic_tac_toe": BuiltIn("workers.games.builtin.tic_tac_toe:TicTacToe", "Tic-tac-toe, 3 by 3", opening_plies=2),
    "rock_paper_scissors": BuiltIn(
        "workers.games.builtin.rock_paper_scissors:RockPaperScissors",
        "Rock, paper, scissors; both seats choose at once",
        opening_plies=0,
    ),
    "kuhn_poker": BuiltIn(
        "workers.games.builtin.kuhn_poker:KuhnPoker", "Kuhn poker, three cards, hidden hands", opening_plies=0
    ),
    "leduc_poker": BuiltIn(
        "workers.games.builtin.leduc_poker:LeducPoker", "Leduc poker, six cards, two rounds", opening_plies=0
    ),
    "two_step": BuiltIn(
        "workers.games.builtin.two_step:TwoStep",
        "Two-step matrix game of the QMIX paper, two mates",
        opening_plies=0,
    ),
    "signals": BuiltIn(
        "workers.games.builtin.signals:Signals", "Two mates that each must name the other's number", opening_plies=0
    ),
    "soccer": BuiltIn(
        "workers.games.builtin.soccer:Soccer", "Soccer on a small grid, two against two", opening_plies=0
    ),
    "slime_volley": BuiltIn(
        "workers.games.builtin.slime_volley:SlimeVolley",
        "Slime volleyball, the physics of slimevolleygym; both seats choose at once",
        opening_plies=0,
    ),
    "openspiel": BuiltIn("workers.games.adapters.openspiel:OpenSpielGame", "Any game of OpenSpiel, by its name"),
    "pettingzoo_aec": BuiltIn("workers.games.adapters.pettingzoo:AecGame", "Any turn-based PettingZoo game"),
    "pettingzoo_parallel": BuiltIn(
        "workers.games.adapters.pettingzoo:ParallelGame", "Any parallel PettingZoo game", opening_plies=0
    ),
    "gymnasium": BuiltIn(
        "workers.games.adapters.gymnasium:GymnasiumGame", "Any one-seat Gymnasium environment", opening_plies=0
    ),
    "envpool": BuiltIn(
        "workers.games.adapters.envpool:EnvPoolGame",
        "Any one-player environment of EnvPool, in C++",
        opening_plies=0,
    ),
    "remote": BuiltIn(
        "workers.games.remote:RemoteGame", "A game that calls in from a process of its own", opening_plies=0
    ),
}

MODELS: Mapping[str, BuiltIn] = {
    "mlp": BuiltIn("workers.models.mlp:Mlp", "Multi-layer perceptron, policy and value"),
    "conv": BuiltIn("workers.models.conv:ConvNet", "Small convolutional residual net for boards"),
    "convres": BuiltIn("workers.models.convres:ConvRes", "Convolutional residual net for boards, fast on CPUs"),
    "nature": BuiltIn("workers.models.nature:NatureNet", "Convolutional net of Mnih et al. 2015, for images"),
    "gru": BuiltIn("workers.models.gru:GruNet", "Recurrent (GRU) net, for hidden information"),
}

ALGORITHMS: Mapping[str, BuiltIn] = {
    "ppo": BuiltIn("workers.algorithms.actor_critic.ppo:Ppo", "Proximal policy optimisation with GAE"),
    "vtrace": BuiltIn("workers.algorithms.actor_critic.vtrace:Vtrace", "V-trace (IMPALA), corrects for stale samples"),
    "a2c": BuiltIn("workers.algorithms.actor_critic.a2c:A2c", "Advantage actor-critic, one pass a batch"),
    "impala": BuiltIn("workers.algorithms.actor_critic.impala:Impala", "IMPALA: V-trace for asynchronous crews"),
    "upgo": BuiltIn(
        "workers.algorithms.actor_critic.upgo:Upgo", "AlphaStar's update: V-trace, upgoing returns, TD(lambda)"
    ),
    "mmd": BuiltIn(
        "workers.algorithms.actor_critic.mmd:Mmd", "Magnetic mirror descent, for equilibria of two-player games"
    ),
    "ddpg": BuiltIn("workers.algorithms.continuous.ddpg:Ddpg", "Deep deterministic policy gradients"),
    "td3": BuiltIn("workers.algorithms.continuous.td3:Td3", "Twin delayed deterministic policy gradients"),
    "sac": BuiltIn("workers.algorithms.continuous.sac:Sac", "Soft actor-critic with a learnt temperature"),
    "es": BuiltIn("workers.algorithms.evolution.es:Es", "Evolution strategies: perturbed weights, no gradients"),
    "vdn": BuiltIn("workers.algorithms.cooperative.vdn:Vdn", "Value decomposition networks, for teams"),
    "qmix": BuiltIn("workers.algorithms.cooperative.qmix:Qmix", "QMIX, monotonic mixing of values, for teams"),
    "coma": BuiltIn("workers.algorithms.cooperative.coma:Coma", "Counterfactual policy gradients, for teams"),
    "mappo": BuiltIn("workers.algorithms.cooperative.mappo:Mappo", "PPO with a central critic, for teams"),
    "atoc": BuiltIn("workers.algorithms.cooperative.atoc:Atoc", "Attentional communication, for teams that talk"),
    "dqn": BuiltIn("workers.algorithms.value_based.dqn:Dqn", "Deep Q-learning; double, dueling, n-step, prioritised"),
    "rainbow": BuiltIn(
        "workers.algorithms.value_based.rainbow:Rainbow", "Rainbow: C51 with noisy layers, dueling and priorities"
    ),
    "qrdqn": BuiltIn("workers.algorithms.value_based.qrdqn:Qrdqn", "Quantile-regression DQN"),
    "r2d2": BuiltIn("workers.algorithms.value_based.r2d2:R2d2", "Recurrent DQN by sequences with stored states"),
    "sqn": BuiltIn("workers.algorithms.value_based.sqn:Sqn", "Soft Q-learning (discrete SAC), learnt temperature"),
    "apex": BuiltIn("workers.algorithms.value_based.apex:Apex", "Ape-X: prioritised replay fed by many actors"),
    "bc": BuiltIn("workers.algorithms.imitation.bc:Bc", "Behaviour cloning of a data set"),
    "iql": BuiltIn("workers.algorithms.imitation.iql:Iql", "Implicit Q-learning, offline, from a data set"),
    "sl_rl": BuiltIn("workers.algorithms.imitation.sl_rl:SlRl", "PPO mixed with imitation of a data set"),
    "alphazero": BuiltIn(
        "workers.algorithms.planning.alphazero:AlphaZero", "Self-play by tree search, for games with nothing hidden"
    ),
}

BOTS: Mapping[str, BuiltIn] = {
    "random": BuiltIn("workers.bots.fixed_strategies:RandomBot", "Any legal move, uniformly"),
    "first-legal": BuiltIn("workers.bots.fixed_strategies:FirstLegalBot", "The legal move with the lowest number"),
    "minimax": BuiltIn("workers.bots.minimax:MinimaxBot", "Exact play in tic-tac-toe"),
    "minimax-random": BuiltIn(
        "workers.bots.minimax:MinimaxBot", "Exact play in tic-tac-toe, ties at random", {"ties": "random"}
    ),
    "minimax-<skill:number>": BuiltIn(
        "workers.bots.minimax:MinimaxBot",
        "A best move of tic-tac-toe with this probability, else any",
        {"ties": "random"},
    ),
    "soccer-striker": BuiltIn("workers.bots.soccer:StrikerBot", "Chases the ball and runs for the goal in soccer"),
    "mcts-<simulations:int>": BuiltIn("workers.bots.mcts:MctsBot", "Monte Carlo tree search, nothing hidden"),
    "search-<simulations:int>-<checkpoint:word>": BuiltIn(
        "workers.bots.searching:SearchBot", "A version with tree search, by its checkpoint's sha256"
    ),
    "mixed-<probabilities:numbers>": BuiltIn(
        "workers.bots.fixed_strategies:MixedBot", "A fixed probability for each action"
    ),
    "always-<action:word>": BuiltIn("workers.bots.fixed_strategies:always", "One action, by name or number"),
    "outside-<name:word>": BuiltIn("workers.bots.outside:OutsideBot", "A player of the process of a remote game"),
}

MATCHMAKERS: Mapping[str, BuiltIn] = {
    "self_play": BuiltIn("league.matchmaking.self_play:self_play", "The latest self only"),
    "fictitious": BuiltIn("league.matchmaking.self_play:fictitious", "Uniform over the past"),
    "pfsp": BuiltIn("league.matchmaking.self_play:prioritised", "Prioritised by win rate"),
    "alphastar": BuiltIn("league.matchmaking.alphastar:alphastar", "Mains, main and league exploiters"),
    "openai_five": BuiltIn("league.matchmaking.openai_five:openai_five", "80 % latest, 20 % past by quality"),
    "psro": BuiltIn("league.matchmaking.psro:psro", "The meta-game's equilibrium over the pool"),
    "fixed": BuiltIn("league.matchmaking.fixed:fixed", "Given frozen players and bots, never itself"),
}

AGENTS: Mapping[str, BuiltIn] = {
    "generic": BuiltIn("workers.agents.generic:GenericAgent", "Observations and actions as JSON, after the spec"),
}
