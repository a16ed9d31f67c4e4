"""Payload converters that refuse what the codec could not open."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from itertools import zip_longest
from typing import Any

from temporalio.api.common.v1 import Payload
from temporalio.contrib.pydantic import PydanticPayloadConverter

from orchestrator.contracts.workflow_labels import DisplayText
from orchestrator.sealing.errors import NotSealed, UnknownKey
from orchestrator.sealing.marks import Refusal, as_display_text, refusal_of, unmarked


@dataclass(frozen=True)
class RefusedArgument:
    """Stands for an activity's argument that was not opened; the activity guard refuses it before the activity runs."""

    payload: Payload
    type_hint: type | None

    @property
    def refusal(self) -> Refusal:
        refusal = refusal_of(self.payload)
        assert refusal is not None
        return refusal

    def convert(self) -> Any:
        """The value as it came: only for what was sent before sealing began."""
        hints = None if self.type_hint is None else [self.type_hint]
        return PydanticPayloadConverter().from_payloads([unmarked(self.payload)], hints)[0]


def refuse(refusal: Refusal) -> None:
    """Raise the error for a payload that was not opened."""
    if refusal is Refusal.UNKNOWN_KEY:
        raise UnknownKey(f"a payload is refused: {refusal}; see LANISTA_TEMPORAL_KEY and LANISTA_TEMPORAL_TRAIN_KEY")
    raise NotSealed(f"a payload is refused: {refusal}")


class SealedPayloadConverter(PydanticPayloadConverter):
    """Raises NotSealed or UnknownKey for a payload that was not opened; nothing of it is decoded."""

    def __init__(self) -> None:
        super().__init__()
        self.accepts_plain: Callable[[], bool] = lambda: False
        """Set by the workflow guard: whether this run began before sealing did."""

    def to_payloads(self, values: Sequence[Any]) -> list[Payload]:
        payloads = super().to_payloads(values)
        for value, payload in zip(values, payloads, strict=True):
            if isinstance(value, DisplayText):
                as_display_text(payload)
        return payloads

    def from_payloads(self, payloads: Sequence[Payload], type_hints: list[type] | None = None) -> list[Any]:
        return super().from_payloads([self._admit(payload) for payload in payloads], type_hints)

    def _admit(self, payload: Payload) -> Payload:
        refusal = refusal_of(payload)
        if refusal is None:
            return payload
        if refusal is not Refusal.PLAIN or not self.accepts_plain():
            refuse(refusal)
        return unmarked(payload)


class ServingPayloadConverter(SealedPayloadConverter):
    """A worker's converter. What was not opened becomes a RefusedArgument, except in workflows.

    The SDK reports an argument that cannot be converted as a failure to be retried. The activity guard, which gets the
    refused argument instead, can fail the activity for good.
    """

    def __init__(self) -> None:
        super().__init__()
        self.in_workflow = False
        """Set by the workflow guard."""

    def from_payloads(self, payloads: Sequence[Payload], type_hints: list[type] | None = None) -> list[Any]:
        if self.in_workflow or not any(refusal_of(payload) for payload in payloads):
            return super().from_payloads(payloads, type_hints)
        return [
            RefusedArgument(payload, hint)
            if refusal_of(payload)
            else super(ServingPayloadConverter, self).from_payloads([payload], None if hint is None else [hint])[0]
            for payload, hint in zip_longest(payloads, type_hints or [])
        ]
