"""`lanista trace`: where the time of a generation went, from the files that LANISTA_TRACING=file writes."""

from __future__ import annotations

from datetime import UTC, datetime
from pathlib import Path
from typing import Annotated, Any

import typer
from rich.markup import escape
from rich.table import Table

from lanista.cli.options import HomeOption, JsonOption, LimitOption
from lanista.cli.terminal import out, print_json, print_line
from lanista.stack.errors import StackError
from orchestrator.tracing.generations import GenerationTrace, generation_traces
from orchestrator.tracing.reading import RecordedSpan, read_spans

FolderOption = Annotated[
    Path | None,
    typer.Option("--folder", help="Folder of the spans (LANISTA_TRACE_FOLDER; default traces in the data folder)."),
]


def trace(
    trial: Annotated[str, typer.Argument(help="Name or id of the trial.")],
    player: Annotated[str | None, typer.Argument(help="Name or id of the player; all players without it.")] = None,
    generation: Annotated[int | None, typer.Argument(min=1, help="The generation to follow.")] = None,
    limit: LimitOption = 20,
    folder: FolderOption = None,
    home: HomeOption = None,
    as_json: JsonOption = False,
) -> None:
    """List the slowest generations, or show where the time of one went. Needs LANISTA_TRACING=file."""
    found = _generations(_folder(folder, home), trial, player)
    if generation is not None:
        found = [each for each in found if each.generation == generation]
    if not found:
        raise StackError(_nothing(trial, player, generation))
    if generation is None:
        slowest = sorted(found, key=lambda each: -each.seconds)[:limit]
        print_json([_summary(each) for each in slowest]) if as_json else _list(slowest)
    elif as_json:
        print_json([_summary(each) | {"spans": [_span(span) for _, span in each.walk()]} for each in found])
    else:
        for each in found:
            _show(each)


def _folder(given: Path | None, home: Path | None) -> Path:
    from lanista.settings import StackSettings

    folder = given
    if folder is None:
        settings = StackSettings.load(**({"home": home} if home else {}))
        folder = Path(settings.trace_folder) if settings.trace_folder else settings.home / "traces"
    if not folder.is_dir():
        raise StackError(
            f"There are no spans in {folder}: start the stack with LANISTA_TRACING=file, or name --folder."
        )
    return folder


def _generations(folder: Path, trial: str, player: str | None) -> list[GenerationTrace]:
    return [
        each
        for each in generation_traces(read_spans(folder))
        if trial
        in (each.trial, each.trial_name, each.trial_name.partition(".")[2])  # a trial's name begins with its project
        and player in (None, each.player, each.player_name)
    ]


def _nothing(trial: str, player: str | None, generation: int | None) -> str:
    what = f"generation {generation} of {player}" if generation else f"a generation of {player or 'any player'}"
    return (
        f"No spans of {what} in the trial {trial}: it was trained before tracing was on, or its file was deleted, "
        "or the name is another one."
    )


def _list(found: list[GenerationTrace]) -> None:
    table = Table("player", "generation", "began", "seconds", "queued", "failed", "trace")
    for each in found:
        queued = sum(span.own("queued_seconds") or 0.0 for span in each.spans)
        table.add_row(
            escape(each.player_name or each.player),
            str(each.generation) + ("" if each.ended else " (under way)"),
            _time(each.started),
            f"{each.seconds:.2f}",
            f"{queued:.2f}",
            str(each.failures),
            each.trace,
        )
    out.print(table)


def _show(found: GenerationTrace) -> None:
    name = f"Generation {found.generation} of {found.player_name or found.player}, {found.trial_name or found.trial}"
    state = "" if found.ended else ", under way"
    print_line(escape(f"{name}: {found.seconds:.3f} s from {_time(found.started)}{state}"))
    print_line(
        f"trace {found.trace}" + (f", started by the request of trace {', '.join(found.links)}" * bool(found.links))
    )
    table = Table("span", "process", "began after", "seconds", "busy", "notes")
    for depth, span in found.walk():
        busy = span.own("busy_seconds")
        table.add_row(
            escape("  " * depth + span.name),
            span.role,
            f"{span.started - found.started:.3f}",
            f"{span.seconds:.3f}",
            "" if busy is None else f"{busy:.3f}",
            escape(", ".join(_notes(span))),
        )
    out.print(table)


def _notes(span: RecordedSpan) -> list[str]:
    notes = []
    if (queued := span.own("queued_seconds") or 0.0) >= 0.001:
        notes.append(f"waited {queued:.3f} s for a slot")
    if (times := span.own("times")) is not None and times > 1:
        notes.append(f"{times} times")
    if (warm := span.own("warm")) is not None:
        notes.append("warm" if warm else "new actors")
    if pid := span.attributes.get("process.pid"):
        notes.append(f"{span.attributes.get('host.name', '')}, pid {pid}")
    if (attempt := span.attributes.get("temporal.attempt", 1)) > 1:
        notes.append(f"attempt {attempt}")
    if span.problem is not None:
        notes.append(f"failed: {span.problem}")
    return notes


def _summary(found: GenerationTrace) -> dict[str, Any]:
    return {
        "trial": found.trial,
        "trial_name": found.trial_name,
        "player": found.player,
        "player_name": found.player_name,
        "generation": found.generation,
        "trace": found.trace,
        "links": found.links,
        "began": _time(found.started),
        "seconds": round(found.seconds, 6),
        "ended": found.ended,
        "failures": found.failures,
    }


def _span(span: RecordedSpan) -> dict[str, Any]:
    return {
        "span": span.id,
        "parent": span.parent,
        "name": span.name,
        "process": span.role,
        "began": _time(span.started),
        "seconds": round(span.seconds, 6),
        "problem": span.problem,
        "attributes": span.attributes,
    }


def _time(seconds: float) -> str:
    return datetime.fromtimestamp(seconds, UTC).isoformat(timespec="milliseconds").replace("+00:00", "Z")
