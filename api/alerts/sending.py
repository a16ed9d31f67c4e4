"""Sends one message of the outbox by its channel."""

from __future__ import annotations

import json
import time

from pydantic import BaseModel, ConfigDict

from api.addresses import read_networks
from api.alerts.call_guard import find_receiver
from api.alerts.errors import NotDelivered
from api.alerts.http_post import post
from api.alerts.mail import send_mail
from api.alerts.messages import slack_body
from api.alerts.signing import signed_headers
from api.schemas.alerts import AlertMessage
from api.schemas.enums import ChannelKind
from api.settings import StoreSettings
from api.store.alerts.deliveries import Claimed
from orchestrator.sealing import KeyRing, UnknownKey, open_secret, seal_secret

AGENT = "Lanista-Alerts/1"


class ChannelSecret(BaseModel):
    """What is sealed of a channel."""

    model_config = ConfigDict(frozen=True)

    url: str | None = None
    secret: str | None = None
    to: list[str] | None = None

    def seal(self, keys: KeyRing, channel_id: str) -> bytes:
        return seal_secret(keys, self.model_dump_json(exclude_none=True).encode(), purpose_of(channel_id))

    @classmethod
    def open(cls, keys: KeyRing, sealed: bytes, channel_id: str) -> ChannelSecret:
        return cls.model_validate_json(open_secret(keys, sealed, purpose_of(channel_id)))


def purpose_of(channel_id: str) -> str:
    """Binds a sealed secret to its channel, so that it opens for no other."""
    return f"alert channel {channel_id}"


class Sender:
    """Sends messages with the settings and keys of this process."""

    def __init__(self, settings: StoreSettings, keys: KeyRing) -> None:
        self._settings = settings
        self._keys = keys
        self._allowed = read_networks(settings.alert_networks)

    def send(self, claimed: Claimed) -> str | None:
        """Send the message; AlertError with the reason if it was not accepted, a note if it was for some only."""
        try:
            channel = ChannelSecret.open(self._keys, claimed.sealed, claimed.channel_id)
        except UnknownKey as error:
            raise NotDelivered(f"the channel's address cannot be opened: {error}; give the channel it again") from None
        message = AlertMessage.model_validate_json(claimed.body)
        if claimed.kind is ChannelKind.EMAIL:
            return send_mail(self._settings, message, channel.to or [])
        assert channel.url is not None
        headers = {"User-Agent": AGENT}
        if claimed.kind is ChannelKind.SLACK:
            body = json.dumps(slack_body(message)).encode()
        else:
            body = claimed.body.encode()
            headers |= signed_headers(channel.secret or "", claimed.id, int(time.time()), body)
        post(find_receiver(channel.url, self._allowed), body, headers)
        return None
