"""`lanista convert`: configurations of other systems as trial files."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated

import typer
from rich.markup import escape

from lanista.cli.exit_codes import ExitCode
from lanista.cli.options import JsonOption
from lanista.cli.terminal import errors, out, print_json, print_line

convert = typer.Typer(help="Convert configurations of other systems to trial files.", no_args_is_help=True)


@convert.callback()
def _group() -> None:
    """Convert configurations of other systems to trial files."""


@convert.command()
def bray(
    config: Annotated[
        Path, typer.Argument(metavar="CONFIG", help="Bray's YAML file.", exists=True, dir_okay=False, readable=True)
    ],
    output: Annotated[Path | None, typer.Option("--output", "-o", help="The trial file; default: printed.")] = None,
    as_json: JsonOption = False,
) -> None:
    """Convert a configuration of Bray's templates; what has no equal is listed with what to do about it."""
    import yaml

    from lanista.cli.local.bray_config import NotBray, convert_bray

    try:
        converted = convert_bray(yaml.safe_load(config.read_text(encoding="utf-8")))
    except (NotBray, yaml.YAMLError, UnicodeDecodeError) as error:
        errors.print(f"[red]{escape(str(config))}:[/] {escape(str(error))}", soft_wrap=True)
        raise typer.Exit(ExitCode.FAILED) from None
    if output is not None:
        output.write_text(converted.text, encoding="utf-8")
    if as_json:
        print_json({"trial": converted.trial, "not_converted": converted.left})
    elif output is None:
        out.print(converted.text, markup=False, highlight=False, soft_wrap=True, end="")
    else:
        print_line(f"{escape(str(output))}: {len(converted.left)} fields were not converted:")
        for line in converted.left:
            print_line(f"  {escape(line)}")
        print_line(f"Check it: lanista trial validate {escape(str(output))}")
