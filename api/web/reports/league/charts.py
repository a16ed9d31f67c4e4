"""The charts of the report as inline SVG; texts are escaped, colours come from the report's style sheet."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass, field

from markupsafe import Markup, escape

from api.store.core.records import Record
from api.web.reports.league.contents import PayoffMap

WIDTH, HEIGHT = 720, 320
LEFT, RIGHT, TOP, BOTTOM = 56, 12, 12, 34
MOST_LINES = 8
"""Lines with a colour of their own; the style sheet has as many."""
LABELLED = 16
"""Players up to which the payoff map writes numbers into its cells."""


@dataclass(frozen=True, kw_only=True)
class Line:
    """The rated versions of a player and its snapshots, by steps."""

    name: str
    points: list[Record]
    ends: set[str] = field(default_factory=set)
    """Versions after which the player was reset: no line joins them to what follows."""

    @property
    def pieces(self) -> list[list[Record]]:
        found: list[list[Record]] = [[]]
        for point in self.points:
            found[-1].append(point)
            if point["version_id"] in self.ends:
                found.append([])
        return [piece for piece in found if piece]

    @property
    def best(self) -> float:
        return max(float(point["value"]) for point in self.points)


def rating_lines(ratings: Sequence[Record], players: Sequence[Record], resets: Sequence[Record] = ()) -> list[Line]:
    """A line for each player, the best first, broken at resets; a snapshot belongs to the line of its parent."""
    known = {player["id"]: player for player in players}
    lines: dict[str, Line] = {}
    for rating in sorted(ratings, key=lambda each: (each["steps"], each["recorded_at"])):
        player = known.get(rating["player_id"])
        line_id = str((player or {}).get("parent_id") or rating["player_id"])
        name = str(known[line_id]["name"] if line_id in known else rating["player"])
        lines.setdefault(line_id, Line(name=name, points=[])).points.append(rating)
    for reset in resets:
        line = lines.get(str(reset["player_id"]))
        before = [point["version_id"] for point in line.points if _is_before(point, reset)] if line else []
        if line and before:
            line.ends.add(before[-1])
    return sorted(lines.values(), key=lambda line: -line.best)


def _is_before(point: Record, reset: Record) -> bool:
    """A reset and the snapshot before it are recorded at once; what the reset made is what the player goes on from."""
    return bool(point["recorded_at"] <= reset["created_at"] and point["version_id"] != reset["version_id"])


def rating_chart(lines: Sequence[Line]) -> Markup:
    """Ratings over steps with 95 % bands, of the best players; a player with one point is a dot."""
    shown = lines[:MOST_LINES]
    points = [point for line in shown for point in line.points]
    if not points:
        return Markup("")
    values = [float(point["value"]) for point in points]
    margin = max(50.0, 0.3 * (max(values) - min(values)))
    low, high = min(values) - margin, max(values) + margin
    most = max(int(point["steps"]) for point in points) or 1

    def at(steps: float, value: float) -> str:
        x = LEFT + (WIDTH - LEFT - RIGHT) * steps / most
        y = TOP + (HEIGHT - TOP - BOTTOM) * (high - min(max(value, low), high)) / (high - low)
        return f"{x:.1f},{y:.1f}"

    parts = [_grid(low, high, most)]
    for number, line in reversed(list(enumerate(shown))):
        parts.append(_drawn(line, number, at))
    label = escape(f"Rating over steps of {', '.join(line.name for line in shown)}")
    body = "".join(parts)
    head = f'<svg viewBox="0 0 {WIDTH} {HEIGHT}" role="img" aria-label="{label}">'
    return Markup(f"{head}{body}</svg>")  # noqa: S704 texts are escaped


def _drawn(line: Line, number: int, at: Callable[[float, float], str]) -> str:
    return "".join(_piece(line.name, piece, number, at) for piece in line.pieces)


def _piece(name: str, points: Sequence[Record], number: int, at: Callable[[float, float], str]) -> str:
    known = [point for point in points if point["low"] is not None and point["high"] is not None]
    band = ""
    if len(known) > 1:
        upper = [at(point["steps"], point["high"]) for point in known]
        lower = [at(point["steps"], point["low"]) for point in reversed(known)]
        band = f'<polygon class="band c{number}" points="{" ".join(upper + lower)}"/>'
    places = [at(point["steps"], point["value"]) for point in points]
    path = f'<polyline class="line c{number}" points="{" ".join(places)}"/>' if len(places) > 1 else ""
    dots = "".join(
        '<circle class="dot c{}" cx="{}" cy="{}" r="3"><title>{}</title></circle>'.format(
            number, *place.split(","), escape(f"{name} at {short(point['steps'])} steps: {point['value']:.0f}")
        )
        for place, point in zip(places, points, strict=True)
    )
    return band + path + dots


def _grid(low: float, high: float, most: int) -> str:
    parts = []
    for tick in _ticks(low, high):
        y = TOP + (HEIGHT - TOP - BOTTOM) * (high - tick) / (high - low)
        parts.append(f'<line class="grid" x1="{LEFT}" x2="{WIDTH - RIGHT}" y1="{y:.1f}" y2="{y:.1f}"/>')
        parts.append(f'<text class="tick" x="{LEFT - 6}" y="{y + 4:.1f}" text-anchor="end">{tick:.0f}</text>')
    for share in (0, 0.25, 0.5, 0.75, 1):
        x = LEFT + (WIDTH - LEFT - RIGHT) * share
        anchor = "start" if share == 0 else "end" if share == 1 else "middle"
        text = short(round(most * share))
        parts.append(f'<text class="tick" x="{x:.1f}" y="{HEIGHT - 12}" text-anchor="{anchor}">{text}</text>')
    return "".join(parts)


def _ticks(low: float, high: float) -> list[float]:
    for step in (10, 25, 50, 100, 250, 500, 1_000, 2_500, 5_000):
        if (high - low) / step <= 7:
            break
    first = int(low // step) + 1
    return [float(number * step) for number in range(first, int(high // step) + 1)]


def payoff_map(payoff: PayoffMap) -> Markup:
    """Win rates of rows against columns; cells with too few games are empty."""
    count = len(payoff.names)
    if not count:
        return Markup("")
    cell = 26 if count > LABELLED else 40
    left = 150
    size = left + cell * count
    parts = []
    for row, name in enumerate(payoff.names):
        y = 20 + row * cell
        shown = name if len(name) <= 20 else f"{name[:19]}…"
        parts.append(
            f'<text class="name" x="{left - 8}" y="{y + cell / 2 + 4:.0f}" text-anchor="end">'
            f"{row + 1}. {escape(shown)}</text>"
            f'<text class="tick" x="{left + (row + 0.5) * cell:.0f}" y="13" text-anchor="middle">{row + 1}</text>'
        )
        parts += [_cell(payoff, row, column, (left, y, cell), count <= LABELLED) for column in range(count)]
    body = "".join(parts)
    head = (
        f'<svg class="map" viewBox="0 0 {size} {20 + cell * count}" width="{size}" role="img" '
        'aria-label="Payoff: how often the row beats the column">'
    )
    return Markup(f"{head}{body}</svg>")  # noqa: S704 texts are escaped


def _cell(payoff: PayoffMap, row: int, column: int, place: tuple[int, int, int], labelled: bool) -> str:
    left, y, cell = place
    x = left + column * cell
    games = int(payoff.games[row, column])
    rate = float(payoff.rates[row, column])
    names = f"{payoff.names[row]} against {payoff.names[column]}"
    if row == column or games < max(payoff.min_games, 1):
        title = escape(f"{names}: {games} games" if games else f"{names}: no games")
        return (
            f'<rect class="none" x="{x}" y="{y}" width="{cell - 1}" height="{cell - 1}"><title>{title}</title></rect>'
        )
    kind = "win" if rate >= 0.5 else "loss"
    strength = 0.08 + 1.5 * abs(rate - 0.5)
    title = escape(f"{names}: {100 * rate:.0f} % of {games} games")
    text = (
        f'<text class="rate" x="{x + cell / 2 - 0.5:.0f}" y="{y + cell / 2 + 4:.0f}" text-anchor="middle">'
        f"{100 * rate:.0f}</text>"
        if labelled
        else ""
    )
    return (
        f'<rect class="{kind}" x="{x}" y="{y}" width="{cell - 1}" height="{cell - 1}" fill-opacity="{strength:.2f}">'
        f"<title>{title}</title></rect>{text}"
    )


def short(number: int) -> str:
    """1,200,000 as 1.2M."""
    for size, unit in ((1_000_000_000, "G"), (1_000_000, "M"), (1_000, "k")):
        if number >= size:
            return f"{number / size:.3g}{unit}"
    return str(number)
