"""Alerts: channels, rules, deliveries, test messages."""

from __future__ import annotations

from typing import Annotated
from uuid import UUID

from fastapi import APIRouter, Query, Response

from api.addresses import read_networks
from api.alerts.call_guard import check_url, shown_url
from api.alerts.errors import AddressRefused
from api.alerts.sending import ChannelSecret
from api.alerts.signing import new_secret, secret_bytes
from api.schemas.alerts import Channel, ChannelChange, Delivery, MadeChannel, NewChannel, NewRule, Rule
from api.schemas.base import Page
from api.schemas.enums import ChannelKind, DeliveryStatus
from api.settings import ApiSettings
from api.store.alerts.channels import (
    add_channel,
    add_rule,
    change_channel,
    delete_channel,
    delete_rule,
    list_channels,
    list_rules,
    lock_channel,
    read_channel,
    read_rule,
)
from api.store.alerts.deliveries import list_deliveries, read_delivery, send_again
from api.store.alerts.outbox import write_test
from api.store.core.engine import Session
from api.web.auth.scopes import Admin, Operator
from api.web.changes import AuditLine, Change, Reply
from api.web.problems import ProblemError
from api.web.responses.paging import EntityId, IdCursor, Limit, NameCursor, text_of
from api.web.responses.serialization import SerializingRoute, record_response, records_page
from api.web.services import Api
from orchestrator.sealing import KeyRing, KeyUse, UnknownKey

router = APIRouter(route_class=SerializingRoute, prefix="/api/v1/alerts", tags=["alerts"])

OfChannel = Annotated[UUID | None, Query(description="only of this channel")]


@router.get("/channels", summary="List alert channels", response_model=Page[Channel])
def channels(services: Api, principal: Operator, limit: Limit = 50, cursor: NameCursor = None) -> Response:
    """Channels by name, without their secrets; those that keep failing have `failures` and `last_error`."""
    with services.reads() as session:
        rows = list_channels(session, after=cursor, limit=limit + 1)
    return records_page(rows, limit, Channel, "name")


@router.post("/channels", summary="Create an alert channel", status_code=201, response_model=MadeChannel)
async def create(new: NewChannel, principal: Admin, change: Change) -> Response:
    """The answer holds the secret of a webhook, this once only. It sends nothing until it has a rule."""
    settings = change.services.settings
    keys = _keys(settings)
    secret = new.secret or (new_secret() if new.kind is ChannelKind.WEBHOOK else None)
    given = ChannelSecret(url=new.url, secret=secret, to=new.to)
    target = _checked(new.kind, given, settings)

    def work(session: Session) -> Reply:
        row = add_channel(
            session,
            name=new.name,
            kind=new.kind,
            target=target,
            seal=lambda channel_id: given.seal(keys, channel_id),
        )
        shown = read_channel(session, row.id)
        return Reply(
            status=201,
            body=MadeChannel.model_validate({**shown, "secret": secret}),
            body_for_retries=MadeChannel.model_validate({**shown, "secret": None}),
            audit=_line("alert_channel.create", row.id, name=new.name, kind=new.kind, target=target),
        )

    response = await change.commit(work)
    response.headers["Cache-Control"] = "no-store"
    return response


@router.get("/channels/{channel_id}", summary="Get an alert channel", response_model=Channel)
def get_one(channel_id: EntityId, services: Api, principal: Operator) -> Response:
    """One channel, without its secret."""
    with services.reads() as session:
        return record_response(read_channel(session, str(channel_id)), Channel)


@router.patch("/channels/{channel_id}", summary="Change an alert channel", response_model=Channel)
async def update(channel_id: EntityId, changes: ChannelChange, principal: Admin, change: Change) -> Response:
    """Switch it on or off, or give it another address or secret. Its failures are forgotten."""
    settings = change.services.settings
    fresh = changes.model_dump(exclude_none=True, exclude={"enabled"})
    keys = _keys(settings) if fresh else None  # a channel is switched off without it

    def work(session: Session) -> Reply:
        row = lock_channel(session, str(channel_id))
        target, sealed = None, None
        if keys is not None:
            secret = _merged(keys, row.sealed, row.id, fresh)
            target = _checked(row.kind, secret, settings)
            sealed = secret.seal(keys, row.id)
        change_channel(session, row, enabled=changes.enabled, target=target, sealed=sealed)
        detail = {"enabled": changes.enabled, "changed": sorted(fresh)}
        return Reply(
            body=Channel.model_validate(read_channel(session, row.id)),
            audit=_line("alert_channel.change", row.id, name=row.name, **detail),
        )

    return await change.commit(work)


@router.delete("/channels/{channel_id}", summary="Delete an alert channel", status_code=204)
async def delete(channel_id: EntityId, principal: Admin, change: Change) -> Response:
    """Delete it with its rules and its messages, also those that were not delivered."""

    def work(session: Session) -> Reply:
        row = delete_channel(session, str(channel_id))
        return Reply(status=204, audit=_line("alert_channel.delete", row.id, name=row.name))

    return await change.commit(work)


@router.post("/channels/{channel_id}/test", summary="Send a test message", status_code=202, response_model=Delivery)
async def test(channel_id: EntityId, principal: Operator, change: Change) -> Response:
    """Put a test message into the outbox. Whether it arrived, the list of deliveries says."""

    def work(session: Session) -> Reply:
        row = lock_channel(session, str(channel_id))
        if not row.enabled:
            raise ProblemError(409, f"channel {row.name} is switched off; switch it on first")
        message_id = write_test(session, row, public_url=change.services.settings.public_url)
        return Reply(
            status=202,
            body=Delivery.model_validate(read_delivery(session, message_id)),
            audit=_line("alert_channel.test", row.id, name=row.name),
        )

    return await change.commit(work)


@router.get("/rules", summary="List alert rules", response_model=Page[Rule])
def rules(
    services: Api, principal: Operator, channel_id: OfChannel = None, limit: Limit = 50, cursor: IdCursor = None
) -> Response:
    """Rules, the newest first."""
    with services.reads() as session:
        rows = list_rules(session, channel_id=text_of(channel_id), before=text_of(cursor), limit=limit + 1)
    return records_page(rows, limit, Rule)


@router.post("/rules", summary="Create an alert rule", status_code=201, response_model=Rule)
async def create_rule(new: NewRule, principal: Operator, change: Change) -> Response:
    """Send what happens from now on to a channel. An event that two rules choose is sent once."""

    def work(session: Session) -> Reply:
        rule_id = add_rule(
            session,
            channel_id=str(new.channel_id),
            kinds=new.kinds,
            project=new.project,
            trial_id=text_of(new.trial_id),
        )
        made = Rule.model_validate(read_rule(session, rule_id))
        detail = {"channel": made.channel, "kinds": made.kinds, "project": made.project, "trial_id": made.trial_id}
        line = AuditLine(action="alert_rule.create", target=f"alert_rule/{rule_id}", detail=detail)
        return Reply(status=201, body=made, audit=line)

    return await change.commit(work)


@router.delete("/rules/{rule_id}", summary="Delete an alert rule", status_code=204)
async def remove_rule(rule_id: EntityId, principal: Operator, change: Change) -> Response:
    """Messages that are in the outbox already are still sent."""

    def work(session: Session) -> Reply:
        row = delete_rule(session, str(rule_id))
        line = AuditLine(
            action="alert_rule.delete", target=f"alert_rule/{row.id}", detail={"channel_id": row.channel_id}
        )
        return Reply(status=204, audit=line)

    return await change.commit(work)


@router.get("/deliveries", summary="List deliveries", response_model=Page[Delivery])
def deliveries(
    services: Api,
    principal: Operator,
    channel_id: OfChannel = None,
    status: Annotated[DeliveryStatus | None, Query(description="only those with this status")] = None,
    limit: Limit = 50,
    cursor: IdCursor = None,
) -> Response:
    """Messages, the newest first, with what came of them."""
    with services.reads() as session:
        rows = list_deliveries(
            session, channel_id=text_of(channel_id), status=status, before=text_of(cursor), limit=limit + 1
        )
    return records_page(rows, limit, Delivery)


@router.post("/deliveries/{delivery_id}/retry", summary="Send a message again", response_model=Delivery)
async def retry(delivery_id: EntityId, principal: Operator, change: Change) -> Response:
    """Try a message that was given up once more; its id stays. 409 if it is pending or delivered."""

    def work(session: Session) -> Reply:
        again = Delivery.model_validate(send_again(session, str(delivery_id)))
        return Reply(body=again, audit=_line("alert_delivery.retry", again.channel_id, delivery=again.id))

    return await change.commit(work)


def _line(action: str, channel_id: str, **detail: object) -> AuditLine:
    return AuditLine(action=action, target=f"alert_channel/{channel_id}", detail=detail)


def _keys(settings: ApiSettings) -> KeyRing:
    keys = KeyRing.from_settings(settings)
    if not keys.has(KeyUse.LEAGUE):
        raise ProblemError(
            409, f"{KeyUse.LEAGUE.setting} is not set, for the API and the store worker: it encrypts a channel's secret"
        )
    return keys


def _merged(keys: KeyRing, sealed: bytes, channel_id: str, fresh: dict[str, object]) -> ChannelSecret:
    try:
        before = ChannelSecret.open(keys, sealed, channel_id)
    except UnknownKey:
        before = ChannelSecret()  # as after a restore into another installation: all of it must be given
    return before.model_copy(update=fresh)


def _checked(kind: ChannelKind, given: ChannelSecret, settings: ApiSettings) -> str:
    """What is shown of the channel's address; 422 if what is given does not fit its kind."""
    if kind is ChannelKind.EMAIL:
        if given.to is None or given.url is not None or given.secret is not None:
            raise ProblemError(422, "body: an email channel needs `to`, and neither url nor secret")
        if not settings.smtp_host:
            raise ProblemError(409, "there is no mail server: set LANISTA_SMTP_HOST for the API and the store worker")
        return ", ".join(given.to)
    if given.url is None or given.to is not None:
        raise ProblemError(422, f"body: a {kind} channel needs `url`, and no `to`")
    if kind is ChannelKind.SLACK and given.secret is not None:
        raise ProblemError(422, "body.secret: Slack checks no signature; leave it out")
    if kind is ChannelKind.WEBHOOK:
        try:
            secret_bytes(given.secret or "")
        except ValueError as error:
            raise ProblemError(422, f"body.secret: {error}") from None
    try:
        check_url(given.url, read_networks(settings.alert_networks))
    except AddressRefused as error:
        raise ProblemError(422, f"body.url: {error}") from None
    return shown_url(given.url)
