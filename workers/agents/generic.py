"""An agent for games that send JSON in the shape of their own spaces. Users need not write any code for it.

docs/guides/agents.md has the fields.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from workers.agents.agent import Agent
from workers.agents.errors import AgentError
from workers.agents.play import finite
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
            rows = _by_seat(fields["seats"]) if "seats" in fields else {fields.get("seat"): fields}
            for seat, row in rows.items():
                self._check(seat, row)
            self._earn(fields)
            asked = {seat: self.forward(row["obs"], row.get("legal"), seat=seat) for seat, row in rows.items()}
        actions = {seat: await decision for seat, decision in asked.items()}
        return {"actions": actions} if "seats" in fields else {"action": next(iter(actions.values()))}

    def on_end(self, data: Any) -> Any:
        fields = _fields(data, _END, "end")
        with _Refusing():
            if "returns" in fields:
                self.result(fields["returns"])
            for seat, name in _by_seat(fields.get("played_by") or {}).items():
                self.played_by(seat, name)
            if fields.get("truncated"):
                self.truncated()
                for seat, row in _by_seat(fields.get("final") or {}).items():
                    self._check(seat, row)
                    self.truncated(row["obs"], row.get("legal"), seat=seat)
            self._earn(fields)

    def _check(self, seat: int | None, row: Mapping[str, Any]) -> None:
        """Raise for what cannot be decided, before anything has changed: the game may send it again."""
        if "obs" not in row:
            raise Refused(400, "the field obs is missing")
        self._runner.codec.observe(row["obs"])
        self._runner.codec.legal(row.get("legal"))
        self._runner.seat_of(self, seat)

    def _earn(self, fields: Mapping[str, Any]) -> None:
        """Rewards and metrics: all of them, or none if one is wrong."""
        earned = [(fields.get("seat"), fields["reward"])] if "reward" in fields else []
        rewards = fields.get("rewards") or []
        earned += enumerate(rewards) if isinstance(rewards, list) else _by_seat(rewards).items()
        checked = [(self._runner.seat_of(self, seat).index, finite(reward, "a reward")) for seat, reward in earned]
        for name, value in (fields.get("metrics") or {}).items():
            self.metric(name, value)
        for seat, reward in checked:
            self.reward(reward, seat=seat)


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


def _by_seat(fields: Mapping[str, Any]) -> dict[int, Any]:
    """By the number of the seat, which is text in JSON."""
    try:
        return {int(seat): value for seat, value in fields.items()}
    except ValueError as error:
        raise Refused(400, f"seats are named {', '.join(map(str, fields))}; allowed: their numbers") from error
