"""Checks whether Ray's nodes can hold a crew, and words the refusal if they cannot."""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence

from workers.crews.errors import CrewUnavailable
from workers.crews.plan import Bundle, CrewPlan

_UNITS = {"CPU": "CPUs", "GPU": "GPUs", "memory": "MB"}


def check_capacity(plan: CrewPlan, nodes: Sequence[Mapping[str, float]], excluded: Sequence[str] = ()) -> None:
    """Raise CrewUnavailable if these nodes could not hold the crew even when idle; a process needs one node.

    `nodes` are the resources of each node that may be used; `excluded` says why others may not, for the message.
    """
    try:
        _check_capacity(plan, nodes)
    except CrewUnavailable as error:
        if not excluded:
            raise
        raise CrewUnavailable(f"{error}; not used: {'; '.join(excluded)}") from None


def _check_capacity(plan: CrewPlan, nodes: Sequence[Mapping[str, float]]) -> None:
    for name in _UNITS:
        needed = sum(bundle.get(name, 0.0) for bundle in plan.bundles)
        total = sum(node.get(name, 0.0) for node in nodes)
        if needed > total:
            raise CrewUnavailable(
                f"the crew needs {_amount(name, needed)} ({_shape(plan)}), Ray has {_number(name, total)}"
            )
    for bundle in [plan.rollout_bundle, plan.trainer_bundle] if plan.split else [plan.rollout_bundle]:
        processes = plan.bundles.count(bundle)
        if processes > sum(_fits(bundle, node) for node in nodes):
            raise CrewUnavailable(
                f"the crew needs {_amount('CPU', plan.cpus)} ({_shape(plan)}), each process on one node; "
                f"Ray's nodes have {'; '.join(_node(bundle, node) for node in _largest_first(nodes))}"
            )


def gpu_nodes_to_spare(plan: CrewPlan, nodes: Mapping[str, Mapping[str, float]]) -> list[str]:
    """The nodes with GPUs, by id, if those without could hold all processes of the crew that need none."""
    without = [node for node in nodes.values() if not node.get("GPU")]
    bundles = [bundle for bundle in plan.bundles if "GPU" not in bundle]
    if not bundles or any(len(bundles) > sum(_fits(bundle, node) for node in without) for bundle in bundles):
        return []
    return sorted(node_id for node_id, node in nodes.items() if node.get("GPU"))


def _fits(bundle: Bundle, node: Mapping[str, float]) -> int:
    """How many processes of this bundle an idle node holds."""
    return int(min(math.floor(node.get(name, 0.0) / amount + 1e-9) for name, amount in bundle.items()))


def _largest_first(nodes: Sequence[Mapping[str, float]]) -> list[Mapping[str, float]]:
    return sorted(nodes, key=lambda node: -node.get("CPU", 0.0))


def _shape(plan: CrewPlan) -> str:
    each = ", ".join(_amount(name, amount) for name, amount in plan.trainer_bundle.items())
    return f"{plan.processes} processes of {each}"


def _node(bundle: Bundle, node: Mapping[str, float]) -> str:
    return ", ".join(_amount(name, node.get(name, 0.0)) for name in bundle)


def _amount(name: str, amount: float) -> str:
    return f"{_number(name, amount)} {_UNITS[name]}"


def _number(name: str, amount: float) -> str:
    return f"{amount / 2**20 if name == 'memory' else amount:g}"
