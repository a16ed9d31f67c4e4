"""Authorization by what a request names: names of code need the scope `code`, names of the catalog do not.

See docs/decisions/user-code.md.
"""

from __future__ import annotations

from collections.abc import Iterable

from api.schemas.enums import Scope
from api.settings import ApiSettings
from api.web.auth.tokens import Principal
from api.web.problems import ProblemError
from orchestrator.spec import InvalidTrial, TrialSpec
from orchestrator.spec.code_names import CodeName, files_in_trial, is_code
from orchestrator.spec.reading.checking import check_files
from orchestrator.spec.reading.problems import Problem, shown
from orchestrator.spec.values import is_id


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


def check_matchmaker(spec: TrialSpec, settings: ApiSettings) -> None:
    """Refuse a matchmaker by import path where user code must not run in the store worker."""
    preset = spec.league.preset
    if is_code(preset) and not settings.own_matchmakers:
        message = (
            "a matchmaker by import path is refused here (LANISTA_OWN_MATCHMAKERS=false): it would run in the store "
            "worker, which has the database; install it as a package with an entry point in lanista.matchmakers"
        )
        raise InvalidTrial([Problem(path="league.preset", message=message, value=shown(preset))])


def check_file_names(spec: TrialSpec, settings: ApiSettings) -> None:
    """Refuse initial weights and data sets by a path outside the folders that may be imported from."""
    named = [(each.field, each.name) for each in files_in_trial(spec)]
    if spec.initial_weights is not None and not is_id(spec.initial_weights):
        named.append(("initial_weights", spec.initial_weights))
    check_files(named, settings.imports)
