"""Both ends of a connection show that they have the key, without sending it: HMAC-SHA256 over the other's nonce.

A key may be several, separated by commas: any one that both ends have will do, so that keys can be rotated.
"""

from __future__ import annotations

import asyncio
import hmac
import secrets
from hashlib import sha256

from workers.gateway.league.access import key_parts
from workers.gateway.league.frames import LONGEST_GREETING, BadFrame, Frame, read_frame, receive_frame, send_frame
from workers.gateway.league.tls import Connection

VERSION = 1
"""Of the frames; both ends must have the same."""


class NotAuthentic(ConnectionError):
    """The peer does not have the key, or speaks another version."""


class SaidNothing(EOFError):
    """The peer closed the connection before it said anything: something looked whether this port answers."""


def _proof(key: str, side: str, nonce: str) -> str:
    return hmac.new(key.encode(), f"lanista {VERSION} {side} {nonce}".encode(), sha256).hexdigest()


def _keys(key: str) -> list[str]:
    try:
        return key_parts(key)
    except ValueError as error:
        raise NotAuthentic(f"LANISTA_GATEWAY_CONTROL_KEY of this process: {error}") from None


def _matching(keys: list[str], side: str, nonce: str, proofs: list[str]) -> str | None:
    """The first of our keys by which one of the proofs was made."""
    made = [(key, _proof(key, side, nonce)) for key in keys]
    return next((key for key, own in made for given in proofs if hmac.compare_digest(own, given)), None)


async def greet_as_gateway(reader: asyncio.StreamReader, writer: asyncio.StreamWriter, key: str) -> dict[str, str]:
    """The gateway's end: returns what the peer says about itself; raises NotAuthentic or SaidNothing."""
    heard: list[bool] = []
    try:
        hello = await read_frame(reader, LONGEST_GREETING, on_part=lambda: heard.append(True))
    except (EOFError, ConnectionError) as error:
        if heard:
            raise
        raise SaidNothing from error
    if hello.kind != "hello" or hello.fields.get("version") != VERSION:
        raise NotAuthentic(f"the peer speaks {hello.kind} of version {hello.fields.get('version')}, not {VERSION}")
    nonce = secrets.token_hex(32)
    keys = _keys(key)
    proofs = [_proof(each, "gateway", str(hello.fields.get("nonce"))) for each in keys]
    answer = {"nonce": nonce, "proof": proofs[0], "others": proofs[1:]}
    writer.writelines(Frame("challenge", answer).encode())
    proof = await read_frame(reader, LONGEST_GREETING)
    if _matching(keys, "crew", nonce, [str(proof.fields.get("proof"))]) is None:
        raise NotAuthentic("the peer does not have the key LANISTA_GATEWAY_CONTROL_KEY")
    writer.writelines(Frame("welcome").encode())
    return {"who": str(hello.fields.get("who", ""))}


def greet_as_crew(connection: Connection, key: str, who: str) -> None:
    """The crew's end; raises NotAuthentic."""
    nonce = secrets.token_hex(32)
    send_frame(connection, Frame("hello", {"version": VERSION, "nonce": nonce, "who": who}))
    try:
        challenge = receive_frame(connection)
        shared = _matching(_keys(key), "gateway", nonce, _proofs(challenge))
        if shared is None:
            raise NotAuthentic("the gateway does not have the key LANISTA_GATEWAY_CONTROL_KEY")
        send_frame(connection, Frame("proof", {"proof": _proof(shared, "crew", str(challenge.fields.get("nonce")))}))
        if receive_frame(connection).kind != "welcome":
            raise NotAuthentic("the gateway does not welcome this crew")
    except (EOFError, BadFrame) as error:
        raise NotAuthentic(f"the gateway refused the greeting: {error}") from error


def _proofs(challenge: Frame) -> list[str]:
    others = challenge.fields.get("others")
    return [str(each) for each in (challenge.fields.get("proof"), *(others if isinstance(others, list) else ()))]
