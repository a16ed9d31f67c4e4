"""What a gateway answers besides steps: `GET /health`, `GET /metrics`, `GET /next`."""

from __future__ import annotations

import json
import math
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from typing import Any
from urllib.parse import parse_qs

from workers.gateway.contract import GameAnswer, Refused
from workers.gateway.transports.front import Front
from workers.gateway.transports.http_replies import JSON, TEXT

LONGEST_WAIT = 60.0
PROMETHEUS = b"text/plain; version=0.0.4; charset=utf-8"

Send = Callable[[int, bytes, bytes], None]
"""Answers a page: status, content type, body."""
Cancel = Callable[[], None]


@dataclass(slots=True)
class PageRequest:
    """A request for one of the pages."""

    path: bytes
    query: bytes


PATHS = (b"/health", b"/metrics", b"/next")


def answer_page(front: Front, page: PageRequest, send: Send) -> Cancel | None:
    """Answer now or later; raises Refused. Returns what withdraws the question of a client that goes away."""
    if page.path == b"/health":
        send(200, JSON, json.dumps({"status": "ok", "sessions": front.metrics.sessions, **front.health()}).encode())
        return None
    if page.path == b"/metrics":
        front.collect_metrics(lambda text: send(200, PROMETHEUS, text.encode()))
        return None
    query = parse_qs(page.query.decode("latin-1"))

    def answer(game: Mapping[str, Any] | None) -> None:
        if game is None:
            send(204, TEXT, b"")
        else:
            send(200, JSON, json.dumps(game).encode())

    return next_game(front, query.get("seconds", ["30"])[-1], query.get("game", [""])[-1], answer)


def next_game(front: Front, seconds: str, name: str, answer: GameAnswer) -> Cancel:
    """Ask what to play next, for at most `seconds`; `name` is the game that the client plays. Raises Refused."""
    if front.games is None:
        raise Refused(404, "This gateway hands out no games: start a session whenever the game likes.")
    try:
        wait = float(seconds)
    except ValueError:
        wait = math.nan
    if not 0 <= wait <= LONGEST_WAIT:
        raise Refused(400, f"seconds is {seconds[:40]!r}; a number from 0 to {LONGEST_WAIT:g} is allowed.")
    return front.games.next_game(wait, answer, name)
