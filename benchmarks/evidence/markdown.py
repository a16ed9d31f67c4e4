"""Tables and numbers as the pages write them."""

from __future__ import annotations

from collections.abc import Iterable, Sequence

NO_RUN = "No run is recorded yet."


def table(heads: Sequence[str], rows: Iterable[Sequence[object]]) -> str:
    """A table of Markdown; an empty text where there is no row."""
    lines = [_line(row) for row in rows]
    return "\n".join([_line(heads), _line(["---"] * len(heads)), *lines]) if lines else ""


def percent(share: float | None) -> str:
    """A share with one decimal; a dash where there is none."""
    return "-" if share is None else f"{100 * share:.1f} %"


def score(mean: float, deviation: float) -> str:
    """A mean with the deviation of single games."""
    return f"{mean:+.3f} ± {deviation:.3f}"


def document(*parts: str) -> str:
    """Parts with a line between them; empty parts are left out."""
    return "\n\n".join(part.strip() for part in parts if part.strip()) + "\n"


def _line(cells: Iterable[object]) -> str:
    return f"| {' | '.join(str(cell) for cell in cells)} |"
