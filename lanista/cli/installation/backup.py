"""`lanista backup` and `lanista restore`: an installation as a folder."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer
from rich.markup import escape

from lanista.cli.installation.database import explain_connection_errors
from lanista.cli.installation.locations import locations
from lanista.cli.installation.stack import load_settings
from lanista.cli.options import HomeOption, JsonOption
from lanista.cli.terminal import print_json, print_line

if TYPE_CHECKING:
    from api.store.backup.manifest import Manifest

FolderArgument = Annotated[Path, typer.Argument(help="the folder of the backup", file_okay=False)]


def backup(folder: FolderArgument, home: HomeOption = None, as_json: JsonOption = False) -> None:
    """Write the database at one moment and all artifacts into a folder, while leagues run.

    A folder that holds an earlier backup gets what is new; the earlier one stays valid until this one is complete.
    """
    from api.store.backup.write import write_backup
    from api.store.core.engine import create_store_engine
    from orchestrator.storage.artifacts import ArtifactStore

    url, artifacts = locations(load_settings(home=home))
    engine = create_store_engine(url, pool_size=1, application="lanista-backup")
    try:
        with explain_connection_errors():
            manifest = write_backup(engine, ArtifactStore(artifacts), folder, say=_quiet if as_json else _say)
    finally:
        engine.dispose()
    _show(f"Written to {folder}", manifest, as_json)


def restore(folder: FolderArgument, home: HomeOption = None, as_json: JsonOption = False) -> None:
    """Restore a backup into a new installation that runs; its leagues go on from the backup's moment.

    The installation must have no trials. Tokens of both are valid afterwards.
    """
    from api.store.backup.restore import restore_backup
    from api.store.core.engine import create_store_engine
    from api.store.core.errors import Conflict
    from orchestrator.storage.artifacts import ArtifactStore

    url, artifacts = locations(load_settings(home=home))
    engine = create_store_engine(url, pool_size=1, application="lanista-restore")
    try:
        with explain_connection_errors():
            manifest = restore_backup(engine, ArtifactStore(artifacts), folder, say=_quiet if as_json else _say)
    except Conflict as error:
        print_line(f"[red]Nothing was restored:[/] {escape(str(error))}")
        raise typer.Exit(1) from None
    finally:
        engine.dispose()
    _show(f"Restored from {folder}", manifest, as_json)


def _say(line: str) -> None:
    print_line(escape(line))


def _quiet(line: str) -> None:
    """JSON alone goes to stdout."""


def _show(done: str, manifest: Manifest, as_json: bool) -> None:
    if as_json:
        print_json(manifest.model_dump(exclude={"tables"}) | {"rows": sum(table.rows for table in manifest.tables)})
        return
    trials = len(manifest.commits)
    print_line(
        f"[green]{escape(done)}:[/] {trials} trials as of {manifest.made_at}, {manifest.artifacts:,} artifacts, "
        f"{manifest.artifact_bytes / 1e6:,.1f} MB"
    )
