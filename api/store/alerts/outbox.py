"""Writes the outbox: events after a channel's cursor become messages, in the transaction that moves the cursor.

Events become visible in the order of their numbers, so a cursor misses none; the transaction, the lock on the channel
and the unique key (channel, event) see to it that each becomes one message, whoever dies when.
"""

from __future__ import annotations

from collections.abc import Sequence

from sqlalchemy import Row, func, select
from sqlalchemy.dialects.postgresql import insert as upsert
from sqlalchemy.orm import Session

from api.alerts.kinds import EVENT_KINDS, alert_kinds
from api.alerts.messages import Context, check_message, message_of
from api.schemas.alerts import AlertMessage, Subject
from api.schemas.enums import AlertKind
from api.schemas.events import AliasMoved, EventPayload, read_event
from api.store.core.ids import new_id
from api.store.tables import AlertChannel, AlertDelivery, AlertRule, Event, Project, Schedule, Tournament, Trial

BATCH = 500
"""Events that are looked at in one transaction."""

EventRow = Row[tuple[int, str, dict[str, object], str | None, object]]


def lagging_channels(session: Session) -> Sequence[str]:
    """Channels with events that were not looked at."""
    newest = select(func.max(Event.id)).scalar_subquery()
    return session.scalars(
        select(AlertChannel.id).where(AlertChannel.enabled, AlertChannel.cursor < newest).order_by(AlertChannel.id)
    ).all()


def write_messages(session: Session, channel_id: str, *, public_url: str = "") -> int | None:
    """Look at the next events of a channel and return how many messages they became; None where another has it."""
    channel = session.scalars(
        select(AlertChannel)
        .where(AlertChannel.id == channel_id, AlertChannel.enabled)
        .with_for_update(skip_locked=True)
    ).one_or_none()
    if channel is None:
        return None
    newest = session.scalars(select(func.coalesce(func.max(Event.id), 0))).one()
    events = (
        session.execute(
            select(Event)
            .where(Event.id > channel.cursor, Event.id <= newest, Event.type.in_(EVENT_KINDS))
            .order_by(Event.id)
            .limit(BATCH)
        )
        .scalars()
        .all()
    )
    rules = session.scalars(select(AlertRule).where(AlertRule.channel_id == channel_id)).all()
    written = sum(_write(session, channel, rules, event, public_url) for event in events) if rules else 0
    # a full batch may have been cut off before the newest event
    channel.cursor = events[-1].id if len(events) == BATCH else max(newest, channel.cursor)
    return written


def write_test(session: Session, channel: AlertChannel, *, public_url: str = "") -> str:
    """Put a test message into the outbox and return its id."""
    message_id = new_id()
    at = session.scalars(select(func.now())).one()
    made = check_message(message_id=message_id, at=at, channel=channel.name, public_url=public_url)
    _insert(session, channel.id, None, made)
    return message_id


def _write(session: Session, channel: AlertChannel, rules: Sequence[AlertRule], row: Event, public_url: str) -> int:
    event = read_event(row.type, row.payload)
    kinds = alert_kinds(event, of_schedule=_schedule_of(session, event) is not None)
    if not kinds:
        return 0
    context = _context(session, row, event)
    wanted = {kind for rule in rules if _concerns(rule, row, context) for kind in rule.kinds} & set(kinds)
    if not wanted:
        return 0
    kind = next(kind for kind in AlertKind if kind in wanted)  # the order of the enum is that of weight
    made = message_of(
        event,
        kind,
        context,
        message_id=new_id(),
        sequence=row.id,
        at=row.created_at,
        public_url=public_url,
    )
    return _insert(session, channel.id, row.id, made)


def _insert(session: Session, channel_id: str, event_id: int | None, message: AlertMessage) -> int:
    added = session.execute(
        upsert(AlertDelivery)
        .values(
            id=message.id,
            channel_id=channel_id,
            event_id=event_id,
            kind=str(message.kind),
            text=message.text,
            body=message.model_dump_json(),
        )
        .on_conflict_do_nothing(index_elements=[AlertDelivery.channel_id, AlertDelivery.event_id])
        .returning(AlertDelivery.id)
    ).all()
    return len(added)


def _concerns(rule: AlertRule, row: Event, context: Context) -> bool:
    return (
        row.id > rule.after_event
        and rule.trial_id in (None, row.trial_id)
        and rule.project_id in (None, context.project_id)
    )


def _schedule_of(session: Session, event: EventPayload) -> str | None:
    """The schedule of an event's tournament, or of the event itself."""
    if schedule_id := getattr(event, "schedule_id", None):
        return str(schedule_id)
    tournament_id = getattr(event, "tournament_id", None)
    if not tournament_id:
        return None
    return session.scalars(select(Tournament.schedule_id).where(Tournament.id == tournament_id)).one_or_none()


def _context(session: Session, row: Event, event: EventPayload) -> Context:
    trial = None if row.trial_id is None else session.get(Trial, row.trial_id)
    tournament_id, schedule_id = getattr(event, "tournament_id", None), _schedule_of(session, event)
    tournament = session.get(Tournament, tournament_id) if tournament_id else None
    schedule = session.get(Schedule, schedule_id) if schedule_id else None
    project_id = next((each.project_id for each in (trial, tournament, schedule) if each is not None), None)
    if project_id is None and isinstance(event, AliasMoved):
        project_id = event.project_id or None
    project = session.get(Project, project_id) if project_id else None
    return Context(
        project=None if project is None else project.name,
        project_id=project_id,
        trial=_subject(trial),
        tournament=_subject(tournament),
        schedule=_subject(schedule),
    )


def _subject(row: Trial | Tournament | Schedule | None) -> Subject | None:
    return None if row is None else Subject(id=row.id, name=row.name)
