"""Errors of agents.

AgentError           an agent, or its use of this interface, is wrong; the message says what is allowed
├── BadAgent         an agent cannot be loaded or made
├── BadObservation   what an agent observed, or the mask of legal actions, does not fit the game's spaces
└── BadBody          the body of a request cannot be read, or a reply cannot be written
"""

from __future__ import annotations


class AgentError(Exception):
    """An agent, or its use of this interface, is wrong."""


class BadAgent(AgentError):
    """An agent cannot be loaded or made."""


class BadObservation(AgentError):
    """What an agent observed, or an action or mask of it, does not fit the game's spaces."""


class BadBody(AgentError):
    """The body of a request cannot be read, or a reply cannot be written."""
