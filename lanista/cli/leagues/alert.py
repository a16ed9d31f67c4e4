"""`lanista alert`: channels, rules and deliveries of alerts."""

from __future__ import annotations

import sys
from itertools import islice
from typing import TYPE_CHECKING, Annotated

import typer
from rich.markup import escape

from api.schemas.enums import AlertKind, ChannelKind, DeliveryStatus
from lanista.cli.connection import connected
from lanista.cli.options import HomeOption, JsonOption, LimitOption
from lanista.cli.terminal import errors, out, print_json, print_line, uncut_table
from lanista.client import Client
from lanista.client.errors import NoSuchName
from orchestrator.spec.values import is_id

if TYPE_CHECKING:
    from api.schemas.alerts import Channel

alert = typer.Typer(help="Alerts by webhook, Slack or e-mail: channels, rules, deliveries.", no_args_is_help=True)
channel = typer.Typer(help="Channels: webhooks, Slack, e-mail.", no_args_is_help=True)
rule = typer.Typer(help="Rules: what is sent to a channel.", no_args_is_help=True)
alert.add_typer(channel, name="channel")
alert.add_typer(rule, name="rule")

ChannelArgument = Annotated[
    str, typer.Argument(metavar="CHANNEL", help="Name or id of the channel.", show_default=False)
]


@channel.command("create")
def create_channel(
    name: Annotated[str, typer.Argument(metavar="NAME", help="Name of the channel.", show_default=False)],
    kind: Annotated[ChannelKind, typer.Option(help="How messages are sent.")] = ChannelKind.WEBHOOK,
    url: Annotated[
        str | None, typer.Option(help="Where a webhook or Slack gets them; - reads it from standard input.")
    ] = None,
    to: Annotated[list[str] | None, typer.Option(help="Recipient of e-mail; repeat it for more.")] = None,
    home: HomeOption = None,
    as_json: JsonOption = False,
) -> None:
    """Create a channel. The secret that signs a webhook's messages is printed once."""
    given = sys.stdin.readline().strip() if url == "-" else url
    with connected(home) as client:
        made = client.create_alert_channel(name=name, kind=kind, url=given, to=to or None)
    if as_json:
        print_json(made.model_dump(mode="json"))
        return
    print_line(escape(f"channel {made.id}: {made.kind} to {made.target}"))
    if made.secret is not None:
        out.print(made.secret, highlight=False, soft_wrap=True)
        errors.print("Keep this secret: it is not shown again. The receiver checks signatures with it.")
    print_line(f"Next: lanista alert rule create {escape(made.name)} --on trial_failed")


@channel.command("list")
def list_channels(limit: LimitOption = 100, home: HomeOption = None, as_json: JsonOption = False) -> None:
    """List channels by name, with what keeps them from working."""
    with connected(home) as client:
        found = list(islice(client.alert_channels(page_size=min(limit, 500)), limit))
    if as_json:
        print_json([one.model_dump(mode="json") for one in found])
        return
    table = uncut_table("name", "kind", "target", "state", "pending", "id")
    for one in found:
        table.add_row(
            *(escape(word) for word in (one.name, one.kind, one.target, _state(one), str(one.pending), one.id))
        )
    out.print(table)


@channel.command("change")
def change_channel(
    channel: ChannelArgument,
    enabled: Annotated[bool | None, typer.Option("--on/--off", help="Switch it on or off.")] = None,
    url: Annotated[str | None, typer.Option(help="Another address; - reads it from standard input.")] = None,
    to: Annotated[list[str] | None, typer.Option(help="Other recipients of e-mail.")] = None,
    home: HomeOption = None,
    as_json: JsonOption = False,
) -> None:
    """Switch a channel on or off, or give it another address. Its failures are forgotten."""
    given = sys.stdin.readline().strip() if url == "-" else url
    with connected(home) as client:
        changed = client.change_alert_channel(_id_of(client, channel), enabled=enabled, url=given, to=to or None)
    if as_json:
        print_json(changed.model_dump(mode="json"))
    else:
        print_line(escape(f"channel {changed.name}: {_state(changed)}"))


@channel.command("delete")
def delete_channel(channel: ChannelArgument, home: HomeOption = None, as_json: JsonOption = False) -> None:
    """Delete a channel with its rules and messages."""
    with connected(home) as client:
        client.delete_alert_channel(_id_of(client, channel))
    _deleted(channel, as_json)


@alert.command("test")
def test_channel(channel: ChannelArgument, home: HomeOption = None, as_json: JsonOption = False) -> None:
    """Send a test message; `lanista alert deliveries` shows whether it arrived."""
    with connected(home) as client:
        sent = client.test_alert_channel(_id_of(client, channel))
    if as_json:
        print_json(sent.model_dump(mode="json"))
    else:
        print_line(f"Message {sent.id} is in the outbox; `lanista alert deliveries` shows whether it arrived.")


@rule.command("create")
def create_rule(
    channel: ChannelArgument,
    on: Annotated[list[AlertKind], typer.Option("--on", help="What to send; repeat it for more.")],
    project: Annotated[str | None, typer.Option("--project", "-p", help="Only of this project.")] = None,
    trial: Annotated[str | None, typer.Option("--trial", "-t", help="Only of this trial: its name or id.")] = None,
    home: HomeOption = None,
    as_json: JsonOption = False,
) -> None:
    """Send what happens from now on to a channel."""
    with connected(home) as client:
        of = None if trial is None else client.find_trial(trial)
        made = client.create_alert_rule(channel_id=_id_of(client, channel), kinds=on, project=project, trial=of)
    if as_json:
        print_json(made.model_dump(mode="json"))
    else:
        print_line(escape(f"rule {made.id}: {', '.join(made.kinds)} to {made.channel}"))


@rule.command("list")
def list_rules(limit: LimitOption = 100, home: HomeOption = None, as_json: JsonOption = False) -> None:
    """List rules, newest first."""
    with connected(home) as client:
        found = list(islice(client.alert_rules(page_size=min(limit, 500)), limit))
    if as_json:
        print_json([one.model_dump(mode="json") for one in found])
        return
    table = uncut_table("channel", "on", "of", "id")
    for one in found:
        of = f"trial {one.trial}" if one.trial else f"project {one.project}" if one.project else "everything"
        table.add_row(*(escape(word) for word in (one.channel, ", ".join(one.kinds), of, one.id)))
    out.print(table)


@rule.command("delete")
def delete_rule(
    rule_id: Annotated[str, typer.Argument(metavar="ID", help="Id of the rule.", show_default=False)],
    home: HomeOption = None,
    as_json: JsonOption = False,
) -> None:
    """Delete a rule."""
    with connected(home) as client:
        client.delete_alert_rule(rule_id)
    _deleted(rule_id, as_json)


@alert.command("deliveries")
def deliveries(
    channel: Annotated[str | None, typer.Option(help="Only of this channel.")] = None,
    status: Annotated[DeliveryStatus | None, typer.Option(help="Only those with this status.")] = None,
    limit: LimitOption = 30,
    home: HomeOption = None,
    as_json: JsonOption = False,
) -> None:
    """List messages, newest first, with what came of them."""
    with connected(home) as client:
        of = None if channel is None else _id_of(client, channel)
        listed = client.alert_deliveries(channel_id=of, status=status, page_size=min(limit, 500))
        found = list(islice(listed, limit))
    if as_json:
        print_json([one.model_dump(mode="json") for one in found])
        return
    table = uncut_table("when", "channel", "about", "status", "attempts", "last error", "text", "id")
    for one in found:
        when = f"{one.created_at:%Y-%m-%d %H:%M:%S}"
        words = (when, one.channel, one.kind, one.status, str(one.attempts), one.last_error or "", one.text, one.id)
        table.add_row(*(escape(word) for word in words))
    out.print(table)


@alert.command("retry")
def retry(
    delivery_id: Annotated[str, typer.Argument(metavar="ID", help="Id of the message.", show_default=False)],
    home: HomeOption = None,
    as_json: JsonOption = False,
) -> None:
    """Try a message that was given up once more; its id stays."""
    with connected(home) as client:
        again = client.retry_alert_delivery(delivery_id)
    if as_json:
        print_json(again.model_dump(mode="json"))
    else:
        print_line("Tried again.")


def _state(one: Channel) -> str:
    if not one.enabled:
        return "off"
    if not one.failures:
        return "works" if one.last_success_at else "unused"
    return f"failed {one.failures} times: {one.last_error}"


def _deleted(what: str, as_json: bool) -> None:
    if as_json:
        print_json({"deleted": what})
    else:
        print_line("Deleted.")


def _id_of(client: Client, named: str) -> str:
    if is_id(named):
        return named
    found = next((one.id for one in client.alert_channels() if one.name == named), None)
    if found is None:
        raise NoSuchName(f"there is no channel {named!r}; `lanista alert channel list` shows them")
    return found
