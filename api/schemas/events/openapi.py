"""The JSON schemas of the event stream: one of each kind, and their union by `type`."""

from __future__ import annotations

from typing import Any, Literal

from pydantic import create_model
from pydantic.json_schema import models_json_schema

from api.schemas.events.base import KINDS
from api.schemas.events.envelope import EventHead
from api.schemas.events.progress import Progress
from api.schemas.progress import GenerationProgress, TrainingSpeed

COMPONENTS = "#/components/schemas/"
EVENT_SCHEMA = f"{COMPONENTS}Event"


def event_schemas() -> dict[str, Any]:
    """Schemas by component name: `Event` is one of the kinds, each with its payload."""
    envelopes = {kind: _envelope(kind) for kind in sorted(KINDS)}
    named, definitions = models_json_schema(
        [(envelope, "validation") for envelope in envelopes.values()], ref_template=COMPONENTS + "{model}"
    )
    kinds = {kind: named[envelope, "validation"]["$ref"] for kind, envelope in envelopes.items()}
    return {
        **definitions["$defs"],
        "Event": {
            "title": "Event",
            "description": "One of the kinds that this release knows. A plug-in may add others, in the same form.",
            "oneOf": [{"$ref": reference} for reference in kinds.values()],
            "discriminator": {"propertyName": "type", "mapping": kinds},
        },
    }


def _envelope(kind: str) -> type[EventHead]:
    """The event as it is sent, with the payload of one kind; progress has its list in place of a payload."""
    payload = KINDS[kind]
    fields: dict[str, Any] = {"type": (Literal[kind], ...)}
    if payload is Progress:
        fields["generations"] = (list[GenerationProgress], ...)
        fields["speed"] = (TrainingSpeed | None, ...)
    else:
        fields["payload"] = (payload, ...)
    return create_model(f"{payload.__name__}Event", __base__=EventHead, __doc__=payload.__doc__, **fields)
