"""The bots that play a version with tree search: `search-64-<sha256 of its checkpoint>`."""

from __future__ import annotations

MOST_SIMULATIONS = 10_000
"""Simulations a move, at most."""
PREFIX = "search-"


def searching_bot(simulations: int, sha256: str) -> str:
    """The bot that plays the version of this checkpoint with so many simulations a move."""
    return f"{PREFIX}{simulations}-{sha256}"


def searched_checkpoint(bot: str) -> str | None:
    """The sha256 of the checkpoint that such a bot plays; None for another bot."""
    return bot.rpartition("-")[2] if bot.startswith(PREFIX) else None


def searching_name(version: str, simulations: int) -> str:
    """What people read in place of the bot's name: `main@v12+search-64`."""
    return f"{version}+{PREFIX}{simulations}"
