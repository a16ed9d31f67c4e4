"""Names of sessions as games send them: `GAME`, or `GAME-agent-NAME` for one of several agents."""

from __future__ import annotations

from workers.gateway.contract import MAIN_AGENT, Refused, StepKind

AGENT_MARK = "-agent-"
LONGEST_NAME = 255
"""Bytes of a session's name, its agent's included."""
LONGEST_TICKET = 255

KINDS: dict[bytes, StepKind] = {
    b"start": StepKind.START,
    b"tick": StepKind.TICK,
    b"end": StepKind.END,
    b"stop": StepKind.END,
    b"auto": StepKind.AUTO,
}


def parse_session(raw: bytes) -> tuple[str, str]:
    """The session's and the agent's name; raises Refused (400)."""
    if not raw:
        raise Refused(400, "The session has no name: send one in the header `session` (or `game_id`).")
    if len(raw) > LONGEST_NAME:
        raise Refused(400, f"The session's name has {len(raw)} bytes; at most {LONGEST_NAME} are allowed.")
    try:
        name = raw.decode()
    except UnicodeDecodeError:
        raise Refused(400, "The session's name is not UTF-8.") from None
    if not name.isprintable():
        raise Refused(400, f"The session's name {name!r} has characters that cannot be printed.")
    game, mark, agent = name.rpartition(AGENT_MARK)
    if not mark:
        return name, MAIN_AGENT
    if not game or not agent:
        raise Refused(400, f"The session's name {name!r} must be GAME or GAME{AGENT_MARK}NAME.")
    return game, agent


def parse_ticket(raw: bytes) -> str:
    """The ticket of a start; raises Refused (400)."""
    if len(raw) > LONGEST_TICKET:
        raise Refused(400, f"The ticket has {len(raw)} bytes; at most {LONGEST_TICKET} are allowed.")
    return raw.decode(errors="replace")


def parse_kind(raw: bytes) -> StepKind:
    """The kind of a step by its name; raises Refused (400)."""
    kind = KINDS.get(raw)
    if kind is None:
        raise Refused(
            400, f"step_kind is {raw[:40].decode(errors='replace')!r}; start, tick, end (stop) or auto are allowed."
        )
    return kind
