"""Where gateways accept demands of crews and matches. Imports nothing, because settings import it."""

from __future__ import annotations

from dataclasses import dataclass, field

NO_GATEWAY = (
    "the train worker knows no gateway at which games call in: set LANISTA_GATEWAYS to their control addresses, and "
    "LANISTA_GATEWAY_CONTROL_KEY to their key"
)


@dataclass(frozen=True, kw_only=True)
class GatewayAccess:
    """Control addresses of gateway processes, and the key that they share with crews."""

    addresses: tuple[str, ...] = ()
    key: str = field(default="", repr=False)
    authority: str = field(default="", repr=False)
    """Certificates (PEM) by which gateways are trusted, as text: crews run on machines that lack the file. Empty: the
    channel is not encrypted."""


def parse_addresses(text: str) -> tuple[str, ...]:
    """The addresses of a setting, separated by commas."""
    return tuple(part.strip() for part in text.split(",") if part.strip())


def key_parts(key: str) -> list[str]:
    """The keys of a setting, separated by commas; ValueError where one is empty, since anybody has an empty key."""
    keys = [each.strip() for each in key.split(",")]
    if not all(keys):
        raise ValueError("a key is empty; is there a comma too many?")
    return keys
