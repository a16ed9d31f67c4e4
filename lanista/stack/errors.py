"""What can go wrong with the local stack.

StackError
├── AlreadyRunning
├── NotStarted
├── NotRunning
├── PortInUse
└── ChildFailed
"""

from __future__ import annotations


class StackError(Exception):
    """The message says what is wrong and what to do."""


class AlreadyRunning(StackError):
    """Another supervisor holds this data folder."""


class NotStarted(StackError):
    """No stack was ever started with this data folder."""


class NotRunning(StackError):
    """A part of the stack, or of one's own, does not answer."""


class PortInUse(StackError):
    """A port that a part needs is taken by another program."""


class ChildFailed(StackError):
    """A part does not come up."""


class StillStarting(Exception):
    """The part itself says that it is on its way, as a database that recovers; it is given more time, not ended."""
