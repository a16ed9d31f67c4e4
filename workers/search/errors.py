"""Exceptions of the search.

BadSearch    the search's options cannot be used, or the game cannot be searched; says what is allowed
"""

from __future__ import annotations


class BadSearch(ValueError):
    """The search's options cannot be used, or the game or the policy is none that can be searched with."""
