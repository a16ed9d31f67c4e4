"""Matchmakers by name, as trial files write them."""

from __future__ import annotations

from typing import cast

from league.matchmaking import Matchmaker, Mixture
from orchestrator.catalog import Kind, load_maker


def load_matchmaker(name: str) -> Matchmaker:
    """The rule of this name; an import path must name a function that is annotated to return a Mixture."""
    return cast(
        "Matchmaker",
        load_maker(Kind.MATCHMAKER, name, Mixture, wanted="a function annotated to return a Mixture"),
    )
