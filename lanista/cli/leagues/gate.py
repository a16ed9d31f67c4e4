"""`lanista gate`: promotion gates, where a candidate plays the champion under a sequential test."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from itertools import islice
from typing import Annotated, Any

import typer
from rich.markup import escape
from rich.table import Table

from api.schemas.enums import GateStatus
from api.schemas.gates import Gate, GateSummary
from api.schemas.trials import Trial
from lanista.cli.connection import TrialArgument, connected
from lanista.cli.options import HomeOption, JsonOption, LimitOption
from lanista.cli.terminal import out, print_json, print_line, uncut_table
from lanista.client import Client
from lanista.client.calls.composed import is_id
from lanista.client.errors import NoSuchName, NotFound
from lanista.league_view.tables import status_text
from league.types import Role

gate = typer.Typer(help="Promotion gates: list, show, stop.", no_args_is_help=True)

GateArgument = Annotated[
    str,
    typer.Argument(metavar="GATE", help="The gate's id, or a trial for its newest gate.", show_default=False),
]
PATH_WIDTH = 41


@gate.command("list")
def list_all(
    trial: TrialArgument,
    status: Annotated[
        list[GateStatus] | None, typer.Option("--status", "-s", help="Only with this status (repeatable).")
    ] = None,
    limit: LimitOption = 30,
    home: HomeOption = None,
    as_json: JsonOption = False,
) -> None:
    """List the gates of a trial's candidates, the newest first."""
    with connected(home) as client:
        found = client.find_trial(trial)
        gates = list(islice(client.gates(found, status=status or (), page_size=min(limit, 500)), limit))
        labels = {} if as_json else _candidates(client, found, gates)
    if as_json:
        print_json([one.model_dump(mode="json") for one in gates])
        return
    table = uncut_table("opened", "candidate", "alias", "status", "pairs", "LLR", "bounds", "reason", "id")
    for one in gates:
        opened = one.created_at.astimezone().strftime("%m-%d %H:%M:%S")
        bounds = f"{one.lower_bound:.2f} … {one.upper_bound:.2f}"
        words = (escape(one.alias), status_text(one.status), f"{one.pairs:,}", f"{one.llr:.2f}", bounds)
        table.add_row(opened, escape(labels[one.candidate_version_id]), *words, escape(one.status_reason or ""), one.id)
    out.print(table)


@gate.command()
def show(gate: GateArgument, home: HomeOption = None, as_json: JsonOption = False) -> None:
    """Show a gate: candidate, champion, and the path of the test between its bounds."""
    with connected(home) as client:
        found = _find(client, gate)
        labels = [_label(client, found.candidate_version_id), _label(client, found.champion_version_id)]
    if as_json:
        print_json(found.model_dump(mode="json"))
        return
    print_line(f"[bold]{escape(labels[0])}[/] against {escape(labels[1])} for {escape(found.alias)} ({found.id})")
    print_line(f"{status_text(found.status)} {escape(found.status_reason or '')}")
    print_line(
        f"at least {found.elo1:g} Elo better (not {found.elo0:g}; {found.model}) · alpha {found.alpha:.4g} · "
        f"beta {found.beta:g} · {found.pairs:,} of at most {found.max_pairs:,} pairs"
    )
    print_line(f"pairs by score 0, ¼, ½, ¾, 1: {', '.join(str(count) for count in found.pentanomial)}")
    if found.path:
        out.print(_path(found))
    panel = found.settings.get("panel") or {}
    if panel.get("members"):
        out.print(_panel(panel["members"]))
    probe = found.settings.get("probe") or {}
    if "candidate" in probe:
        print_line(_probe(probe, running=found.finished_at is None))


@gate.command()
def stop(
    gate: GateArgument,
    reason: Annotated[str | None, typer.Option("--reason", help="Reason, kept in the records.")] = None,
    home: HomeOption = None,
    as_json: JsonOption = False,
) -> None:
    """Stop a gate early: it becomes `invalid`, never `passed`."""
    with connected(home) as client:
        stopped = client.stop_gate(_find(client, gate).id, reason=reason)
    if as_json:
        print_json(stopped.model_dump(mode="json"))
    else:
        print_line(f"Gate {stopped.id} was told to stop; it is {status_text(stopped.status)}.")


def _find(client: Client, reference: str) -> Gate:
    """A gate by its id, or the newest gate of a trial by the trial's name or id."""
    if is_id(reference):
        try:
            return client.gate(reference)
        except NotFound:
            pass
    trial = client.find_trial(reference)
    newest: GateSummary | None = next(client.gates(trial, page_size=1), None)
    if newest is None:
        raise NoSuchName(f"{trial.label} has had no gate yet")
    return client.gate(newest.id)


def _candidates(client: Client, trial: Trial, gates: Sequence[GateSummary]) -> dict[str, str]:
    """The candidates by name and version: snapshots of the trial, or else versions that are asked for one by one."""
    frozen = client.players(trial, role=[Role.HISTORICAL], page_size=500) if gates else ()
    labels = {one.version_id: f"{one.name}:{one.version_number}" for one in frozen if one.version_id is not None}
    wanted = {one.candidate_version_id for one in gates}
    return labels | {version: _label(client, version) for version in wanted if version not in labels}


def _label(client: Client, version_id: str | None) -> str:
    if version_id is None:
        return "no champion"
    version = client.version(version_id)
    return f"{version.player}:{version.number}"


def _path(found: Gate) -> Table:
    """The log-likelihood ratio after each batch, drawn between the bounds."""
    table = Table("pairs", "LLR", f"{found.lower_bound:.2f} … {found.upper_bound:.2f}", box=None)
    pairs = 0
    panel = found.settings.get("panel") or {}
    for point in found.path[: panel.get("after_batch", len(found.path))]:
        pairs += point.pairs
        table.add_row(f"{pairs:,}", f"{point.llr:+.2f}", _mark(point.llr, found))
    return table


def _panel(members: Sequence[Mapping[str, Any]]) -> Table:
    """What the games against the panel say: at the upper bound the candidate is worse than the champion."""
    table = uncut_table("panel", "status", "pairs by score", "LLR", "bounds")
    for member in members:
        counts = ", ".join(str(count) for count in member["counts"])
        bounds = f"{member['lower']:.2f} not worse … {member['upper']:.2f} worse"
        status = str(member["status"]).replace("_", " ")
        table.add_row(escape(member["name"]), status, counts, f"{member['llr']:+.2f}", bounds)
    return table


def _probe(probe: Mapping[str, Any], *, running: bool) -> str:
    """The probes of the gate by their ids, and what refuses the candidate."""
    ids = ", ".join(f"{side} {probe[side]}" for side in ("candidate", "champion") if side in probe)
    limit, margin = probe["limit"], probe["margin"]
    rules = [f"above {limit:g}"] if limit is not None else []
    rules += [f"{margin:g} above the champion"] if margin is not None else []
    verdict = f"refused {' or '.join(rules)}" if rules else "only recorded"
    return f"probe: {ids} · {verdict}" + (" · the gate waits for it" if running else "")


def _mark(llr: float, found: Gate) -> str:
    share = (llr - found.lower_bound) / (found.upper_bound - found.lower_bound)
    place = round(min(1.0, max(0.0, share)) * (PATH_WIDTH - 1))
    return "│" + "·" * place + "●" + "·" * (PATH_WIDTH - 1 - place) + "│"
