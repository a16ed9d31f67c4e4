"""Matchmakers of somebody's own, one that works and one that does not."""

from __future__ import annotations

from league.matchmaking import Mixture, Request, Share


def last_made(request: Request) -> Mixture:
    """Always the newest member of the league."""
    return Mixture.of(request, "last_made", [Share.single("newest", len(request.players) - 1, 1.0)])


def broken(request: Request) -> Mixture:
    """Has a mistake in it."""
    raise ZeroDivisionError(f"nothing to share among {len(request.roster)}")
