"""A sealed payload opens for its own purpose only; what cannot be opened is marked, never raised."""

from __future__ import annotations

from dataclasses import replace

import pytest
from temporalio.api.common.v1 import Payload
from temporalio.converter import ActivitySerializationContext, SerializationContext, WorkflowSerializationContext

from orchestrator.contracts.queues import Queue
from orchestrator.contracts.workflow_labels import summary_line
from orchestrator.sealing import KeyRing, KeyUse, NotSealed, UnknownKey
from orchestrator.sealing.codec import SealingCodec
from orchestrator.sealing.converters import RefusedArgument, SealedPayloadConverter, ServingPayloadConverter
from orchestrator.sealing.marks import Refusal, refusal_of

RING = KeyRing({KeyUse.LEAGUE: ["l" * 32], KeyUse.TRAIN: ["t" * 32]})
TRAIN_ONLY = KeyRing({KeyUse.TRAIN: ["t" * 32]})
PLAIN = Payload(metadata={"encoding": b"json/plain"}, data=b'"text"')
TRIAL = WorkflowSerializationContext(namespace="default", workflow_id="trial-1")
TRAINING = ActivitySerializationContext(
    namespace="default",
    workflow_id="player-1",
    workflow_type="PlayerWorkflow",
    activity_id=None,
    activity_type="train_generation",
    activity_task_queue=Queue.TRAIN,
    is_local=False,
)
STORING = replace(TRAINING, activity_task_queue=Queue.STORE, activity_type="record_generation")


async def seal(context: SerializationContext, ring: KeyRing = RING) -> Payload:
    return (await SealingCodec(ring).with_context(context).encode([PLAIN]))[0]


async def opened(payload: Payload, context: SerializationContext, ring: KeyRing = RING) -> Payload:
    return (await SealingCodec(ring).with_context(context).decode([payload]))[0]


@pytest.mark.parametrize("context", [TRIAL, TRAINING, STORING], ids=["workflow", "train", "store"])
async def test_it_opens_for_its_own_purpose(context: SerializationContext) -> None:
    sealed = await seal(context)
    assert PLAIN.data not in sealed.SerializeToString()
    assert await opened(sealed, context) == PLAIN
    assert (await seal(context)).data != sealed.data, "a nonce is used once"


@pytest.mark.parametrize(
    ("sealed_for", "used_for"),
    [
        (TRIAL, replace(TRIAL, workflow_id="trial-2")),
        (TRIAL, replace(TRIAL, namespace="another")),
        (TRIAL, TRAINING),
        (TRAINING, TRIAL),
        (TRAINING, STORING),
        (STORING, TRAINING),
        (TRAINING, replace(TRAINING, workflow_id="player-2")),
        (TRAINING, replace(TRAINING, activity_type="play_games")),
        (TRAINING, replace(TRAINING, activity_task_queue=Queue.PLAY)),
        (replace(TRAINING, activity_id="1"), replace(TRAINING, activity_id="2")),
    ],
)
async def test_it_opens_for_no_other_purpose(sealed_for: SerializationContext, used_for: SerializationContext) -> None:
    assert refusal_of(await opened(await seal(sealed_for), used_for)) is Refusal.MISUSED


async def test_details_that_only_one_side_knows_are_not_compared() -> None:
    result = await seal(replace(TRAINING, activity_id="7"))
    assert await opened(result, TRAINING) == PLAIN, "a workflow does not know the id"
    asked = replace(TRAINING, workflow_id=None, workflow_type=None, activity_id="q")
    reader = replace(asked, activity_type=None, activity_task_queue=None)
    assert await opened(await seal(asked), reader) == PLAIN, "a client that reads an answer knows only the id"


async def test_a_schedules_start_opens_for_its_firings_only() -> None:
    sealed = await seal(WorkflowSerializationContext(namespace="default", workflow_id="schedule-1"))
    firing = replace(TRIAL, workflow_id="schedule-1-2026-11-17T13:00:00Z")
    assert await opened(sealed, firing) == PLAIN
    other = replace(TRIAL, workflow_id="schedule-2-2026-11-17T13:00:00Z")
    assert refusal_of(await opened(sealed, other)) is Refusal.MISUSED


async def test_a_train_worker_opens_and_seals_for_its_own_queues_only() -> None:
    assert await opened(await seal(TRAINING), TRAINING, TRAIN_ONLY) == PLAIN
    assert await opened(await seal(TRAINING, TRAIN_ONLY), TRAINING) == PLAIN
    assert refusal_of(await opened(await seal(STORING), STORING, TRAIN_ONLY)) is Refusal.UNKNOWN_KEY
    with pytest.raises(UnknownKey, match="LANISTA_TEMPORAL_KEY is not set"):
        await seal(TRIAL, TRAIN_ONLY)


@pytest.mark.parametrize("field", ["data", "for", "key"])
async def test_a_changed_payload_is_refused(field: str) -> None:
    sealed = await seal(TRIAL)
    if field == "data":
        sealed.data = sealed.data[:-1] + bytes([sealed.data[-1] ^ 1])
    else:
        sealed.metadata[field] = sealed.metadata[field].replace(b"1", b"2") + b" "
    assert refusal_of(await opened(sealed, TRIAL)) in (Refusal.FORGED, Refusal.UNKNOWN_KEY)


async def test_the_first_key_seals_and_all_keys_open() -> None:
    old, new = KeyRing({KeyUse.LEAGUE: ["o" * 32]}), KeyRing({KeyUse.LEAGUE: ["n" * 32]})
    both = KeyRing({KeyUse.LEAGUE: ["n" * 32, "o" * 32]})
    assert await opened(await seal(TRIAL, old), TRIAL, both) == PLAIN
    assert await opened(await seal(TRIAL, both), TRIAL, new) == PLAIN
    assert refusal_of(await opened(await seal(TRIAL, both), TRIAL, old)) is Refusal.UNKNOWN_KEY


async def test_what_was_not_opened_is_never_converted() -> None:
    marked = await opened(PLAIN, TRIAL)
    with pytest.raises(NotSealed):
        SealedPayloadConverter().from_payloads([marked], [str])
    unknown = await opened(await seal(TRIAL), TRIAL, TRAIN_ONLY)
    with pytest.raises(UnknownKey):
        SealedPayloadConverter().from_payloads([unknown], [str])
    refused, fine = ServingPayloadConverter().from_payloads([marked, PLAIN], [str, str])
    assert isinstance(refused, RefusedArgument) and refused.refusal is Refusal.PLAIN
    assert (refused.convert(), fine) == ("text", "text")


async def test_only_text_for_people_is_left_unsealed_and_it_serves_as_nothing_else() -> None:
    converter = SealedPayloadConverter()
    payloads = converter.to_payloads([summary_line("a summary"), "an argument"])
    summary, argument = await SealingCodec(RING, TRIAL).encode(payloads)
    assert summary.data == b'"a summary"'
    assert b"argument" not in argument.data
    with pytest.raises(NotSealed):
        converter.from_payloads([await opened(summary, TRIAL)], [str])
