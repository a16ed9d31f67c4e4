"""`lanista bench`: list and run the measurements of a source checkout.

See docs/decisions/client-and-command-line.md.
"""

from __future__ import annotations

import runpy
import subprocess
import sys
from pathlib import Path
from typing import Annotated

import typer
from rich.markup import escape
from rich.table import Table

import lanista
from lanista.cli.exit_codes import ExitCode
from lanista.cli.options import JsonOption
from lanista.cli.terminal import errors, out, print_json

CHECKOUT = Path(lanista.__path__[0]).parent


def bench(
    context: typer.Context,
    name: Annotated[str | None, typer.Argument(metavar="[NAME]", help="Measurement to run; default: list all.")] = None,
    as_json: JsonOption = False,
) -> None:
    """List the measurements, or run one: lanista bench NAME [ITS OPTIONS]. Needs a source checkout."""
    found = measurements(CHECKOUT / "benchmarks")
    if name is None:
        _list(found, as_json)
        return
    if name not in found:
        errors.print(f"There is no measurement {escape(repr(name))}; there are: {', '.join(found)}.", soft_wrap=True)
        raise typer.Exit(ExitCode.USAGE)
    ended = subprocess.run([sys.executable, "-m", f"benchmarks.{name}", *context.args], cwd=CHECKOUT, check=False)
    raise typer.Exit(ended.returncode)


def measurements(folder: Path) -> dict[str, str]:
    """Names and purposes of the measurements, from the list in `benchmarks/__main__.py`."""
    index = folder / "__main__.py"
    if not index.exists():
        errors.print(
            f"There are no benchmarks at {escape(str(folder))}: they come with the source, not with the package.",
            soft_wrap=True,
        )
        raise typer.Exit(ExitCode.FAILED)
    found: dict[str, str] = runpy.run_path(str(index), run_name="lanista_bench")["measurements"](folder)
    return found


def _list(found: dict[str, str], as_json: bool) -> None:
    if as_json:
        print_json(found)
        return
    table = Table("name", "what it measures")
    for name, purpose in found.items():
        table.add_row(name, escape(purpose))
    out.print(table)
