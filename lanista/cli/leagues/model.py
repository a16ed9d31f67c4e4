"""`lanista model`: the registry of model versions, aliases and weights."""

from __future__ import annotations

import os
from itertools import islice
from pathlib import Path
from typing import Annotated

import typer
from rich.markup import escape

from api.schemas.aliases import Alias
from api.schemas.trials import Trial
from api.schemas.versions import Version
from lanista.cli.connection import ExitCode, TrialArgument, connected
from lanista.cli.options import HomeOption, JsonOption, LimitOption
from lanista.cli.terminal import errors, out, print_json, print_line, uncut_table

model = typer.Typer(help="Model versions: list, promote, roll back, download, export.", no_args_is_help=True)

VersionArgument = Annotated[
    str,
    typer.Argument(
        metavar="VERSION",
        help="project/trial/player:number, project/trial/player (the newest), project@alias (or project@alias:game), "
        "or its id.",
        show_default=False,
    ),
]
AliasOption = Annotated[str, typer.Option("--alias", help="The alias to move.")]


@model.command("list")
def list_all(
    trial: TrialArgument,
    player: Annotated[str | None, typer.Option("--player", help="Only this player, by name.")] = None,
    limit: LimitOption = 30,
    home: HomeOption = None,
    as_json: JsonOption = False,
) -> None:
    """List versions of a trial's players, newest first, with their aliases."""
    with connected(home) as client:
        found = client.find_trial(trial)
        player_id = None if player is None else client.find_player(found, player).id
        versions = list(islice(client.versions(found, player_id=player_id, page_size=min(limit, 500)), limit))
        aliases = list(client.aliases(found.project))
    if as_json:
        print_json([version.model_dump(mode="json") for version in versions])
        return
    table = uncut_table("version", "origin", "steps", "size", "commit", "recorded", "aliases", "id")
    for version in versions:
        table.add_row(*_row(found, version, aliases))
    out.print(table)


def _row(trial: Trial, version: Version, aliases: list[Alias]) -> list[str]:
    names = ", ".join(alias.name for alias in aliases if alias.version_id == version.id)
    recorded = version.created_at.astimezone().strftime("%m-%d %H:%M:%S")
    size = "" if version.size is None else f"{version.size:,}"
    numbers = [version.origin, f"{version.steps:,}", size, str(version.commit)]
    return [escape(f"{trial.name}/{version.player}:{version.number}"), *numbers, recorded, names, version.id]


@model.command()
def promote(
    version: VersionArgument,
    alias: AliasOption = "champion",
    reason: Annotated[str, typer.Option("--reason", help="Reason, kept in the records.")] = "promoted by hand",
    home: HomeOption = None,
    as_json: JsonOption = False,
) -> None:
    """Point an alias at a version by hand; the move is recorded with its reason."""
    with connected(home) as client:
        found = client.find_version(version)
        project = client.trial(found.trial_id).project
        moved = client.set_alias(project, alias, version_id=found.id, reason=reason)
    if as_json:
        print_json(moved.model_dump(mode="json"))
    else:
        print_line(f"{escape(project)}@{escape(moved.name)} is now {escape(found.player)}:{found.number} ({found.id}).")


@model.command()
def rollback(
    project: Annotated[str, typer.Argument(metavar="PROJECT", help="The project.", show_default=False)],
    alias: AliasOption = "champion",
    game: Annotated[str | None, typer.Option("--game", help="The game, if the project has several.")] = None,
    reason: Annotated[str | None, typer.Option("--reason", help="Reason, kept in the records.")] = None,
    home: HomeOption = None,
    as_json: JsonOption = False,
) -> None:
    """Point an alias back at its previous version. Repeat to go further back."""
    with connected(home) as client:
        moved = client.roll_back_alias(project, alias, game=game, reason=reason)
        holder = client.version(moved.version_id)
    if as_json:
        print_json(moved.model_dump(mode="json"))
    else:
        print_line(f"{escape(project)}@{escape(moved.name)} is {escape(holder.player)}:{holder.number} again.")


@model.command()
def download(
    version: VersionArgument,
    to: Annotated[Path | None, typer.Option("--to", help="File; default: PLAYER-NUMBER.safetensors.")] = None,
    force: Annotated[bool, typer.Option("--force", help="Overwrite an existing file.")] = False,
    home: HomeOption = None,
    as_json: JsonOption = False,
) -> None:
    """Download a version's weights (safetensors), checked against their hash."""
    with connected(home) as client:
        found = client.find_version(version)
        target = to or Path(f"{found.player}-{found.number}.safetensors")
        if target.exists() and not force:
            errors.print(f"[red]{escape(str(target))} exists already[/]; --force overwrites it.", soft_wrap=True)
            raise typer.Exit(ExitCode.REFUSED)
        with errors.status(f"Downloading {found.size or 0:,} bytes …"):
            try:
                done = client.download_checkpoint(found.id, target)
            except OSError as error:
                raise _unwritable(target, error) from None
    if as_json:
        print_json({"file": str(target), "bytes": done.size, "sha256": done.sha256, "version_id": found.id})
    else:
        print_line(f"{escape(str(target))}: {done.size:,} bytes, sha256 {done.sha256}")


@model.command("import")
def import_file(
    trial: TrialArgument,
    name: Annotated[str, typer.Argument(metavar="NAME", help="Name of the new player.", show_default=False)],
    file: Annotated[
        Path,
        typer.Argument(metavar="FILE", help="Weights (safetensors), or the folder of `lanista try`.", exists=True),
    ],
    player: Annotated[
        str | None, typer.Option("--player", help="Of a folder with several players: whose weights.")
    ] = None,
    like: Annotated[
        str | None, typer.Option("--like", help="The player whose model they are of; default: the trial's model.")
    ] = None,
    home: HomeOption = None,
    as_json: JsonOption = False,
) -> None:
    """Import weights as a frozen player of a league; their shapes are checked against its model."""
    data = weights_file(file, player).read_bytes()
    with connected(home) as client:
        made = client.import_weights(client.find_trial(trial), name=name, data=data, like=like)
    if as_json:
        print_json(made.model_dump(mode="json"))
    else:
        print_line(f"{escape(name)} joined with {len(data):,} bytes of weights ({made.id}).")


def weights_file(path: Path, player: str | None) -> Path:
    """The file itself, or the player's checkpoint in a folder that `lanista try` wrote."""
    if not path.is_dir():
        return path
    found = {file.stem: file for file in sorted(path.glob("*.safetensors"))}
    name = next(iter(found)) if player is None and len(found) == 1 else player
    if name not in found:
        hint = f"--player must be one of {', '.join(found)}" if found else "it has no .safetensors file"
        raise typer.BadParameter(f"{path}: {hint}", param_hint="FILE")
    return found[name]


def write_whole(target: Path, data: bytes) -> None:
    """Write the whole file or nothing."""
    part = target.with_name(f".{target.name}.{os.getpid()}")
    try:
        part.write_bytes(data)
        part.replace(target)
    except OSError as error:
        part.unlink(missing_ok=True)
        raise _unwritable(target, error) from None


def _unwritable(target: Path, error: OSError) -> typer.Exit:
    errors.print(f"[red]{escape(str(target))} cannot be written:[/] {error.strerror}", soft_wrap=True)
    return typer.Exit(ExitCode.FAILED)
