"""What a trial file names from the catalog, and the check of such names.

Names are checked where a person's file comes in (`orchestrator.spec.checking` passes `KnownNames`), not where a
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
"""The tag of anything that is not built in. Tags stand in the paths of errors, hence the brackets: they come out."""


@dataclass(frozen=True, kw_only=True)
class KnownNames:
    """The context of a check of names: the catalog, and the players of this very trial."""

    players: frozenset[str] = frozenset()


def check_name(kind: Kind, name: str, info: ValidationInfo) -> str:
    """`name`, if the catalog knows it or nobody asked."""
    if isinstance(info.context, KnownNames):
        try:
            resolve(kind, name)
        except CatalogError as error:
            raise ValueError(str(error)) from error
    return name


class Choice(Section):
    """A name of the catalog and its options, side by side in one mapping."""

    kind: ClassVar[Kind]
    id: str

    @property
    def component(self) -> Component:
        """The choice as those who make it take it."""
        return Component(id=self.id, options=self.model_dump(mode="json", exclude={"id"}))


class OtherChoice(Choice):
    """A name that is not built in: by entry point, or `module:attr`. Its options are passed on as they are."""

    model_config = ConfigDict(extra="allow")
    __pydantic_extra__: dict[str, JsonValue] = Field(init=False)

    @field_validator("id")
    @classmethod
    def _known(cls, name: str, info: ValidationInfo) -> str:
        return check_name(cls.kind, name, info)


def own_name(words: str, tags: Mapping[str, str], example: str) -> Any:
    """The id of something that is not built in; the schema keeps the names of those that are out of it."""
    return Field(description=words, examples=[example], json_schema_extra={"not": {"enum": list(tags)}})


def tag_by_id(tags: Mapping[str, str], default: str | None = None) -> Callable[[Any], str]:
    """Picks the class of a choice from its id."""

    def tag(value: Any) -> str:
        name = value.get("id", default) if isinstance(value, Mapping) else getattr(value, "id", default)
        return tags.get(name, OTHER) if isinstance(name, str) else OTHER

    return tag
