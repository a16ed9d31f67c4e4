"""Unknown query parameters are refused: a misspelt filter must not return everything."""

from __future__ import annotations

from collections.abc import Collection

from fastapi import Request, Response
from fastapi.dependencies.models import Dependant

from api.web.problems import invalid_fields


def parameters_of(dependant: Dependant) -> frozenset[str]:
    """The query parameters that a route and its dependencies declare."""
    own = {field.alias for field in dependant.query_params}
    return frozenset(own.union(*(parameters_of(each) for each in dependant.dependencies)))


def refuse_unknown(request: Request, allowed: Collection[str]) -> Response | None:
    """422 with each parameter that the route does not take, and those that it takes."""
    unknown = sorted(set(request.query_params) - set(allowed))
    if not unknown:
        return None
    known = f"allowed: {', '.join(sorted(allowed))}" if allowed else "this call takes none"
    return invalid_fields([(f"query.{name}", f"unknown parameter; {known}") for name in unknown])
