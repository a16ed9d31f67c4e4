"""Errors of the local stack.

StackError
├── AlreadyRunning
├── NotStarted
├── NotRunning
├── NotOurs
├── PortInUse
└── ChildFailed
"""

from __future__ import annotations


class StackError(Exception):
    """The message says what is wrong and what to do."""


class AlreadyRunning(StackError):
    """Another supervisor holds this data folder."""


class NotStarted(StackError):
    """No stack was ever started with this data folder, or it does not run."""


class NotRunning(StackError):
    """A part, of the stack or external, does not answer."""


class NotOurs(StackError):
    """The address is not served by the process that the supervisor started."""


class PortInUse(StackError):
    """A port that a part needs is in use by another program."""


class ChildFailed(StackError):
    """A part does not start."""


class StillStarting(Exception):
    """The part reports that it is still starting, for example a recovering database; it gets more time."""
