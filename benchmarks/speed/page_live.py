"""What a page that stays open costs and how still it stands: bytes a minute by address, and layout shift.

    python -m benchmarks.page_live http://127.0.0.1:8800 TOKEN_FILE /trials/ID [--seconds 60] [--narrow]

The bytes are those on the wire, headers included, as Chromium's own network log counts them.
"""

from __future__ import annotations

import argparse
import json
import re
from collections import Counter
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

from playwright.sync_api import BrowserContext, Page

from benchmarks.speed.page_paint import signed_in

SHIFTS = """() => {
  window.shifts = [];
  new PerformanceObserver((list) => {
    for (const entry of list.getEntries()) {
      if (entry.hadRecentInput) continue;
      const part = (node) => node?.closest?.("section, ul, div, table")?.outerHTML.slice(0, 90) ?? "text";
      const nodes = entry.sources.map(({ node }) => part(node));
      window.shifts.push({ value: entry.value, nodes });
    }
  }).observe({ type: "layout-shift", buffered: false });
}"""
ID = re.compile(r"[0-9a-f]{8}(-[0-9a-f]{4}){3}-[0-9a-f]{12}")


@dataclass
class Wire:
    """Counts what came over the network, by address."""

    addresses: dict[str, str] = field(default_factory=dict)
    size: Counter[str] = field(default_factory=Counter)
    calls: Counter[str] = field(default_factory=Counter)

    def watch(self, context: BrowserContext, page: Page) -> None:
        session = context.new_cdp_session(page)
        session.send("Network.enable")
        session.on("Network.requestWillBeSent", self._asked)
        session.on("Network.responseReceived", self._answered)
        session.on("Network.dataReceived", self._received)

    def _asked(self, event: dict[str, Any]) -> None:
        path = event["request"]["url"].split("/", 3)[-1]
        self.addresses[event["requestId"]] = ID.sub("ID", path)
        self.calls[self._of(event)] += 1

    def _answered(self, event: dict[str, Any]) -> None:
        self.size[self._of(event)] += max(0, event["response"].get("encodedDataLength", 0))

    def _received(self, event: dict[str, Any]) -> None:
        self.size[self._of(event)] += event["encodedDataLength"] or event["dataLength"]

    def _of(self, event: dict[str, Any]) -> str:
        return self.addresses.get(event["requestId"], "streams opened before")


@dataclass(frozen=True)
class Seen:
    """What was seen in the given time."""

    seconds: float
    size: dict[str, int]
    calls: dict[str, int]
    shift: float
    shifts: list[dict[str, Any]]

    @property
    def bytes_per_minute(self) -> int:
        return round(sum(self.size.values()) * 60 / self.seconds)


def watch_live(context: BrowserContext, address: str, seconds: float) -> Seen:
    """Open the page, let it settle, and count from then on."""
    page = context.new_page()
    page.set_viewport_size(context.pages[0].viewport_size or {"width": 1440, "height": 900})
    page.goto(address)
    page.locator("main h1").first.wait_for()
    page.wait_for_timeout(10_000)  # the first charts are drawn, the stream has sent what came before
    wire = Wire()
    wire.watch(context, page)
    page.evaluate(SHIFTS)
    page.wait_for_timeout(seconds * 1000)
    shifts = page.evaluate("window.shifts")
    page.close()
    return Seen(seconds, dict(wire.size), dict(wire.calls), sum(each["value"] for each in shifts), shifts)


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("url")
    parser.add_argument("token", type=Path, help="a file with a token")
    parser.add_argument("address", help="the page: /trials/ID")
    parser.add_argument("--seconds", type=float, default=60)
    parser.add_argument("--narrow", action="store_true", help="as wide as a telephone")
    parser.add_argument("--json", action="store_true", help="print JSON")
    chosen = parser.parse_args()
    with signed_in(chosen.url, chosen.token.read_text().strip()) as context:
        if chosen.narrow:
            context.new_page().set_viewport_size({"width": 390, "height": 844})
        seen = watch_live(context, chosen.address, chosen.seconds)
    if chosen.json:
        print(json.dumps({"bytes_per_minute": seen.bytes_per_minute, "layout_shift": seen.shift, "bytes": seen.size}))
        return
    for name, size in sorted(seen.size.items(), key=lambda item: -item[1]):
        print(f"{size:10,} B {seen.calls.get(name, 0):5} calls  {name}")
    print(f"{seen.bytes_per_minute:10,} B a minute; layout shift {seen.shift:.4f}")
    for each in seen.shifts:
        print(f"  {each['value']:.4f} {each['nodes']}")


if __name__ == "__main__":
    main()
