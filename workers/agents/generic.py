"""An agent for games that speak JSON about their own spaces: nothing has to be written for these.

docs/guides/agents.md has the fields.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from workers.agents.agent import Agent
from workers.agents.errors import AgentError
from workers.gateway.contract import Refused

_TICK = {"obs", "legal", "seat", "seats", "reward", "rewards", "metrics"}
_END = {"returns", "reward", "rewards", "seat", "truncated", "final", "played_by", "metrics"}


class GenericAgent(Agent):
    """Takes observations as they are and replies with actions."""

    def on_start(self, data: Any) -> Any:
        """Replies who plays each seat, and a seed for the game."""
        seats = [
            {"name": seat.name, "learning": seat.learning, "outside": seat.model is None, "seat": number}
            for number, seat in enumerate(self.seats)
        ]
        return {"seats": seats, "seed": self._runner.cast.seed, "info": dict(self.info)}

    async def on_tick(self, data: Any) -> Any:
        fields = _fields(data, _TICK, "tick")
        with _Refusing():
            self._rewards(fields)
            self._metrics(fields)
            if "seats" not in fields:
                return {"action": await self.forward(_obs(fields), fields.get("legal"), seat=fields.get("seat"))}
            rows = _by_seat(fields["seats"])
            asked = {s: self.forward(_obs(row), row.get("legal"), seat=s) for s, row in rows.items()}
            return {"actions": {seat: await decision for seat, decision in asked.items()}}

    def on_end(self, data: Any) -> Any:
        fields = _fields(data, _END, "end")
        with _Refusing():
            self._rewards(fields)
            self._metrics(fields)
            if "returns" in fields:
                self.result(fields["returns"])
            for seat, name in _by_seat(fields.get("played_by") or {}).items():
                self.played_by(seat, name)
            if fields.get("truncated"):
                self.truncated()
                for seat, row in _by_seat(fields.get("final") or {}).items():
                    self.truncated(_obs(row), row.get("legal"), seat=seat)

    def _rewards(self, fields: Mapping[str, Any]) -> None:
        if "reward" in fields:
            self.reward(fields["reward"], seat=fields.get("seat"))
        rewards = fields.get("rewards")
        if rewards is not None:
            for seat, reward in enumerate(rewards) if isinstance(rewards, list) else _by_seat(rewards).items():
                self.reward(reward, seat=seat)

    def _metrics(self, fields: Mapping[str, Any]) -> None:
        for name, value in (fields.get("metrics") or {}).items():
            self.metric(name, value)


class _Refusing:
    """What the game sent is wrong: it is told so, and may try again."""

    def __enter__(self) -> None:
        return None

    def __exit__(self, kind: object, error: BaseException | None, traceback: object) -> None:
        if isinstance(error, AgentError | TypeError | AttributeError):
            raise Refused(400, str(error)) from error


def _fields(data: Any, allowed: set[str], kind: str) -> dict[str, Any]:
    if data is None:
        return {}
    if not isinstance(data, dict):
        raise Refused(400, f"the body of a {kind} is a {type(data).__name__}; allowed: an object")
    if unknown := sorted(data.keys() - allowed):
        raise Refused(400, f"a {kind} has no field {', '.join(unknown)}; allowed: {', '.join(sorted(allowed))}")
    return data


def _obs(fields: Mapping[str, Any]) -> Any:
    if "obs" not in fields:
        raise Refused(400, "the field obs is missing")
    return fields["obs"]


def _by_seat(fields: Mapping[str, Any]) -> dict[int, Any]:
    """By the number of the seat, which is text in JSON."""
    try:
        return {int(seat): value for seat, value in fields.items()}
    except ValueError as error:
        raise Refused(400, f"seats are named {', '.join(map(str, fields))}; allowed: their numbers") from error
