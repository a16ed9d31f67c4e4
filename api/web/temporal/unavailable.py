"""What is answered while Temporal is away."""

from __future__ import annotations

from temporalio.service import RPCError

from api.web.problems import Refusal


def unreachable(error: Exception) -> Refusal:
    """Temporal does not answer."""
    return Refusal(503, f"{silence(error)}; try again", headers={"Retry-After": "2"})


def silence(error: Exception) -> str:
    """The SDK raises an RPCError, or a bare RuntimeError where it cannot connect."""
    status = error.status.name if isinstance(error, RPCError) else "no connection"
    return f"Temporal does not answer ({status})"
