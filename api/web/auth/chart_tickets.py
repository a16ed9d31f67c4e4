"""Tickets for TensorBoard's pages: part of their address, because a page of its own cannot send the API's headers.

A ticket is signed, names the session or token of the caller that asked for the link, and ends with it.

See docs/decisions/authentication.md.
"""

from __future__ import annotations

import time

from api.web.auth.sessions import SessionSigner
from api.web.auth.tokens import Principal, TokenLookup

HOUR = 3600
HOURS = 12
SESSION, TOKEN = "s", "t"


def issue_ticket(signer: SessionSigner, principal: Principal) -> str:
    """A ticket for about twelve hours; the same within an hour, so that a link on a page does not change."""
    end = (int(time.time()) // HOUR + HOURS + 1) * HOUR
    kind, number = (SESSION, principal.session_id) if principal.session_id else (TOKEN, principal.token_id)
    return signer.sign("tensorboard", f"{kind}.{number}.{end}")


def read_ticket(signer: SessionSigner, tokens: TokenLookup, ticket: str) -> Principal | None:
    """The caller that asked for the ticket; None if it is forged or too old, or its session or token is over."""
    content = signer.unsign("tensorboard", ticket)
    if content is None:
        return None
    kind, number, end = content.split(".")
    if int(end) <= time.time():
        return None
    return tokens.by_session(number) if kind == SESSION else tokens.by_id(number)
