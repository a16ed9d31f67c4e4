"""The checklists in CONTRIBUTING.md are complete: a made-up addition needs the places that they name, and no other."""

from __future__ import annotations

import sys
from collections.abc import Iterator
from pathlib import Path

import numpy as np
import pytest
from pydantic import BaseModel

import api.web.app
import lanista.client
from api.schemas.base import Answer
from api.schemas.events.base import KINDS, EventPayload
from api.schemas.events.openapi import event_schemas
from api.schemas.events.reading import read_event
from orchestrator import catalog
from orchestrator.catalog import Kind
from orchestrator.spec.loading import parse_trial
from workers.games.names import make_game

ROOT = Path(__file__).parents[2]


@pytest.fixture
def nim(monkeypatch: pytest.MonkeyPatch) -> Iterator[None]:
    """A made-up built-in game: one entry of the catalog, and the class that it names."""
    monkeypatch.syspath_prepend(str(ROOT / "examples"))
    games = {**catalog._BUILT_INS[Kind.GAME], "nim": catalog._BuiltIn("own_game:Nim", "Nim, one heap")}
    monkeypatch.setattr(catalog, "_BUILT_INS", {**catalog._BUILT_INS, Kind.GAME: games})
    catalog._entries.cache_clear()
    yield
    catalog._entries.cache_clear()
    sys.modules.pop("own_game", None)


@pytest.mark.usefixtures("nim")
def test_a_game_is_one_entry_of_the_catalog() -> None:
    spec = parse_trial("game: {id: nim}\n").spec
    assert spec.game.component.id == "nim"
    assert "nim" in [game["name"] for game in catalog.describe()["games"]]
    game = make_game(spec.game.component.id, 4, **spec.game.component.options)
    game.reset(np.arange(4, dtype=np.uint64))
    done = np.zeros(4, bool)
    for _ in range(game.spec.max_steps):
        done |= game.step(np.argmax(game.turn().legal, axis=1)).done
    assert done.all()


def test_an_event_is_one_class() -> None:
    class Coronation(EventPayload, kind="made.up"):
        """Made up."""

        player: str = ""

        @property
        def text(self) -> str:
            return f"{self.player} was crowned"

    try:
        assert read_event("made.up", {"player": "main"}).text == "main was crowned"
        assert "made.up" in event_schemas()["Event"]["discriminator"]["mapping"]
    finally:
        del KINDS["made.up"]


def test_every_answer_is_declared_once_in_the_schemas() -> None:
    """Routes, the OpenAPI document and the client share the classes, so that a field is added in one place."""
    assert api.web.app and lanista.client  # both are loaded, with all their models
    homes = {found.__qualname__: found.__module__ for found in subclasses(Answer)}
    assert homes["Ratings"] == "api.schemas.ratings"
    assert {name: home for name, home in homes.items() if not home.startswith("api.schemas")} == {}


def subclasses(model: type[BaseModel]) -> Iterator[type[BaseModel]]:
    for found in model.__subclasses__():
        if found.__pydantic_generic_metadata__["origin"] is None:  # Page[Alias] is no declaration of its own
            yield found
        yield from subclasses(found)
