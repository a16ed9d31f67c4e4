"""Authorization by what a request names: names of code need the scope `code`, names of the catalog do not.

See docs/decisions/user-code.md.
"""

from __future__ import annotations

from collections.abc import Iterable

from api.schemas.enums import Scope
from api.web.auth.tokens import Principal
from api.web.problems import ProblemError
from orchestrator.spec.own_code import CodeName
from orchestrator.spec.problems import shown


def require_code(principal: Principal, named: Iterable[CodeName], place: str = "") -> dict[str, str]:
    """Refuse callers without the scope `code`; returns the names by their fields, for the audit log.

    `place` is where the trial or tournament is in the request; 403 names every field that needs the scope.
    """
    fields = {".".join(part for part in (place, each.field) if part): each.name for each in named}
    if fields and not principal.may(Scope.CODE):
        errors = [
            {"field": field, "message": f"{shown(name)} is code and requires the scope {Scope.CODE}"}
            for field, name in fields.items()
        ]
        named_fields = ", ".join(f"{field} ({shown(name)})" for field, name in fields.items())
        raise ProblemError(
            403,
            f"code requires a token of scope {Scope.CODE}; yours has scope {principal.scope}: {named_fields}",
            needed_scope=Scope.CODE,
            scope=principal.scope,
            errors=errors,
        )
    return fields
