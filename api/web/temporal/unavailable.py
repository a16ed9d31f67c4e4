"""Error mapping for Temporal: what the API answers while Temporal does not."""

from __future__ import annotations

from temporalio.service import RPCError

from api.web.problems import ProblemError


def unreachable(error: Exception) -> ProblemError:
    """503: Temporal does not answer."""
    return ProblemError(503, f"{outage(error)}; try again", headers={"Retry-After": "2"})


def outage(error: Exception) -> str:
    """The outage in words. The SDK raises RPCError, or RuntimeError where it cannot connect."""
    status = error.status.name if isinstance(error, RPCError) else "no connection"
    return f"Temporal does not answer ({status})"
