"""`lanista doctor`: checks each part and says how to fix what is wrong."""

from __future__ import annotations

import asyncio
from dataclasses import asdict

from rich.markup import escape
from rich.table import Table

from lanista.cli.ending import exit_now
from lanista.cli.installation.stack import load_settings
from lanista.cli.options import HomeOption, JsonOption
from lanista.cli.terminal import out, print_json


def doctor(home: HomeOption = None, as_json: JsonOption = False) -> None:
    """Check every part: version, reachability, disk, memory, Ray's resources. Exit code 0 if everything is well."""
    from lanista.checks.doctor import examine

    findings = asyncio.run(examine(load_settings(home=home)))
    if as_json:
        print_json([asdict(finding) for finding in findings])
    else:
        table = Table("part", "", "finding", "what to do")
        for finding in findings:
            sign = "[green]ok[/]" if finding.ok else "[red]wrong[/]"
            table.add_row(finding.part, sign, escape(finding.detail), escape(finding.mend))
        out.print(table)
    exit_now(0 if all(finding.ok for finding in findings) else 1)
