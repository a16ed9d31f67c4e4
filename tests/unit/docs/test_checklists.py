"""The checklists in CONTRIBUTING.md are complete: a made-up addition needs the places that they name, and no other."""

from __future__ import annotations

import os
import subprocess
import sys
from collections.abc import Iterator
from pathlib import Path

import pytest
from pydantic import BaseModel

import api.web.app
import lanista.client
from api.schemas.base import Answer
from api.schemas.events.base import KINDS, EventPayload
from api.schemas.events.openapi import event_schemas
from api.schemas.events.reading import read_event
from api.schemas.installation.tokens import Token
from api.store.core.records import fields_of
from api.store.tables import ApiToken
from orchestrator.catalog import Kind, built_in_names

ROOT = Path(__file__).parents[3]


ONE_MORE_GAME = """
import numpy as np
from orchestrator import catalog
from orchestrator.catalog import Kind

games = {**catalog._BUILT_INS[Kind.GAME], "nim": catalog.BuiltIn("own_game:Nim", "Nim", opening_plies=3)}
catalog._BUILT_INS = {**catalog._BUILT_INS, Kind.GAME: games}

from api.store.matches.openings import game_opening_plies
from api.web.routes.catalog import _catalog
from orchestrator.spec.game import BuiltInGame
from orchestrator.spec.reading.loading import parse_trial
from workers.games.names import make_game

choice = parse_trial("game: {id: nim}").spec.game
assert isinstance(choice, BuiltInGame), choice
assert b'"Nim"' in _catalog() and b'"slime_volley","nim"' in _catalog().replace(b" ", b""), "not in GET /catalog"
assert game_opening_plies("nim") == 3
game = make_game(choice.id, 4, **choice.component.options)
game.reset(np.arange(4, dtype=np.uint64))
done = np.zeros(4, bool)
for _ in range(game.spec.max_steps):
    done |= game.step(np.argmax(game.turn().legal, axis=1)).done
assert done.all(), "not played to its end"
"""


def test_a_game_is_one_entry_of_the_catalog() -> None:
    """In a process of its own: the trial file takes its list of games from the catalog when it is imported."""
    environment = {**os.environ, "PYTHONPATH": os.pathsep.join([str(ROOT), str(ROOT / "examples")])}
    ran = subprocess.run(
        [sys.executable, "-c", ONE_MORE_GAME], env=environment, capture_output=True, text=True, check=False
    )
    assert ran.returncode == 0, ran.stderr


@pytest.mark.parametrize(
    ("kind", "name"), [(Kind.MODEL, "models-and-algorithms.md"), (Kind.ALGORITHM, "algorithms.md")]
)
def test_every_model_and_algorithm_is_in_the_guide(kind: Kind, name: str) -> None:
    guide = (ROOT / "docs" / "guides" / name).read_text(encoding="utf-8")
    assert [name for name in built_in_names(kind) if f"| `{name}` |" not in guide] == []


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
    elsewhere = {name: home for name, home in homes.items() if not home.startswith(("api.schemas.", "tests."))}
    assert elsewhere == {}


def test_a_select_that_lacks_a_field_of_its_schema_is_refused() -> None:
    class WithTitle(Token):
        title: str

    assert fields_of(Token, ApiToken.__table__)
    with pytest.raises(TypeError, match="WithTitle lacks title"):
        fields_of(WithTitle, ApiToken.__table__)


def subclasses(model: type[BaseModel]) -> Iterator[type[BaseModel]]:
    for found in model.__subclasses__():
        if found.__pydantic_generic_metadata__["origin"] is None:  # Page[Alias] is no declaration of its own
            yield found
        yield from subclasses(found)
