"""The base of all event kinds: a kind, its payload, and its sentence.

See docs/decisions/page-and-live-views.md.
"""

from __future__ import annotations

from abc import abstractmethod
from typing import Annotated, Any, ClassVar, Literal

from pydantic import BaseModel, ConfigDict, Field

Level = Literal["plain", "good", "bad"]
"""How much an event matters to a reader: ordinary, good news, or trouble."""

ID = "019a8f3e-5c1d-7b42-9e60-2f7d4c81a9b3"
"""An id for examples."""
Id = Annotated[str, Field(examples=[ID])]
OptionalId = Annotated[str | None, Field(examples=[ID])]
Commit = Annotated[int | None, Field(examples=[42])]

KINDS: dict[str, type[EventPayload]] = {}
"""Every kind of event and the class of its payload. A class registers itself when it is defined."""


class EventPayload(BaseModel):
    """The payload of one kind of event. A subclass names its kind and writes the sentence.

    Every field has a default and unknown fields are kept, so that events written by older and newer releases stay
    readable. `player` is always a name and `player_id` its id.
    """

    model_config = ConfigDict(frozen=True, extra="allow", populate_by_name=True, serialize_by_alias=True)

    KIND: ClassVar[str]
    transient: ClassVar[bool] = False
    """True for kinds that only report progress: readers show the newest and keep no list of them."""

    key: str | None = Field(
        None, description="deduplication key: a later event of this kind with the same key is not written"
    )

    def __init_subclass__(cls, kind: str | None = None, transient: bool = False, **options: Any) -> None:
        super().__init_subclass__(**options)
        if kind is not None:
            cls.KIND, cls.transient = kind, transient
            KINDS[kind] = cls

    @property
    def kind(self) -> str:
        """The kind, as it is stored and sent."""
        return self.KIND

    @property
    @abstractmethod
    def text(self) -> str:
        """The event as one sentence, with names instead of ids."""

    @property
    def level(self) -> Level:
        """How much the event matters."""
        return "plain"

    def to_json(self) -> dict[str, Any]:
        """The payload as it is stored and sent: what was given, without defaults."""
        return self.model_dump(mode="json", exclude_unset=True)

    def to_json_text(self) -> str:
        """The payload as JSON text."""
        return self.model_dump_json(exclude_unset=True)

    @classmethod
    def example(cls) -> dict[str, Any]:
        """A payload made of the fields' examples."""
        return {field.alias or name: field.examples[0] for name, field in cls.model_fields.items() if field.examples}
