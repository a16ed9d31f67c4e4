"""A generation that is learnt in a moment."""

from orchestrator.catalog import Component
from orchestrator.contracts.generations import GenerationTask

TASK = GenerationTask(
    game=Component(id="tic_tac_toe"),
    model=Component(id="mlp", options={"hidden": [16]}),
    algorithm=Component(id="ppo", options={"rollout_steps": 8, "minibatch": 256}),
    steps=4_000,
    seed=11,
    tables=64,
)
