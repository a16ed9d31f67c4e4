"""Own code of a trial file: packed where the command runs, uploaded, and named by its archive."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import typer
from rich.markup import escape

from lanista.cli.exit_codes import ExitCode
from lanista.cli.terminal import errors
from lanista.client import Client
from lanista.client.code_packing import PackedCode, code_folders, pack_code, with_code
from orchestrator.user_code.code_archives import BadArchive

MOST_LINES = 10
"""Lines about files that are not sent."""


def packed(file: Path, spec: dict[str, Any]) -> PackedCode | None:
    """The own code that the trial names and that is found here; exits with code 1 if it cannot be packed.

    Files beside it that are not sent are listed on standard error.
    """
    try:
        code = pack_code(spec, code_folders(file))
    except BadArchive as error:
        errors.print(f"[red]{escape(str(file))}: its code cannot be packed:[/] {escape(str(error))}", soft_wrap=True)
        raise typer.Exit(ExitCode.FAILED) from None
    left_out = () if code is None else code.left_out
    for line in left_out[:MOST_LINES]:
        errors.print(f"[yellow]not sent with the code:[/] {escape(line)}", highlight=False, soft_wrap=True)
    if len(left_out) > MOST_LINES:
        errors.print(f"[yellow]not sent with the code:[/] {len(left_out) - MOST_LINES} more files", highlight=False)
    return code


def shipped(client: Client, spec: dict[str, Any], code: PackedCode | None) -> dict[str, Any]:
    """Upload the code; returns the trial with the names of its archive. Needs the scope `code`."""
    if code is None:
        return spec
    client.upload_code(code.data)
    return with_code(spec, code)
