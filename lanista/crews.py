"""Names for training and matches on Ray without a stack: `from lanista.crews import GenerationTask, run_generation`."""

from orchestrator.contracts.generations import PlannedOpponent, ProcessResources
from workers.crews.errors import BadTask, CrewError, CrewLost, CrewUnavailable, GenerationStopped
from workers.crews.generation import run_generation
from workers.crews.pool import CrewPool
from workers.crews.task import GenerationResult, GenerationTask, Progress, Topology
from workers.matches.host import match_actor

__all__ = [
    "BadTask",
    "CrewError",
    "CrewLost",
    "CrewPool",
    "CrewUnavailable",
    "GenerationResult",
    "GenerationStopped",
    "GenerationTask",
    "PlannedOpponent",
    "ProcessResources",
    "Progress",
    "Topology",
    "match_actor",
    "run_generation",
]
