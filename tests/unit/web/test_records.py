"""A read selects the fields of its schema: a new column needs only the schema, a missing field is refused."""

from __future__ import annotations

import pytest
from pydantic import Field
from sqlalchemy import Column, Double, Integer, MetaData, Table, Text, Uuid, literal

from api.schemas.base import Answer
from api.store.core.records import fields_of

PLAYERS = Table(
    "players", MetaData(), Column("id", Uuid), Column("name", Text), Column("elo", Double), Column("x", Integer)
)


class Player(Answer):
    """What is shown of a player."""

    id: str = Field(description="its id")
    name: str = Field(description="its name")
    games: int = Field(description="its games")


class RatedPlayer(Player):
    """The same, with one more column of the table."""

    elo: float = Field(description="its rating")


GAMES = literal(3).label("games")


def test_a_column_of_the_table_is_selected_because_the_schema_has_it() -> None:
    assert [column.key for column in fields_of(Player, PLAYERS, GAMES)] == ["id", "name", "games"]
    assert [column.key for column in fields_of(RatedPlayer, PLAYERS, GAMES)] == ["id", "name", "elo", "games"]


def test_a_field_that_nothing_selects_is_refused_when_the_module_is_imported() -> None:
    with pytest.raises(TypeError, match="the select of Player lacks games"):
        fields_of(Player, PLAYERS)
    assert "games" not in {column.key for column in fields_of(Player, PLAYERS, later=["games"])}


def test_ids_stay_text() -> None:
    assert isinstance(fields_of(Player, PLAYERS, GAMES)[0].type, Text)
