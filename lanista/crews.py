"""Names for training and matches on Ray without a stack: `from lanista.crews import GenerationTask, run_generation`."""

from orchestrator.contracts.generations import (
    GenerationOutcome,
    GenerationTask,
    PlannedOpponent,
    ProcessResources,
    Topology,
)
from workers.crews.errors import BadTask, CrewError, CrewLost, CrewUnavailable, GenerationStopped
from workers.crews.generation import run_generation
from workers.crews.pool import CrewPool
from workers.crews.task import Progress
from workers.matches.host import match_actor

__all__ = [
    "BadTask",
    "CrewError",
    "CrewLost",
    "CrewPool",
    "CrewUnavailable",
    "GenerationOutcome",
    "GenerationStopped",
    "GenerationTask",
    "PlannedOpponent",
    "ProcessResources",
    "Progress",
    "Topology",
    "match_actor",
    "run_generation",
]
