"""The results and errors of calls to Ray actors."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import ray
from ray.exceptions import RayError, RayTaskError

from workers.crews.errors import CrewLost


def raised_by(error: RayTaskError) -> Exception:
    """The exception that the actor raised, without Ray's wrapper.

    Where that exception cannot be loaded here, Ray sends one of its own; it becomes a RuntimeError, because a RayError
    would be taken for a lost crew. Actors with `raises_user_errors` never send such an exception.
    """
    if isinstance(error.cause, RayError):
        return RuntimeError(str(error.cause))
    cause: Exception = error.cause
    return cause


def call_results(refs: Sequence[Any]) -> list[Any]:
    """The results of calls that have ended; raises the actor's own exception."""
    try:
        return list(ray.get(list(refs)))
    except RayTaskError as error:
        raise raised_by(error) from error
    except RayError as error:
        raise CrewLost(f"the crew was lost: {error}") from error
