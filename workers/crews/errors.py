"""Exceptions of a crew.

CrewError
├── BadTask             the task itself cannot be run; says what was wrong and what is allowed
├── CrewLost            an actor of the crew died: run the generation again, on a new crew
├── CrewUnavailable     Ray has too few CPUs for the crew
└── GenerationStopped   the generation was asked to stop; nothing was stored
"""


class CrewError(Exception):
    """Base of every error of a crew."""


class BadTask(CrewError, ValueError):
    """The task cannot be run as it is."""


class CrewLost(CrewError):
    """An actor of the crew died. The generation may be run again at once: it left nothing behind."""


class CrewUnavailable(CrewError):
    """Ray does not have the CPUs that the crew needs."""


class GenerationStopped(CrewError):
    """The generation ended early because it was asked to; nothing was stored."""
