"""Draws pages in every width and colour scheme, looks for faults that can be computed, and makes contact sheets."""

from __future__ import annotations

import io
from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any, Literal

from PIL import Image, ImageDraw
from playwright.sync_api import BrowserContext, ConsoleMessage, Page

Scheme = Literal["light", "dark"]
SCHEMES: tuple[Scheme, ...] = ("light", "dark")
WIDTHS = (1440, 390)
HEIGHTS = {1440: 900, 390: 844}
TALLEST = 12_000
"""Of a picture, in pixels; the height of the page is printed."""
SHEET_COLUMNS = {1440: 3, 390: 6}
TILE = {1440: 500, 390: 250}
"""The width of a picture on a contact sheet."""
TILE_HEIGHT = 900
PATIENCE_MS = 120_000

FAULTS = """() => {
  const MEANT = ".unseen, .skip, .line-numbers, .happenings, svg, .js-plotly-plot";
  const found = [];
  const { scrollWidth, clientWidth } = document.documentElement;
  if (scrollWidth > clientWidth + 1) found.push(`scrolls sideways: ${scrollWidth} > ${clientWidth}`);
  const say = (problem, each) => {
    const name = [each.tagName.toLowerCase(), ...each.classList].join(".");
    found.push(`${problem}: ${name} "${each.textContent.trim().slice(0, 60)}"`);
  };
  for (const each of document.querySelectorAll("body *")) {
    if (!each.getClientRects().length || each.closest(MEANT)) continue;
    const { overflowX, overflowY } = getComputedStyle(each);
    if (overflowX === "hidden" && each.scrollWidth > each.clientWidth + 1) say("cut", each);
    else if (overflowY === "hidden" && each.scrollHeight > each.clientHeight + 1) say("cut", each);
    if (each.closest(".scroll, .map, pre, .log")) continue;
    if (each.getBoundingClientRect().right > clientWidth + 1) say("beyond the edge", each);
  }
  for (const each of document.querySelectorAll(".card"))
    if (each.textContent.trim().length < 4 && !each.querySelector("canvas, svg, img")) say("empty", each);
  return found;
}"""
"""Words that are cut, things beyond the page's edge, empty cards."""


@dataclass(frozen=True)
class Drawn:
    """A picture of a page, and what was seen while it was made."""

    name: str
    width: int
    scheme: Scheme
    path: Path
    height: int
    faults: list[str]


def draw_all(
    context: BrowserContext, pages: dict[str, str], folder: Path, widths: Sequence[int], schemes: Sequence[Scheme]
) -> list[Drawn]:
    """A picture of each page in each width and scheme, as `name-width-scheme.png`."""
    folder.mkdir(parents=True, exist_ok=True)
    page = context.new_page()
    complaints: list[str] = []
    page.on("pageerror", lambda error: complaints.append(f"error: {error}"))
    page.on("console", lambda said: complaints.append(_said(said)) if said.type == "error" else None)
    drawn = []
    for width in widths:
        page.set_viewport_size({"width": width, "height": HEIGHTS.get(width, 900)})
        for scheme in schemes:
            page.emulate_media(color_scheme=scheme)
            for name, address in pages.items():
                complaints.clear()
                drawn.append(_draw(page, name, address, folder, width, scheme, complaints))
    page.close()
    return drawn


def _said(message: ConsoleMessage) -> str:
    return f"console: {message.text} {message.location.get('url', '')}"


def _draw(
    page: Page, name: str, address: str, folder: Path, width: int, scheme: Scheme, complaints: list[str]
) -> Drawn:
    page.goto(address)
    settle(page)
    height = int(page.evaluate("document.documentElement.scrollHeight"))
    faults = [*page.evaluate(FAULTS), *complaints]
    clip: Any = {"x": 0, "y": 0, "width": width, "height": min(height, TALLEST)}
    picture = Image.open(io.BytesIO(page.screenshot(full_page=True, clip=clip)))
    path = folder / f"{name}-{width}-{scheme}.png"
    picture.quantize(256).save(path, optimize=True)
    return Drawn(name, width, scheme, path, height, faults)


def settle(page: Page) -> None:
    """Wait until the page has its data, its charts are drawn and nothing is asked for any more."""
    page.locator("h1").first.wait_for(timeout=PATIENCE_MS)
    for chart in page.locator("[data-keep]").all():
        chart.and_(page.locator("[data-drawn]")).wait_for(timeout=PATIENCE_MS)
    page.wait_for_timeout(800)  # a list fills in what it asked for one by one


def contact_sheets(drawn: Iterable[Drawn], folder: Path) -> list[Path]:
    """All pictures of one width and scheme on few sheets, each with its name and the page's height."""
    groups: dict[tuple[int, Scheme], list[Drawn]] = {}
    for each in drawn:
        groups.setdefault((each.width, each.scheme), []).append(each)
    made = []
    for (width, scheme), members in groups.items():
        columns = SHEET_COLUMNS.get(width, 4)
        for number, start in enumerate(range(0, len(members), columns), 1):
            path = folder / f"sheet-{width}-{scheme}-{number}.png"
            _sheet(members[start : start + columns], columns, TILE.get(width, 400)).save(path, optimize=True)
            made.append(path)
    return made


def _sheet(members: Sequence[Drawn], columns: int, tile: int) -> Image.Image:
    rows = [members[start : start + columns] for start in range(0, len(members), columns)]
    scaled = [[_scaled(each, tile) for each in row] for row in rows]
    heights = [max(picture.height for picture in row) + 24 for row in scaled]
    sheet = Image.new("RGB", (columns * (tile + 8), sum(heights)), "#808080")
    pen = ImageDraw.Draw(sheet)
    top = 0
    for row, pictures, height in zip(rows, scaled, heights, strict=True):
        for place, (each, picture) in enumerate(zip(row, pictures, strict=True)):
            left = place * (tile + 8)
            pen.text((left + 4, top + 6), f"{each.name}  {each.height} px  {len(each.faults)} faults", fill="white")
            sheet.paste(picture, (left, top + 22))
        top += height
    return sheet


def _scaled(each: Drawn, tile: int) -> Image.Image:
    picture = Image.open(each.path).convert("RGB")
    height = round(picture.height * tile / picture.width)
    picture = picture.resize((tile, height), Image.Resampling.LANCZOS)
    return picture.crop((0, 0, tile, min(height, TILE_HEIGHT)))
