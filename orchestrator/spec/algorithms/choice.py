"""`algorithm` in a trial file: one of the built-in algorithms with its options, or a user's own."""

from __future__ import annotations

from typing import TYPE_CHECKING, Annotated, Any, ClassVar, Union

from pydantic import Discriminator, Tag

from orchestrator.catalog import Kind
from orchestrator.spec.algorithms.actor_critic import (
    A2cAlgorithm,
    ImpalaAlgorithm,
    MmdAlgorithm,
    PpoAlgorithm,
    UpgoAlgorithm,
    VtraceAlgorithm,
)
from orchestrator.spec.algorithms.continuous import DdpgAlgorithm, SacAlgorithm, Td3Algorithm
from orchestrator.spec.algorithms.cooperative import (
    AtocAlgorithm,
    ComaAlgorithm,
    MappoAlgorithm,
    QmixAlgorithm,
    VdnAlgorithm,
)
from orchestrator.spec.algorithms.evolution import EsAlgorithm
from orchestrator.spec.algorithms.imitation import BcAlgorithm, IqlAlgorithm, SlRlAlgorithm
from orchestrator.spec.algorithms.planning import AlphaZeroAlgorithm
from orchestrator.spec.algorithms.value_based import (
    ApexAlgorithm,
    DqnAlgorithm,
    QrdqnAlgorithm,
    R2d2Algorithm,
    RainbowAlgorithm,
    SqnAlgorithm,
)
from orchestrator.spec.components import OTHER, Choice, OtherChoice, own_name, tag_by_id

BUILT_IN_ALGORITHMS: dict[str, type[Choice]] = {
    "ppo": PpoAlgorithm,
    "vtrace": VtraceAlgorithm,
    "a2c": A2cAlgorithm,
    "impala": ImpalaAlgorithm,
    "upgo": UpgoAlgorithm,
    "mmd": MmdAlgorithm,
    "ddpg": DdpgAlgorithm,
    "td3": Td3Algorithm,
    "sac": SacAlgorithm,
    "es": EsAlgorithm,
    "vdn": VdnAlgorithm,
    "qmix": QmixAlgorithm,
    "coma": ComaAlgorithm,
    "mappo": MappoAlgorithm,
    "atoc": AtocAlgorithm,
    "dqn": DqnAlgorithm,
    "rainbow": RainbowAlgorithm,
    "qrdqn": QrdqnAlgorithm,
    "r2d2": R2d2Algorithm,
    "sqn": SqnAlgorithm,
    "apex": ApexAlgorithm,
    "bc": BcAlgorithm,
    "iql": IqlAlgorithm,
    "sl_rl": SlRlAlgorithm,
    "alphazero": AlphaZeroAlgorithm,
}
"""Id -> the id's options in a trial file."""

_TAGS = {name: f"<{name}>" for name in BUILT_IN_ALGORITHMS}


class OtherAlgorithm(OtherChoice):
    """A user's algorithm."""

    kind: ClassVar[Kind] = Kind.ALGORITHM
    id: str = own_name("name of an algorithm, or module:attr", _TAGS, "my_algorithms:Ppg")


if TYPE_CHECKING:
    AlgorithmChoice = Choice
else:
    _kinds: Any = tuple(Annotated[kind, Tag(_TAGS[name])] for name, kind in BUILT_IN_ALGORITHMS.items())
    AlgorithmChoice = Annotated[
        Union[*_kinds, Annotated[OtherAlgorithm, Tag(OTHER)]],
        Discriminator(tag_by_id(_TAGS, default="ppo")),
    ]
