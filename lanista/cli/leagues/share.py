"""`lanista share`: read-only links to a trial or a tournament, for people without a token."""

from __future__ import annotations

from datetime import UTC, datetime
from itertools import islice
from typing import Annotated

import typer
from rich.markup import escape

from lanista.cli.connection import connected
from lanista.cli.options import HomeOption, JsonOption, LimitOption
from lanista.cli.terminal import errors, out, print_json, print_line, uncut_table

share = typer.Typer(help="Read-only links to a trial or a tournament: create, list, revoke.", no_args_is_help=True)


@share.command()
def create(
    trial: Annotated[str | None, typer.Option("--trial", "-t", help="The trial to show: its name or id.")] = None,
    tournament: Annotated[str | None, typer.Option("--tournament", help="Id of the tournament to show.")] = None,
    days: Annotated[float, typer.Option(min=0.01, max=365, help="Days until the link ends.")] = 7.0,
    note: Annotated[str, typer.Option(help="For whom it is.")] = "",
    home: HomeOption = None,
    as_json: JsonOption = False,
) -> None:
    """Make a link that shows one trial or tournament. It is printed once; only its hash is stored."""
    if (trial is None) == (tournament is None):
        raise typer.BadParameter("give either --trial or --tournament")
    with connected(home) as client:
        trial_id = None if trial is None else client.find_trial(trial).id
        made = client.create_share(trial_id=trial_id, tournament_id=tournament, expires_in_days=days, note=note)
        link = made.url or f"{client.url}{made.path}"
    if as_json:
        print_json({**made.model_dump(mode="json"), "url": link})
        return
    out.print(link, highlight=False, soft_wrap=True)
    errors.print(f"Whoever has this link sees {made.name} until {made.expires_at:%Y-%m-%d %H:%M} UTC.")
    errors.print(f"Revoke it: lanista share revoke {made.id}")


@share.command("list")
def list_all(limit: LimitOption = 30, home: HomeOption = None, as_json: JsonOption = False) -> None:
    """List links, newest first, also those that ended."""
    with connected(home) as client:
        found = list(islice(client.shares(page_size=min(limit, 500)), limit))
    if as_json:
        print_json([one.model_dump(mode="json") for one in found])
        return
    table = uncut_table("shows", "for", "made by", "ends", "opened", "id")
    for one in found:
        over = "revoked" if one.revoked_at else "expired" if one.expires_at <= datetime.now(UTC) else None
        ends = over or f"{one.expires_at:%Y-%m-%d %H:%M}"
        what = f"{'trial' if one.trial_id else 'tournament'} {one.name}"
        table.add_row(*(escape(word) for word in (what, one.note, one.created_by, ends, str(one.opened), one.id)))
    out.print(table)


@share.command()
def revoke(
    share_id: Annotated[str, typer.Argument(metavar="ID", help="Id of the link.", show_default=False)],
    home: HomeOption = None,
    as_json: JsonOption = False,
) -> None:
    """Revoke a link: it shows nothing from now on."""
    with connected(home) as client:
        client.revoke_share(share_id)
    if as_json:
        print_json({"revoked": share_id})
    else:
        print_line("Revoked.")
