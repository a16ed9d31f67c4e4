"""A population's decision as rich tables: the scores that were compared, and the hyperparameters that changed."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from rich.console import Group, RenderableType
from rich.markup import escape
from rich.table import Table


def population_tables(evidence: Mapping[str, Any]) -> RenderableType:
    """The members by score, the best first, with the member itself and its donor marked; then what changed."""
    parts: list[RenderableType] = []
    if evidence.get("scores"):
        parts.append(_scores(evidence))
    if evidence.get("changes"):
        parts.append(_changes(evidence))
    return Group(*parts)


def _scores(evidence: Mapping[str, Any]) -> Table:
    table = Table("member", evidence["by"].replace("_", " "), "standard error", "games", "", box=None)
    marks = {evidence.get("member"): "this one", evidence.get("donor"): "looked at"}
    for score in reversed(evidence["scores"]):
        numbers = f"{score['value']:.4g}", f"{score['error']:.2g}", f"{score['games']:,}"
        table.add_row(escape(score["name"]), *numbers, marks.get(score["member"], ""))
    return table


def _changes(evidence: Mapping[str, Any]) -> Table:
    table = Table("hyperparameter", "until now", "the donor's", "from now on", "how", box=None)
    for name, change in evidence["changes"].items():
        before = evidence["before"].get(name)
        factor = "" if change["factor"] is None else f" by {change['factor']:g}"
        table.add_row(
            escape(name),
            "the trial's" if before is None else f"{before:.4g}",
            f"{change['before']:.4g}",
            f"{evidence['hyperparameters'].get(name, change['before']):.4g}",
            escape(evidence.get("unchanged_because") or f"{change['how']}{factor}"),
        )
    return table
