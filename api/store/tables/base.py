"""Shared by all models: constraint names, column types and constraint builders."""

from __future__ import annotations

from datetime import datetime
from enum import StrEnum
from typing import Annotated, Any, ClassVar, TypeVar

from sqlalchemy import (
    BigInteger,
    CheckConstraint,
    DateTime,
    Dialect,
    Double,
    ForeignKeyConstraint,
    Identity,
    Integer,
    MetaData,
    SmallInteger,
    Text,
    TypeDecorator,
    Uuid,
    func,
)
from sqlalchemy.dialects.postgresql import JSONB
from sqlalchemy.orm import DeclarativeBase, mapped_column
from sqlalchemy.types import TypeEngine

from api.store.core.ids import new_id

# Names follow rules, so that a migration can drop what another one created.
NAMING_CONVENTION = {
    "ix": "ix_%(table_name)s_%(column_0_N_name)s",
    "uq": "uq_%(table_name)s_%(column_0_N_name)s",
    "ck": "ck_%(table_name)s_%(constraint_name)s",
    "fk": "fk_%(table_name)s_%(column_0_N_name)s",
    "pk": "pk_%(table_name)s",
}

Json = dict[str, Any]
EntityId = Annotated[str, mapped_column(Uuid(as_uuid=False), primary_key=True, default=new_id)]
RowId = Annotated[int, mapped_column(BigInteger, Identity(always=True), primary_key=True)]
Ref = Annotated[str, mapped_column(Uuid(as_uuid=False))]
Small = Annotated[int, mapped_column(SmallInteger)]
Count = Annotated[int, mapped_column(Integer)]
CreatedAt = Annotated[datetime, mapped_column(DateTime(timezone=True), server_default=func.now())]

Enum_ = TypeVar("Enum_", bound=StrEnum)


class Base(DeclarativeBase):
    """The declarative base of every model."""

    metadata = MetaData(naming_convention=NAMING_CONVENTION)
    type_annotation_map: ClassVar[dict[Any, TypeEngine[Any]]] = {
        str: Text(),
        int: BigInteger(),
        float: Double(),
        datetime: DateTime(timezone=True),
        Json: JSONB(),
    }


class EnumText(TypeDecorator[Enum_]):
    """An enum stored as text; the allowed values are a CHECK of the table (see `one_of`)."""

    impl = Text
    cache_ok = True

    def __init__(self, enum: type[Enum_]) -> None:
        super().__init__()
        self.enum = enum

    def process_bind_param(self, value: Enum_ | str | None, dialect: Dialect) -> str | None:
        return None if value is None else self.enum(value).value

    def process_result_value(self, value: str | None, dialect: Dialect) -> Enum_ | None:
        return None if value is None else self.enum(value)


def one_of(column: str, enum: type[StrEnum]) -> CheckConstraint:
    """CHECK that the column holds a value of the enum."""
    allowed = ", ".join(f"'{value.value}'" for value in enum)
    return CheckConstraint(f"{column} IN ({allowed})", name=column)


def not_negative(*columns: str) -> CheckConstraint:
    """CHECK that none of the counts is below zero."""
    return CheckConstraint(" AND ".join(f"{column} >= 0" for column in columns), name="counts")


def returns_of_both() -> CheckConstraint:
    """CHECK that the returns of both sides are known, or those of neither."""
    return CheckConstraint("(returns IS NULL) = (opponent_returns IS NULL)", name="returns_of_both")


def not_blank(column: str) -> CheckConstraint:
    """CHECK that a text is not blank."""
    return CheckConstraint(f"btrim({column}) <> ''", name=f"{column}_not_blank")


def same_trial(column: str, target: str) -> ForeignKeyConstraint:
    """A foreign key that also proves that the referenced row belongs to the same trial."""
    return ForeignKeyConstraint(["trial_id", column], [f"{target}.trial_id", f"{target}.id"])


def in_commit(column: str = "commit") -> ForeignKeyConstraint:
    """A foreign key to the trial's numbered commit."""
    return ForeignKeyConstraint(["trial_id", column], ["commits.trial_id", "commits.number"])
