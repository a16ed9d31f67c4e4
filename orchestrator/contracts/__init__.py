"""Messages between workflows, activities and the API: task queues, dataclasses, one typed stub per activity."""

from orchestrator.contracts.errors import Failure
from orchestrator.contracts.queues import ActivityStub, Queue
from orchestrator.contracts.system import (
    SYSTEM_CHECKS,
    PartReport,
    PartRequest,
    SystemReport,
    check_interactive,
    check_play,
    check_store,
    check_train,
)

__all__ = [
    "SYSTEM_CHECKS",
    "ActivityStub",
    "Failure",
    "PartReport",
    "PartRequest",
    "Queue",
    "SystemReport",
    "check_interactive",
    "check_play",
    "check_store",
    "check_train",
]
