"""SVG elements for drawing games: plain attributes, no scripts, no external files."""

from html import escape

INK = "#1f2937"
BOARD = "#1d4ed8"
EMPTY = "#f3f4f6"
SEAT_COLOURS = ("#dc2626", "#f59e0b")
FELT = "#14532d"
CARD_BACK = "#1e3a8a"
PALE = "#f9fafb"


def document(width: float, height: float, title: str, parts: list[str]) -> str:
    """A whole SVG image around the given parts."""
    return (
        f'<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 {width:g} {height:g}" role="img">'
        f"<title>{escape(title)}</title>{''.join(parts)}</svg>"
    )


def rect(x: float, y: float, width: float, height: float, fill: str, radius: float = 0) -> str:
    return (
        f'<rect x="{x:g}" y="{y:g}" width="{width:g}" height="{height:g}" rx="{radius:g}" '
        f'fill="{fill}" stroke="{INK}"/>'
    )


def action_area(
    action: int, x: float, y: float, width: float, height: float, noun: str, label: str, stack: int = 1
) -> str:
    """The invisible area of an action: the page lays a button over it, named as in "column 4".

    `stack` divides the area from the bottom: the n-th move of this action fills the n-th part.
    """
    return (
        f'<rect x="{x:g}" y="{y:g}" width="{width:g}" height="{height:g}" fill="none" data-action="{action}" '
        f'data-noun="{escape(noun)}" data-label="{escape(label)}" data-stack="{stack}"/>'
    )


def circle(x: float, y: float, radius: float, fill: str) -> str:
    return f'<circle cx="{x:g}" cy="{y:g}" r="{radius:g}" fill="{fill}"/>'


def line(x1: float, y1: float, x2: float, y2: float, colour: str = INK, width: float = 2) -> str:
    return f'<line x1="{x1:g}" y1="{y1:g}" x2="{x2:g}" y2="{y2:g}" stroke="{colour}" stroke-width="{width:g}"/>'


def label(x: float, y: float, text: str, size: float = 14, colour: str = INK, anchor: str = "middle") -> str:
    return (
        f'<text x="{x:g}" y="{y:g}" font-family="sans-serif" font-size="{size:g}" fill="{colour}" '
        f'text-anchor="{anchor}">{escape(text)}</text>'
    )


def winning_line(x1: float, y1: float, x2: float, y2: float, width: float = 5) -> str:
    """A line over the stones that won: white on dark, so that it shows on every colour."""
    ends = f'x1="{x1:g}" y1="{y1:g}" x2="{x2:g}" y2="{y2:g}" stroke-linecap="round"'
    return (
        f'<g class="winning-line"><line {ends} stroke="{INK}" stroke-width="{1.8 * width:g}"/>'
        f'<line {ends} stroke="#ffffff" stroke-width="{width:g}"/></g>'
    )


def card(x: float, y: float, rank: str, *, width: float = 50, height: float = 70) -> str:
    """A playing card: its rank, the back of a hidden one ("?"), or the place of one that is not dealt yet ("-")."""
    if rank == "-":
        return (
            f'<rect x="{x:g}" y="{y:g}" width="{width:g}" height="{height:g}" rx="6" fill="none" stroke="{PALE}" '
            'stroke-dasharray="5 4"/>'
        )
    if rank == "?":
        inner = rect(x + 5, y + 5, width - 10, height - 10, "#3b82f6", radius=4)
        return rect(x, y, width, height, CARD_BACK, radius=6) + inner
    small = label(x + 9, y + 16, rank, 13)
    return rect(x, y, width, height, "#ffffff", radius=6) + small + label(x + width / 2, y + height / 2 + 12, rank, 32)


def chips(x: float, y: float, count: int, colour: str) -> str:
    """A pile of chips from the bottom up, with its count beside it."""
    shown = [
        f'<ellipse cx="{x:g}" cy="{y - 3.5 * chip:g}" rx="13" ry="6" fill="{colour}" stroke="{PALE}"/>'
        for chip in range(min(count, 10))
    ]
    return "".join(shown) + label(x + 20, y + 4, str(count), 14, PALE, anchor="start")


def text_svg(text: str, title: str) -> str:
    """Text as an image, in fixed-width type: the drawing of a game that has no better one."""
    # Control characters are not allowed in XML at all, not even escaped.
    lines = ["".join(filter(str.isprintable, row)) for row in text.splitlines()] or [""]
    parts = [
        f'<text x="8" y="{20 + 18 * i}" font-family="monospace" font-size="14" fill="{INK}" '
        f'xml:space="preserve">{escape(row)}</text>'
        for i, row in enumerate(lines)
    ]
    return document(16 + 8.5 * max(map(len, lines)), 16 + 18 * len(lines), title, parts)
