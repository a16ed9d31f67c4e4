"""What all gateway processes do now, for the view of the installation."""

from __future__ import annotations

import threading
import time
from typing import Any

from temporalio import activity

from orchestrator.contracts.interactive import (
    GatewaySeen,
    GatewaysRequest,
    GatewaysSeen,
    RemoteGameSeen,
    describe_gateways,
)
from workers.gateway.league.access import GatewayAccess
from workers.gateway.league.frames import Frame
from workers.gateway.league.links import CONNECTED, Links

ANSWER_SECONDS = 1.5
"""How long gateways may take to connect and to answer."""


class GatewayActivities:
    """Asks gateways over their control channel. Connections are opened at the first question, and kept."""

    def __init__(self, access: GatewayAccess | None) -> None:
        self._access = access
        self._links: Links | None = None
        self._asking = threading.Lock()

    @activity.defn(name=describe_gateways.name)
    def describe_gateways(self, request: GatewaysRequest) -> GatewaysSeen:
        """Every gateway process by its control address; one that does not answer has a problem instead of numbers."""
        if self._access is None or not self._access.addresses:
            return GatewaysSeen(gateways=[])
        with self._asking:
            opened = self._links is None
            links = self._links = self._links or Links(self._access, "an overview of gateways")
            answers = _asked(links, opened)
            problems = [link.partition(": ") for link in links.problems]
        why = {address: problem for address, _, problem in problems}
        return GatewaysSeen(
            gateways=[
                _seen(address, answers.get(number), why.get(address, "it does not answer"))
                for number, address in enumerate(self._access.addresses)
            ]
        )


def _asked(links: Links, opened: bool) -> dict[int, dict[str, Any]]:
    """What the gateways answer, by the number of the link. Those just `opened` are given time to connect."""
    answers: dict[int, dict[str, Any]] = {}
    if not opened:
        links.forget()
        links.send_all(Frame("overview"))
    deadline = time.monotonic() + ANSWER_SECONDS
    while len(answers) < (len(links) if opened else len(links.connected)):
        arrived = links.next(max(0.0, deadline - time.monotonic()))
        if arrived is None:
            break
        if arrived.frame.kind == CONNECTED:
            links.send(arrived.link, Frame("overview"))
        elif arrived.frame.kind == "overview":
            answers[arrived.link] = arrived.frame.fields
    return answers


def _seen(address: str, answer: dict[str, Any] | None, problem: str) -> GatewaySeen:
    if answer is None:
        return GatewaySeen(address=address, problem=problem)
    games = [RemoteGameSeen(**game) for game in answer["games"]]
    return GatewaySeen(address=address, problem="", **{**answer, "games": games})
