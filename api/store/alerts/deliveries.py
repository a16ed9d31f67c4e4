"""Empties the outbox: messages are claimed for a while, and what came of the attempt is recorded."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from datetime import timedelta

from sqlalchemy import and_, delete, func, or_, select, update
from sqlalchemy.orm import Session

from api.schemas.alerts import Delivery
from api.schemas.enums import ChannelKind, DeliveryStatus
from api.schemas.events import TrialStalled
from api.store.core.clock import now, up_since
from api.store.core.errors import Conflict, NotFound
from api.store.core.events import NewEvent, append_once
from api.store.core.records import Record, fields_of, read_records
from api.store.tables import AlertChannel, AlertDelivery, Event, Trial

LEASE = timedelta(minutes=3)
"""For how long a message belongs to a sender; longer than any attempt takes, of which a mail has the longest: look-ups
of names, a connection, and then its TOTAL_SECONDS."""
FIRST_WAIT = timedelta(seconds=2)
LONGEST_WAIT = timedelta(minutes=5)


@dataclass(frozen=True, kw_only=True)
class Claimed:
    """A message that this sender sends now."""

    id: str
    channel_id: str
    kind: ChannelKind
    sealed: bytes
    body: str


def due_channels(session: Session) -> Sequence[str]:
    """Channels with a message that may be tried now."""
    due = select(AlertDelivery.id).where(AlertDelivery.channel_id == AlertChannel.id, _IS_DUE)
    return session.scalars(select(AlertChannel.id).where(_MAY_SEND, due.exists()).order_by(AlertChannel.id)).all()


def claim_message(session: Session, channel_id: str) -> Claimed | None:
    """Take the message of the channel that is due first. The attempt counts from here, also if the sender dies.

    Its last error is forgotten: a message with one waits, and one without is new or under way.
    """
    found = session.execute(
        select(AlertDelivery, AlertChannel)
        .join(AlertChannel, AlertChannel.id == AlertDelivery.channel_id)
        .where(AlertChannel.id == channel_id, _MAY_SEND, _IS_DUE)
        .order_by(AlertDelivery.next_attempt_at, AlertDelivery.id)
        .limit(1)
        .with_for_update(of=AlertDelivery, skip_locked=True)
    ).one_or_none()
    if found is None:
        return None
    message, channel = found
    session.execute(
        update(AlertDelivery)
        .where(AlertDelivery.id == message.id)
        .values(attempts=AlertDelivery.attempts + 1, next_attempt_at=func.now() + LEASE, last_error=None)
    )
    return Claimed(id=message.id, channel_id=channel.id, kind=channel.kind, sealed=channel.sealed, body=message.body)


def record_delivered(session: Session, message: Claimed, note: str | None = None) -> None:
    """The receiver accepted the message: the channel works. `note`: what it refused all the same."""
    # the channel first, as everywhere: who locks them in another order waits for ever
    session.execute(
        update(AlertChannel)
        .where(AlertChannel.id == message.channel_id)
        .values(failures=0, blocked_until=None, last_error=None, last_error_at=None, last_success_at=func.now())
    )
    session.execute(
        update(AlertDelivery)
        .where(AlertDelivery.id == message.id)
        .values(status=DeliveryStatus.DELIVERED, delivered_at=func.now(), last_error=note)
    )


def record_failed(session: Session, message: Claimed, error: str, *, give_up_after: timedelta) -> None:
    """The attempt failed: the message waits longer with each one, and its channel meanwhile."""
    channel = session.get(AlertChannel, message.channel_id, with_for_update=True)
    row = session.get(AlertDelivery, message.id, with_for_update=True)
    if channel is None or row is None or row.status is not DeliveryStatus.PENDING:  # deleted, or sent by another
        return
    moment = session.scalars(select(func.now())).one()
    channel.failures += 1
    channel.last_error, channel.last_error_at = error, moment
    channel.blocked_until = moment + wait_after(channel.failures)
    row.last_error, row.next_attempt_at = error, moment + wait_after(row.attempts)
    if moment - row.created_at > give_up_after:
        row.status = DeliveryStatus.FAILED


def wait_after(failures: int) -> timedelta:
    """The wait before the next attempt: 2 s, doubled with each failure, up to 5 minutes."""
    return min(FIRST_WAIT * (1 << min(max(failures, 1) - 1, 20)), LONGEST_WAIT)


def send_again(session: Session, delivery_id: str) -> Record:
    """Try a message that was given up once more; it keeps its id."""
    row = session.get(AlertDelivery, delivery_id, with_for_update=True)
    if row is None:
        raise NotFound(f"there is no delivery {delivery_id}")
    if row.status is not DeliveryStatus.FAILED:
        raise Conflict(
            f"the message is {row.status}; only one that was given up is sent again", delivery_status=row.status
        )
    row.status, row.next_attempt_at = DeliveryStatus.PENDING, session.scalars(select(func.now())).one()
    session.flush()
    return read_delivery(session, delivery_id)


def prune_deliveries(session: Session, older_than: timedelta) -> int:
    """Delete messages that were delivered or given up long ago."""
    old = and_(AlertDelivery.created_at < func.now() - older_than, AlertDelivery.status != DeliveryStatus.PENDING)
    return len(session.execute(delete(AlertDelivery).where(old).returning(AlertDelivery.id)).all())


def list_deliveries(
    session: Session, *, channel_id: str | None, status: DeliveryStatus | None, before: str | None, limit: int
) -> list[Record]:
    """Messages, the newest first."""
    query = _DELIVERIES.order_by(AlertDelivery.id.desc()).limit(limit)
    if channel_id is not None:
        query = query.where(AlertDelivery.channel_id == channel_id)
    if status is not None:
        query = query.where(AlertDelivery.status == status)
    return read_records(session, query if before is None else query.where(AlertDelivery.id < before))


def read_delivery(session: Session, delivery_id: str) -> Record:
    """One message."""
    session.flush()
    return read_records(session, _DELIVERIES.where(AlertDelivery.id == delivery_id))[0]


def note_stalled_trials(session: Session, after: timedelta) -> None:
    """Write an event for each running trial of which nothing was recorded for this long; one for each standstill.

    Time that the installation was down is no standstill.
    """
    if now(session) - up_since(session) < after:
        return
    newest = (
        select(Event.id, Event.created_at)
        .where(Event.trial_id == Trial.id, Event.type != TrialStalled.KIND)
        .order_by(Event.id.desc())
        .limit(1)
        .lateral()
    )
    stalled = session.execute(
        select(Trial.id, newest.c.id)
        .join(newest, newest.c.created_at < func.now() - after)
        .where(Trial.status == "running")
        .order_by(Trial.id)
    ).all()
    for trial_id, event_id in stalled:
        event = NewEvent(trial_id=trial_id, payload=TrialStalled(minutes=after.total_seconds() / 60))
        append_once(session, event, str(event_id))


_MAY_SEND = and_(
    AlertChannel.enabled, or_(AlertChannel.blocked_until.is_(None), AlertChannel.blocked_until <= func.now())
)
_IS_DUE = and_(AlertDelivery.status == DeliveryStatus.PENDING, AlertDelivery.next_attempt_at <= func.now())

_DELIVERIES = (
    select(
        *fields_of(
            Delivery,
            AlertDelivery.__table__,
            AlertChannel.name.label("channel"),
            Trial.id.label("trial_id"),
            Trial.name.label("trial"),
        )
    )
    .select_from(AlertDelivery)
    .join(AlertChannel, AlertChannel.id == AlertDelivery.channel_id)
    .outerjoin(Event, Event.id == AlertDelivery.event_id)
    .outerjoin(Trial, Trial.id == Event.trial_id)
)
