"""Channels and rules: created, changed, deleted, read."""

from __future__ import annotations

from collections.abc import Callable, Sequence

from sqlalchemy import delete, func, select, update
from sqlalchemy.dialects.postgresql import insert as upsert
from sqlalchemy.orm import Session

from api.schemas.alerts import Channel, Rule
from api.schemas.enums import AlertKind, ChannelKind, DeliveryStatus
from api.store.core.errors import Conflict, NotFound
from api.store.core.ids import new_id
from api.store.core.records import Record, fields_of, read_records
from api.store.tables import AlertChannel, AlertDelivery, AlertRule, Event, Project, Trial

MOST_RULES = 200
"""Rules of one channel."""


def add_channel(
    session: Session, *, name: str, kind: ChannelKind, target: str, seal: Callable[[str], bytes]
) -> AlertChannel:
    """Store a channel; `seal` gets its id, to which the secret is bound. Events from now on count."""
    channel_id = new_id()
    added = session.execute(
        upsert(AlertChannel)
        .values(
            id=channel_id, name=name, kind=kind, target=target, sealed=seal(channel_id), cursor=newest_event(session)
        )
        .on_conflict_do_nothing(index_elements=[AlertChannel.name])
        .returning(AlertChannel.id)
    ).one_or_none()
    if added is None:
        raise Conflict(f"there is a channel {name!r} already")
    return lock_channel(session, channel_id)


def lock_channel(session: Session, channel_id: str) -> AlertChannel:
    """The channel, locked until the transaction ends."""
    channel = session.get(AlertChannel, channel_id, with_for_update=True)
    if channel is None:
        raise NotFound(f"there is no channel {channel_id}")
    return channel


def change_channel(
    session: Session,
    channel: AlertChannel,
    *,
    enabled: bool | None = None,
    target: str | None = None,
    sealed: bytes | None = None,
) -> None:
    """Change a channel. It is tried again at once; what happened while it was off is not sent later."""
    if enabled is not None:
        if enabled and not channel.enabled:
            channel.cursor = newest_event(session)
        channel.enabled = enabled
    if sealed is not None and target is not None:
        channel.sealed, channel.target = sealed, target
    channel.failures, channel.blocked_until, channel.last_error, channel.last_error_at = 0, None, None, None
    session.flush()
    waits = AlertDelivery.last_error.is_not(None)  # without one it is due already, or under way
    session.execute(
        update(AlertDelivery)
        .where(AlertDelivery.channel_id == channel.id, AlertDelivery.status == DeliveryStatus.PENDING, waits)
        .values(next_attempt_at=func.now())
    )


def delete_channel(session: Session, channel_id: str) -> AlertChannel:
    """Delete a channel with its rules and messages."""
    channel = lock_channel(session, channel_id)
    session.execute(delete(AlertChannel).where(AlertChannel.id == channel_id))
    return channel


def list_channels(session: Session, *, after: str | None, limit: int) -> list[Record]:
    """Channels by name."""
    query = _CHANNELS.order_by(AlertChannel.name).limit(limit)
    return read_records(session, query if after is None else query.where(AlertChannel.name > after))


def read_channel(session: Session, channel_id: str) -> Record:
    """One channel, without what is sealed."""
    session.flush()
    found = read_records(session, _CHANNELS.where(AlertChannel.id == channel_id))
    if not found:
        raise NotFound(f"there is no channel {channel_id}")
    return found[0]


def add_rule(
    session: Session, *, channel_id: str, kinds: Sequence[AlertKind], project: str | None, trial_id: str | None
) -> str:
    """Store a rule and return its id. It concerns events from now on."""
    lock_channel(session, channel_id)
    count = select(func.count()).select_from(AlertRule).where(AlertRule.channel_id == channel_id)
    if session.scalars(count).one() >= MOST_RULES:
        raise Conflict(f"the channel has {MOST_RULES} rules already, which is the most")
    if trial_id is not None and session.get(Trial, trial_id) is None:
        raise NotFound(f"there is no trial {trial_id}")
    rule = AlertRule(
        id=new_id(),
        channel_id=channel_id,
        kinds=[kind.value for kind in AlertKind if kind in kinds],
        project_id=None if project is None else _project_id(session, project),
        trial_id=trial_id,
        after_event=newest_event(session),
    )
    session.add(rule)
    session.flush()
    return rule.id


def delete_rule(session: Session, rule_id: str) -> AlertRule:
    """Delete a rule; messages that it caused stay."""
    rule = session.get(AlertRule, rule_id, with_for_update=True)
    if rule is None:
        raise NotFound(f"there is no rule {rule_id}")
    session.delete(rule)
    session.flush()
    return rule


def list_rules(session: Session, *, channel_id: str | None, before: str | None, limit: int) -> list[Record]:
    """Rules, the newest first."""
    query = _RULES.order_by(AlertRule.id.desc()).limit(limit)
    if channel_id is not None:
        query = query.where(AlertRule.channel_id == channel_id)
    return read_records(session, query if before is None else query.where(AlertRule.id < before))


def read_rule(session: Session, rule_id: str) -> Record:
    """One rule."""
    return read_records(session, _RULES.where(AlertRule.id == rule_id))[0]


def newest_event(session: Session) -> int:
    """The number of the newest event. Later ones are greater: they become visible in the order of their numbers."""
    return session.scalars(select(func.coalesce(func.max(Event.id), 0))).one()


def _project_id(session: Session, name: str) -> str:
    found = session.scalars(select(Project.id).where(Project.name == name)).one_or_none()
    if found is None:
        raise NotFound(f"there is no project {name!r}")
    return found


_PENDING = (
    select(func.count())
    .select_from(AlertDelivery)
    .where(AlertDelivery.channel_id == AlertChannel.id, AlertDelivery.status == DeliveryStatus.PENDING)
    .scalar_subquery()
    .label("pending")
)
_CHANNELS = select(*fields_of(Channel, AlertChannel.__table__, _PENDING))
_RULES = (
    select(
        *fields_of(
            Rule,
            AlertRule.__table__,
            AlertChannel.name.label("channel"),
            Project.name.label("project"),
            Trial.name.label("trial"),
        )
    )
    .select_from(AlertRule)
    .join(AlertChannel, AlertChannel.id == AlertRule.channel_id)
    .outerjoin(Project, Project.id == AlertRule.project_id)
    .outerjoin(Trial, Trial.id == AlertRule.trial_id)
)
