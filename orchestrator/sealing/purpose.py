"""What a sealed payload is for: a workflow, or an activity of one. It opens for nothing else.

The purpose travels in clear beside the payload and is authenticated with it. Temporal's SDK does not tell every detail
on both sides (a workflow does not know an activity's id before it is scheduled), so only those that both sides know
are compared.
"""

from __future__ import annotations

import json
import re

from temporalio.converter import ActivitySerializationContext, SerializationContext, WorkflowSerializationContext

from orchestrator.contracts.tournaments import schedule_id
from orchestrator.sealing.keys import KeyUse, use_of_queue

Purpose = dict[str, str]

_FIRING = re.compile(rf"({re.escape(schedule_id(''))}.+)-\d{{4}}-\d\d-\d\dT\d\d:\d\d:\d\dZ")
"""Temporal appends the time to the workflow id of a schedule's action; no other workflow has such ids."""


def purpose_of(context: SerializationContext | None) -> Purpose:
    """The purpose of a payload that is converted in this context."""
    if isinstance(context, WorkflowSerializationContext):
        return {"kind": "workflow", "namespace": context.namespace, "workflow": context.workflow_id}
    if isinstance(context, ActivitySerializationContext):
        known = {
            "namespace": context.namespace,
            "workflow": context.workflow_id,
            "id": context.activity_id,
            "type": context.activity_type,
            "queue": context.activity_task_queue,
        }
        return {"kind": "activity", **{name: value for name, value in known.items() if value}}
    return {"kind": "other"}


def use_of(context: SerializationContext | None) -> KeyUse:
    """The use of the key that seals in this context."""
    if isinstance(context, ActivitySerializationContext):
        return use_of_queue(context.activity_task_queue)
    return KeyUse.LEAGUE


def may_open(use: KeyUse, context: SerializationContext | None) -> bool:
    """Whether a payload sealed with a key of this use may be opened in this context.

    A train worker's key opens arguments and results of its own activities, and never a workflow's start, signal or
    update. A client that reads an activity's result does not know the queue, and accepts both.
    """
    if isinstance(context, ActivitySerializationContext) and context.activity_task_queue is None:
        return True
    return context is None or use is use_of(context)


def fits(sealed_for: Purpose, used_for: Purpose) -> bool:
    """Whether a payload sealed for the one purpose may be used for the other."""
    if used_for["kind"] == "other":  # read without a context: the seal alone must do
        return True
    if sealed_for.get("kind") != used_for["kind"]:
        return False
    return all(_same(name, sealed_for[name], used_for[name]) for name in sealed_for.keys() & used_for.keys())


def same_workflow(sealed: str, used: str) -> bool:
    """Whether a seal for one workflow id holds for another: the same, or a firing of the schedule that was sealed."""
    return sealed in (used, scheduled_as(used))


def scheduled_as(workflow_id: str) -> str:
    """The workflow id that a schedule's action was sealed with; any other id stays as it is."""
    firing = _FIRING.fullmatch(workflow_id)
    return firing[1] if firing else workflow_id


def _same(name: str, sealed: str, used: str) -> bool:
    return same_workflow(sealed, used) if name == "workflow" else sealed == used


def to_bytes(purpose: Purpose) -> bytes:
    return json.dumps(purpose, sort_keys=True, separators=(",", ":")).encode()


def from_bytes(data: bytes) -> Purpose:
    """Read a purpose whose seal has been checked."""
    purpose: Purpose = json.loads(data)
    return purpose
