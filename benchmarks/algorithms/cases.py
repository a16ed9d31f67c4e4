"""What each algorithm is measured on: environment, target, and where its settings differ from the defaults."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Any

from orchestrator.catalog import Component


@dataclass(frozen=True, kw_only=True)
class Case:
    """One algorithm on one environment of Gymnasium."""

    algorithm: str
    name: str = ""
    """The case's name where the algorithm has several."""
    env: str = "CartPole-v1"
    target: float = 475.0
    """The mean return of `GAMES` greedy games that counts as reached."""
    options: Mapping[str, Any] = field(default_factory=dict)
    """Options of the algorithm that differ from its defaults."""
    model: Component = field(default_factory=lambda: Component(id="mlp", options={"hidden": [64, 64]}))
    tables: int = 8
    evaluate_every: int = 5_000
    """Environment steps between two evaluations, of which neither the steps nor the seconds count."""
    most_steps: int = 500_000
    """Environment steps after which it counts as not reached."""
    peer: str | None = None
    """The project whose algorithm of the same name runs beside it."""

    peer_needs: tuple[str, ...] = ()
    """Packages that the peer needs for this environment."""
    vector: bool = False
    """Whether the environment's own vector entry point steps all tables."""
    envpool: bool = False
    """Whether EnvPool steps the tables."""

    reachable: bool = True
    """Whether the target can be reached; otherwise the return after the last step counts."""

    @property
    def game(self) -> Component:
        if self.envpool:
            return Component(id="envpool", options={"env": self.env, "threads": 1})
        return Component(id="gymnasium", options={"env": self.env, "vector": self.vector})


GAMES = 20
"""Greedy games of one evaluation."""

_PPO = {"value_clip": 0.0, "target_kl": 0.0, "rollout_steps": 32, "minibatch": 256, "epochs": 10}
_CART_POLE = {"entropy": 0.0, "gamma": 0.99, "learning_rate": 3e-3}
_ONE_PASS = {"entropy": 0.0, "gamma": 0.99, "learning_rate": 1e-3, "rollout_steps": 32, "minibatch": 64}
_REPLAYED: dict[str, Any] = {
    "options": {"capacity": 10_000},
    "vector": True,
    "tables": 4,
    "evaluate_every": 5_000,
    "most_steps": 100_000,
}
"""Games begin anew with each generation: each table plays 1,250 steps in one, so that whole games of 500 are seen.

A small buffer: the ten rewards of a return were earned by the policy of their time, and an old one falls.
"""
_PENDULUM: dict[str, Any] = {
    "env": "Pendulum-v1",
    "target": -200.0,
    "tables": 4,
    "evaluate_every": 800,
    "most_steps": 20_000,
    "peer": "sb3",
}
_CHEETAH: dict[str, Any] = {
    "env": "HalfCheetah-v4",
    "envpool": True,
    "target": 20_000.0,
    "reachable": False,
    "model": Component(id="mlp", options={"hidden": [256, 256]}),
    "tables": 4,
    "evaluate_every": 10_000,
    "most_steps": 30_000,
    "peer": "sb3",
    "peer_needs": ("gymnasium[mujoco]",),
}

CASES: dict[str, Case] = {
    case.name or case.algorithm: case
    for case in (
        Case(
            algorithm="ppo",
            options={**_CART_POLE, **_PPO, "gae_lambda": 0.95},
            tables=32,
            vector=True,
            peer="sb3",
        ),
        Case(
            algorithm="ppo",
            name="ppo-acrobot",
            env="Acrobot-v1",
            target=-100.0,
            options={**_CART_POLE, **_PPO, "gae_lambda": 0.95},
            tables=32,
        ),
        Case(algorithm="a2c", options=_ONE_PASS, vector=True, peer="sb3"),
        Case(algorithm="vtrace", options={**_ONE_PASS, "trace_lambda": 1.0}, vector=True),
        Case(algorithm="upgo", options={**_ONE_PASS, "trace_lambda": 1.0, "value_lambda": 1.0}, vector=True),
        Case(algorithm="dqn", **_REPLAYED, peer="sb3"),
        Case(algorithm="qrdqn", **{**_REPLAYED, "options": {"capacity": 5_000}}, peer="sb3"),
        Case(algorithm="rainbow", **_REPLAYED, peer="tianshou"),
        *(Case(algorithm=name, **_REPLAYED) for name in ("sqn", "apex")),
        Case(
            algorithm="r2d2",
            env="lanista/CartPolePOMDP-v1",
            model=Component(id="gru", options={}),
            **{**_REPLAYED, "most_steps": 200_000},
        ),
        Case(algorithm="es", tables=32, evaluate_every=16_000, most_steps=1_000_000),
        Case(algorithm="sac", **_PENDULUM),
        Case(algorithm="td3", **_PENDULUM),
        Case(algorithm="ddpg", **_PENDULUM),
        Case(algorithm="sac", name="sac-halfcheetah", **_CHEETAH),
        Case(algorithm="td3", name="td3-halfcheetah", **_CHEETAH),
    )
}
"""By name: the algorithm's, or that of a further case of the same algorithm."""
