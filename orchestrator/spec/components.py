"""Names of the catalog in a trial file, and their check.

Names are checked where a person's file comes in (`orchestrator.spec.reading.checking` passes `KnownNames`), not where a
stored trial is read again: a plug-in that is gone must not make the record of a trial unreadable.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass
from typing import Any, ClassVar

from pydantic import ConfigDict, Field, JsonValue, ValidationInfo, field_validator

from orchestrator.catalog import CatalogError, Component, Kind, resolve
from orchestrator.spec.section import Section

OTHER = "<other>"
"""The tag of names that are not built in. Brackets mark tags, so that they can be removed from the paths of errors."""


@dataclass(frozen=True, kw_only=True)
class KnownNames:
    """The context of a check of names: besides the catalog, the players of the trial."""

    players: frozenset[str] = frozenset()


def check_name(kind: Kind, name: str, info: ValidationInfo) -> str:
    """Return `name`; raises ValueError if names are to be checked and the catalog does not know it."""
    if isinstance(info.context, KnownNames):
        try:
            resolve(kind, name)
        except CatalogError as error:
            raise ValueError(str(error)) from error
    return name


class Choice(Section):
    """A name of the catalog and its options, in one mapping."""

    kind: ClassVar[Kind]
    added: ClassVar[frozenset[str]] = frozenset()
    """Options of later releases. At their default they are no part of `arguments`, so that a game keeps its key."""
    data_files: ClassVar[frozenset[str]] = frozenset()
    """Options that name data files, which lie in the import folders, or import paths of code that gives data."""
    asynchronous: ClassVar[bool] = False
    """Of an algorithm: whether a crew of topology `auto` is asynchronous."""
    restarts: ClassVar[bool] = False
    """Of an algorithm: whether games begin anew for each update."""
    id: str

    @property
    def arguments(self) -> dict[str, Any]:
        """All options with their values, those with defaults too."""
        given = self.model_dump(mode="json", exclude={"id"})
        return {name: value for name, value in given.items() if name not in self.added or not self._at_default(name)}

    @property
    def component(self) -> Component:
        """The name and the options, as workers take them."""
        return Component(id=self.id, options=self.arguments)

    @property
    def named_files(self) -> dict[str, tuple[str, ...]]:
        """The data files that it names, by option."""
        return {name: getattr(self, name) for name in sorted(self.data_files)}

    @property
    def least_tables(self) -> int:
        """Of an algorithm: the tables that a crew needs at least, those of all its processes counted."""
        return 1

    def _at_default(self, name: str) -> bool:
        return bool(getattr(self, name) == type(self).model_fields[name].default)


class OtherChoice(Choice):
    """A name from an entry point, or `module:attr`. Its options are passed on unchecked."""

    model_config = ConfigDict(extra="allow")
    __pydantic_extra__: dict[str, JsonValue] = Field(init=False)

    @field_validator("id")
    @classmethod
    def _known(cls, name: str, info: ValidationInfo) -> str:
        return check_name(cls.kind, name, info)


def own_name(words: str, tags: Mapping[str, str], example: str) -> Any:
    """The id field of a name that is not built in; its JSON Schema excludes the built-in names."""
    return Field(description=words, examples=[example], json_schema_extra={"not": {"enum": list(tags)}})


def tag_by_id(tags: Mapping[str, str], default: str | None = None) -> Callable[[Any], str]:
    """A discriminator that selects the class of a choice by its id."""

    def tag(value: Any) -> str:
        name = value.get("id", default) if isinstance(value, Mapping) else getattr(value, "id", default)
        return tags.get(name, OTHER) if isinstance(name, str) else OTHER

    return tag
