"""`lanista prune`: gives up old checkpoints of training, and the moves of old matches, that nothing needs."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import asdict, dataclass, field
from datetime import timedelta
from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer
from rich.markup import escape
from rich.table import Table

from lanista.cli.installation.database import explain_connection_errors
from lanista.cli.installation.locations import locations
from lanista.cli.installation.stack import load_settings
from lanista.cli.options import HomeOption, JsonOption
from lanista.cli.terminal import out, print_json, print_line

if TYPE_CHECKING:
    from api.store.checkpoints.pruning import Pruned
    from api.store.matches.pruning import PrunedMatches

GARBAGE_AGE = timedelta(hours=1)

NewestOption = Annotated[
    int | None, typer.Option("--newest", min=2, help="keep checkpoints of so many versions of each learning player")
]
EveryOption = Annotated[int, typer.Option("--every", min=0, help="keep also each version whose number this divides")]
DaysOption = Annotated[
    int | None, typer.Option("--matches-days", min=1, help="keep the moves of matches for so many days")
]
DryRunOption = Annotated[bool, typer.Option("--dry-run", help="only say what would go")]


@dataclass
class _GivenUp:
    versions: list[Pruned] = field(default_factory=list)
    matches: list[PrunedMatches] = field(default_factory=list)
    freed: int = 0


def prune(
    newest: NewestOption = None,
    every: EveryOption = 0,
    matches_days: DaysOption = None,
    dry_run: DryRunOption = False,
    home: HomeOption = None,
    as_json: JsonOption = False,
) -> None:
    """Give up old checkpoints of training, and the moves of old matches, that nothing needs.

    Needed are checkpoints of aliases, gates, tournaments, snapshots, forks, probes and plans, and moves of matches of
    what is open or shared, or of a version that an alias names. Results, payoffs, ratings and metrics stay. The files
    are removed while leagues run.
    """
    if newest is None and matches_days is None:
        raise typer.BadParameter("say what goes: --newest, --matches-days or both", param_hint="--newest")
    if newest is None and every:
        raise typer.BadParameter("it needs --newest", param_hint="--every")
    given_up = _give_up(newest, every, matches_days, home=home, dry_run=dry_run)
    if as_json:
        trials, matches = ([asdict(each) for each in found] for found in (given_up.versions, given_up.matches))
        print_json({"dry_run": dry_run, "bytes_freed": given_up.freed, "trials": trials, "matches": matches})
        return
    if matches_days is not None:
        _show_matches(given_up.matches, dry_run=dry_run)
    if newest is not None:
        _show_versions(given_up.versions, given_up.freed, dry_run=dry_run)


def _give_up(newest: int | None, every: int, days: int | None, *, home: Path | None, dry_run: bool) -> _GivenUp:
    from api.store.checkpoints.garbage import collect_garbage
    from api.store.checkpoints.pruning import BackupUnderWay, Retention, prune_checkpoints
    from api.store.core.engine import create_store_engine, session_factory
    from api.store.core.errors import Conflict
    from api.store.matches.pruning import prune_matches
    from orchestrator.storage.artifacts import ArtifactStore

    url, artifacts = locations(load_settings(home=home))
    engine = create_store_engine(url, pool_size=1, application="lanista-prune")
    sessions, given_up = session_factory(engine), _GivenUp()
    try:
        with explain_connection_errors():
            if days is not None:
                given_up.matches = prune_matches(sessions, timedelta(days=days), dry_run=dry_run)
            if newest is not None:
                given_up.versions = prune_checkpoints(sessions, Retention(newest=newest, every=every), dry_run=dry_run)
            if newest is not None and not dry_run:
                collected = collect_garbage(sessions, ArtifactStore(artifacts), older_than=GARBAGE_AGE)
                given_up.freed = collected.bytes_freed
    except (BackupUnderWay, Conflict) as error:
        print_line(f"[red]Not complete:[/] {escape(str(error))}")
        raise typer.Exit(1) from None
    finally:
        engine.dispose()
    return given_up


def _show_matches(found: Sequence[PrunedMatches], *, dry_run: bool) -> None:
    table = Table("trial", "matches", "MB of moves")
    for each in found:
        table.add_row(escape(each.trial), f"{each.matches:,}", f"{each.size / 1e6:,.1f}")
    out.print(table)
    count, size = sum(each.matches for each in found), sum(each.size for each in found)
    total = f"The moves of {count:,} matches, {size / 1e6:,.1f} MB"
    if dry_run:
        print_line(f"{total}, would be pruned; results stay.")
    else:
        print_line(f"{total}, pruned; results stay. Postgres uses the space again once its autovacuum has been there.")


def _show_versions(found: Sequence[Pruned], freed: int, *, dry_run: bool) -> None:
    table = Table("trial", "versions", "files", "MB")
    for each in found:
        table.add_row(escape(each.trial), f"{each.versions:,}", f"{each.files:,}", f"{each.size / 1e6:,.1f}")
    out.print(table)
    total = f"{sum(each.versions for each in found):,} versions, {sum(each.size for each in found) / 1e6:,.1f} MB"
    if dry_run:
        print_line(f"{total} would be pruned.")
    else:
        print_line(f"{total} pruned; {freed / 1e6:,.1f} MB of files removed. Files younger than an hour go later.")
