"""`lanista prune`: gives up old checkpoints of training that nothing needs."""

from __future__ import annotations

from dataclasses import asdict
from datetime import timedelta
from typing import Annotated

import typer
from rich.markup import escape
from rich.table import Table

from lanista.cli.installation.database import explain_connection_errors
from lanista.cli.installation.locations import locations
from lanista.cli.installation.stack import load_settings
from lanista.cli.options import HomeOption, JsonOption
from lanista.cli.terminal import out, print_json, print_line

GARBAGE_AGE = timedelta(hours=1)

NewestOption = Annotated[int, typer.Option("--newest", min=2, help="keep so many versions of each learning player")]
EveryOption = Annotated[int, typer.Option("--every", min=0, help="keep also each version whose number this divides")]
DryRunOption = Annotated[bool, typer.Option("--dry-run", help="only say what would go")]


def prune(
    newest: NewestOption,
    every: EveryOption = 0,
    dry_run: DryRunOption = False,
    home: HomeOption = None,
    as_json: JsonOption = False,
) -> None:
    """Give up old checkpoints of training that nothing needs.

    Needed are those of aliases, gates, tournaments, snapshots, forks, probes and plans. Results, payoffs, ratings and
    metrics stay. The files are removed while leagues run.
    """
    from api.store.checkpoints.garbage import collect_garbage
    from api.store.checkpoints.pruning import BackupUnderWay, Retention, prune_checkpoints
    from api.store.core.engine import create_store_engine, session_factory
    from api.store.core.errors import Conflict
    from orchestrator.storage.artifacts import ArtifactStore

    url, artifacts = locations(load_settings(home=home))
    engine = create_store_engine(url, pool_size=1, application="lanista-prune")
    sessions, freed = session_factory(engine), 0
    try:
        with explain_connection_errors():
            found = prune_checkpoints(sessions, Retention(newest=newest, every=every), dry_run=dry_run)
            if not dry_run:
                freed = collect_garbage(sessions, ArtifactStore(artifacts), older_than=GARBAGE_AGE).bytes_freed
    except (BackupUnderWay, Conflict) as error:
        print_line(f"[red]Not complete:[/] {escape(str(error))}")
        raise typer.Exit(1) from None
    finally:
        engine.dispose()
    if as_json:
        print_json({"dry_run": dry_run, "bytes_freed": freed, "trials": [asdict(each) for each in found]})
        return
    table = Table("trial", "versions", "files", "MB")
    for each in found:
        table.add_row(escape(each.trial), f"{each.versions:,}", f"{each.files:,}", f"{each.size / 1e6:,.1f}")
    out.print(table)
    total = f"{sum(each.versions for each in found):,} versions, {sum(each.size for each in found) / 1e6:,.1f} MB"
    if dry_run:
        print_line(f"{total} would be pruned.")
    else:
        print_line(f"{total} pruned; {freed / 1e6:,.1f} MB of files removed. Files younger than an hour go later.")
