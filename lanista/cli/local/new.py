"""`lanista new`: a project of one's own from a template."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated

import typer
from rich.markup import escape

from lanista.cli.connection import ExitCode
from lanista.cli.options import JsonOption
from lanista.cli.terminal import errors, print_json, print_line

TEMPLATES = "league, rl, sl, sl_rl, gamecore, cooperative or serve"


def new(
    name: Annotated[str, typer.Argument(metavar="NAME", help="Name of the project, as my-game.", show_default=False)],
    template: Annotated[str, typer.Option("--template", "-t", help=f"What it starts from: {TEMPLATES}.")] = "league",
    into: Annotated[Path, typer.Option("--into", help="The folder in which its folder is made.")] = Path(),
    as_json: JsonOption = False,
) -> None:
    """Make a project from a template: code, a trial file that explains every field, tests, README, Makefile."""
    from lanista.new.project import TEMPLATES, BadProject, make_project

    try:
        written = make_project(name, template, into)
    except BadProject as error:
        errors.print(f"[red]{escape(str(error))}[/]", highlight=False, soft_wrap=True)
        raise typer.Exit(ExitCode.REFUSED) from None
    if as_json:
        print_json({"folder": str(into / name), "template": template, "files": [str(path) for path in written]})
        return
    print_line(f"[bold]{escape(name)}[/]: {escape(TEMPLATES[template].about)}")
    for path in written:
        print_line(f"  {escape(str(path))}")
    print_line(f"\nNext: cd {escape(str(into / name))} && make test && make {TEMPLATES[template].next_target}")
