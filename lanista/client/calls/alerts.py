"""Calls about alerts: channels, rules, deliveries."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING

from lanista.client.calls.call import Call, Listing, TrialRef, change, drop_none, get, path_to

if TYPE_CHECKING:
    from api.schemas.alerts import Channel, Delivery, MadeChannel, Rule


def alert_channels(*, page_size: int = 100) -> Listing[Channel]:
    """Channels by name, without their secrets."""
    from api.schemas.alerts import Channel

    return Listing(path=path_to("alerts", "channels"), item=Channel, page_size=page_size)


def alert_channel(channel_id: str) -> Call[Channel]:
    """One channel, without its secret."""
    from api.schemas.alerts import Channel

    return get(path_to("alerts", "channels", channel_id), Channel)


def create_alert_channel(
    *, name: str, kind: str, url: str | None = None, secret: str | None = None, to: Sequence[str] | None = None
) -> Call[MadeChannel]:
    """Create a channel: `webhook` and `slack` with a URL, `email` with recipients. A webhook's secret is shown once."""
    from api.schemas.alerts import MadeChannel

    body = {"name": name, "kind": kind, "url": url, "secret": secret, "to": None if to is None else list(to)}
    return change("POST", path_to("alerts", "channels"), MadeChannel, body)


def change_alert_channel(
    channel_id: str,
    *,
    enabled: bool | None = None,
    url: str | None = None,
    secret: str | None = None,
    to: Sequence[str] | None = None,
) -> Call[Channel]:
    """Switch a channel on or off, or give it another address or secret."""
    from api.schemas.alerts import Channel

    body = {"enabled": enabled, "url": url, "secret": secret, "to": None if to is None else list(to)}
    return change("PATCH", path_to("alerts", "channels", channel_id), Channel, body)


def delete_alert_channel(channel_id: str) -> Call[None]:
    """Delete a channel with its rules and messages."""
    return Call(method="DELETE", path=path_to("alerts", "channels", channel_id), read=lambda _: None)


def test_alert_channel(channel_id: str) -> Call[Delivery]:
    """Put a test message into a channel's outbox."""
    from api.schemas.alerts import Delivery

    return change("POST", path_to("alerts", "channels", channel_id, "test"), Delivery)


def alert_rules(*, channel_id: str | None = None, page_size: int = 100) -> Listing[Rule]:
    """Rules, the newest first."""
    from api.schemas.alerts import Rule

    query = drop_none({"channel_id": channel_id})
    return Listing(path=path_to("alerts", "rules"), item=Rule, query=query, page_size=page_size)


def create_alert_rule(
    *, channel_id: str, kinds: Sequence[str], project: str | None = None, trial: TrialRef | None = None
) -> Call[Rule]:
    """Send what happens from now on to a channel."""
    from api.schemas.alerts import Rule

    trial_id = None if trial is None else str(getattr(trial, "id", trial))
    body = {"channel_id": channel_id, "kinds": list(kinds), "project": project, "trial_id": trial_id}
    return change("POST", path_to("alerts", "rules"), Rule, body)


def delete_alert_rule(rule_id: str) -> Call[None]:
    """Delete a rule."""
    return Call(method="DELETE", path=path_to("alerts", "rules", rule_id), read=lambda _: None)


def alert_deliveries(
    *, channel_id: str | None = None, status: str | None = None, page_size: int = 100
) -> Listing[Delivery]:
    """Messages, the newest first, with what came of them."""
    from api.schemas.alerts import Delivery

    query = drop_none({"channel_id": channel_id, "status": status})
    return Listing(path=path_to("alerts", "deliveries"), item=Delivery, query=query, page_size=page_size)


def retry_alert_delivery(delivery_id: str) -> Call[Delivery]:
    """Try a message that was given up once more."""
    from api.schemas.alerts import Delivery

    return change("POST", path_to("alerts", "deliveries", delivery_id, "retry"), Delivery)
