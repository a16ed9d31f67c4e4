"""Names that a trial file may use, and example trial files."""

from __future__ import annotations

from typing import Any

from pydantic import Field

from api.schemas.base import Answer


class CatalogEntry(Answer):
    """One name that a trial file may use."""

    name: str = Field(description="the name as a trial file writes it", examples=["mcts-<simulations>"])
    description: str = Field(description="what it is", examples=["Monte Carlo tree search"])
    source: str = Field(description="built-in, or the package it comes from", examples=["built-in"])
    options_schema: dict[str, Any] | None = Field(
        default=None, description="of a built-in algorithm: JSON Schema of its options, with their defaults"
    )


class Catalog(Answer):
    """Every name that a trial file may use."""

    games: list[CatalogEntry] = Field(description="games")
    models: list[CatalogEntry] = Field(description="networks")
    algorithms: list[CatalogEntry] = Field(description="training algorithms")
    bots: list[CatalogEntry] = Field(description="scripted players")
    matchmakers: list[CatalogEntry] = Field(description="rules that choose opponents")
    agents: list[CatalogEntry] = Field(description="agents of games that call in")
    trial_schema: dict[str, Any] = Field(description="JSON Schema of a trial file")


class Example(Answer):
    """A trial file that works."""

    name: str = Field(description="its name", examples=["alphastar"])
    title: str = Field(description="its first comment line")
    text: str = Field(description="the file, with its comments (YAML)")
    spec: dict[str, Any] = Field(description="its spec, with defaults")
