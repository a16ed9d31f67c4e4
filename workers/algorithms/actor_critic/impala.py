"""IMPALA: V-trace for asynchronous crews, whose rollout processes never wait, Espeholt et al. 2018."""

from __future__ import annotations

from orchestrator.spec.algorithms.actor_critic import ImpalaAlgorithm, ImpalaOptions
from workers.algorithms.actor_critic.vtrace import Vtrace


class Impala(Vtrace):
    """V-trace with the paper's weights: lambda 1, both clips 1. See `Vtrace` for the equation.

    A crew of topology `auto` is asynchronous, which is IMPALA's architecture; on others it is V-trace.
    """

    Options = ImpalaOptions
    options: ImpalaOptions
    asynchronous = ImpalaAlgorithm.asynchronous
