"""`lanista model export` and `lanista model canary`, which need more than the registry's own commands."""

from __future__ import annotations

from dataclasses import asdict
from enum import StrEnum
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

import typer
from rich.markup import escape

from api.schemas.canaries import Canary
from lanista.cli.connection import ExitCode, connected
from lanista.cli.leagues.model import AliasOption, VersionArgument, model
from lanista.cli.options import HomeOption, JsonOption, LimitOption
from lanista.cli.stack_extra import require_stack
from lanista.cli.terminal import errors, out, print_json, print_line, uncut_table

if TYPE_CHECKING:
    from workers.serving.export.folder import Exported

__all__ = ["model"]


class ExportFormat(StrEnum):
    """What `lanista model export` writes."""

    ONNX = "onnx"
    TORCH = "torch"
    SAFETENSORS = "safetensors"


@model.command()
def export(
    version: VersionArgument,
    to: Annotated[Path | None, typer.Option("--to", help="Folder; default: PLAYER-NUMBER.")] = None,
    format: Annotated[ExportFormat, typer.Option("--format", help="What the model is written as.")] = ExportFormat.ONNX,
    quantise: Annotated[bool, typer.Option("--quantise", help="ONNX: weights as 8-bit integers.")] = False,
    tolerance: Annotated[
        float | None,
        typer.Option("--tolerance", min=0, help="Largest difference from torch; default 1e-4, quantised 0.1."),
    ] = None,
    agent: Annotated[
        str | None, typer.Option("--agent", help="module:Class whose file is added; default: the game's agent.")
    ] = None,
    home: HomeOption = None,
    as_json: JsonOption = False,
) -> None:
    """Write a version as a folder of its own: model, spec, agent and, for ONNX, a program that runs it."""
    require_stack()
    from workers.serving.export.errors import ExportError, require_onnx
    from workers.serving.export.folder import ExportOptions, export_version

    options = ExportOptions(format=format.value, quantise=quantise, tolerance=tolerance, agent=agent)
    try:
        if format is ExportFormat.ONNX:
            require_onnx()  # before anything is downloaded
        served = _downloaded(version, home)
        player, _, number = served.record.name.partition(":")
        target = to or Path(f"{player}-{number}")
        with errors.status(f"Exporting {served.record.name} …"):
            exported = export_version(served, target, options)
    except ExportError as error:
        errors.print(f"[bold red]Error:[/] {escape(str(error))}", highlight=False, soft_wrap=True)
        raise typer.Exit(ExitCode.REFUSED) from None
    _show(exported, served.record.name, as_json)


def _downloaded(version: str, home: Path | None) -> Any:
    from lanista.serving.loading import download, find_version
    from workers.serving.versions import load_version

    with connected(home) as client:
        found = find_version(client, version)
        with errors.status(f"Downloading {found.size or 0:,} bytes …"):
            data, record = download(client, found)
    return load_version(data, record)


def _show(exported: Exported, name: str, as_json: bool) -> None:
    difference = exported.difference
    if as_json:
        compared = None if difference is None else asdict(difference)
        print_json({"folder": str(exported.folder), "files": exported.files, "difference_from_torch": compared})
        return
    print_line(f"{escape(str(exported.folder))}: {', '.join(exported.files)} of {escape(name)}")
    if difference is not None:
        equal = "" if difference.equal_actions is None else f"; the same action in {difference.equal_actions:.1%}"
        print_line(f"largest difference from torch {difference.largest:.3g}, over {difference.rows} rows{equal}")


@model.command()
def canary(
    project: Annotated[str, typer.Argument(metavar="PROJECT", help="The project.", show_default=False)],
    alias: AliasOption = "champion",
    game: Annotated[str | None, typer.Option("--game", help="The game, if the project has several.")] = None,
    limit: LimitOption = 30,
    home: HomeOption = None,
    as_json: JsonOption = False,
) -> None:
    """Show how canaries did beside the champion in served sessions, and the test's verdict on them."""
    with connected(home) as client:
        found = [canary for canary, _ in zip(client.canaries(project, alias, game=game), range(limit), strict=False)]
        names = {id: f"{(held := client.version(id)).player}:{held.number}" for id in _versions(found)}
    if as_json:
        print_json([each.model_dump(mode="json") for each in found])
        return
    table = uncut_table(
        "canary", "champion", "verdict", "LLR", "bounds", "wins/draws/losses", "mean returns", "sessions"
    )
    for each in found:
        table.add_row(*_row(each, names))
    out.print(table)


def _versions(found: list[Canary]) -> set[str]:
    return {id for each in found for id in (each.canary_version_id, each.champion_version_id)}


def _row(each: Canary, names: dict[str, str]) -> list[str]:
    means = [each.canary_mean_return, each.champion_mean_return]
    return [
        escape(names[each.canary_version_id]),
        escape(names[each.champion_version_id]),
        each.status,
        f"{each.llr:.2f}",
        f"{each.lower_bound:.2f} to {each.upper_bound:.2f}",
        f"{each.wins}/{each.draws}/{each.losses}",
        " v. ".join("–" if mean is None else f"{mean:.3f}" for mean in means),
        f"{each.canary_sessions:,} v. {each.champion_sessions:,}",
    ]
