"""`lanista find`: trials, players, versions, tournaments and sweeps by name."""

from __future__ import annotations

from typing import Annotated

import typer
from rich.markup import escape

from lanista.cli.connection import connected
from lanista.cli.options import HomeOption, JsonOption
from lanista.cli.terminal import out, print_json, print_line, uncut_table


def find(
    words: Annotated[list[str], typer.Argument(metavar="WORD...", help="Words of a name, or an id.")],
    limit: Annotated[int, typer.Option("--limit", "-n", min=1, max=50, help="At most this many of each kind.")] = 6,
    home: HomeOption = None,
    as_json: JsonOption = False,
) -> None:
    """Find trials, players, versions, tournaments and sweeps by name.

    `lanista find first-league main v12` finds a version; words before the last are of its trial.
    """
    with connected(home) as client:
        found = client.search(" ".join(words), limit=limit).items
    if as_json:
        print_json([each.model_dump(mode="json") for each in found])
        return
    if not found:
        print_line("Nothing has such a name.")
        return
    table = uncut_table("kind", "name", "in", "", "id")
    for each in found:
        table.add_row(each.kind, *map(escape, (each.name, each.within, each.detail, each.id)))
    out.print(table)
