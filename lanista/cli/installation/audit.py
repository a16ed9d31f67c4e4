"""`lanista audit`: recomputes what is recorded and compares."""

from __future__ import annotations

from typing import TYPE_CHECKING

import typer
from rich.markup import escape
from rich.table import Table

from lanista.cli.installation.database import explain_connection_errors
from lanista.cli.installation.locations import locations
from lanista.cli.installation.stack import load_settings
from lanista.cli.options import HomeOption, JsonOption
from lanista.cli.terminal import out, print_json, print_line

if TYPE_CHECKING:
    from api.store.verify import AuditReport

MOST_SHOWN = 50


def audit(home: HomeOption = None, as_json: JsonOption = False) -> None:
    """Recompute payoffs, ratings and counts from the recorded games. Exit code 0 only if everything agrees."""
    # imports scipy, which would slow down the start of every other command
    from api.store.core.engine import create_store_engine
    from api.store.verify import audit as audit_store
    from orchestrator.storage.artifacts import ArtifactStore

    url, artifacts = locations(load_settings(home=home))
    engine = create_store_engine(url, pool_size=1, application="lanista-audit")
    try:
        with explain_connection_errors():
            report = audit_store(engine, ArtifactStore(artifacts))
    finally:
        engine.dispose()
    if as_json:
        print_json(report.as_dict())
    else:
        _show(report)
    if not report.agrees:
        raise typer.Exit(1)


def _show(report: AuditReport) -> None:
    from api.store.verify import FindingKind

    table = Table("checked", "count")
    for name, count in report.counts.items():
        table.add_row(name.replace("_", " "), f"{count:,}")
    out.print(table)
    for finding in report.findings[:MOST_SHOWN]:
        print_line(f"[red]{finding.wrong}[/] {escape(finding.subject)}: {escape(finding.detail)}")
    if len(report.findings) > MOST_SHOWN:
        print_line(f"and {len(report.findings) - MOST_SHOWN} more; --json shows all")
    numbers = ", ".join(f"{report.number(wrong)} {wrong}" for wrong in FindingKind)
    garbage = f"{report.garbage} unreferenced files will be collected as garbage"
    print_line(f"[green]Everything agrees.[/] {garbage}." if report.agrees else f"[bold red]Mismatches:[/] {numbers}.")
