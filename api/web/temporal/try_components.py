"""Has a worker try what a trial, or a player that joins or changes, names: only what the caller may have imported."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import replace

from api.schemas.enums import Scope
from api.web.changes import AuditLine, ChangeCall
from api.web.temporal.check_components import (
    ComponentsChecked,
    OwnComponent,
    check_components,
    imported_names,
    missing_gpus,
    own_components,
)
from orchestrator.catalog import CatalogError, Kind
from orchestrator.spec import InvalidTrial, TrialSpec
from orchestrator.spec.problems import Problem, path_text, shown


async def try_components(
    change: ChangeCall, spec: TrialSpec, purpose: str, wanted: Callable[[OwnComponent], bool] = lambda each: True
) -> ComponentsChecked:
    """Have a worker try the wanted components that the caller may have imported: importing code runs it."""
    services, principal = change.services, change.principal
    own = [each for each in own_components(spec) if wanted(each)]
    tried = [each for each in own if principal.may(each.scope)]
    imported = imported_names(tried)
    line = AuditLine(action="code.import", target=None, detail={"for": purpose, "names": imported})

    def audit() -> None:
        if imported:
            change.audit(line)

    checked = await check_components(services.temporal, services.cluster, tried, audit)
    checked = replace(checked, unusable=checked.unusable + await missing_gpus(services.cluster, spec))
    refused = [each for each in own if each not in tried]
    if not refused:
        return checked
    scope = Scope.CODE if any(each.code for each in refused) else Scope.OPERATOR
    fields = ", ".join(path_text(each.path) for each in refused)
    return replace(checked, not_checked=f"not checked: {fields}: needs a token of scope {scope}")


async def try_player(change: ChangeCall, spec: TrialSpec, number: int, purpose: str, *, tuned: bool) -> None:
    """Raise InvalidTrial where a worker cannot use what this player of the trial names.

    The algorithms of all players are tried, since their buffers share the memory. `tuned`: the request gives the
    player's algorithm as hyperparameters.
    """
    prefix = ("league", "players", number)

    def wanted(each: OwnComponent) -> bool:
        return each.path[:3] == prefix or each.check.kind is Kind.ALGORITHM

    try:
        checked = await try_components(change, spec, purpose, wanted)
    except CatalogError as error:  # a plug-in that the trial names was removed
        raise InvalidTrial([Problem(path="", message=str(error))]) from error
    problems = []
    for each in checked.unusable:
        if each.path[:3] == prefix:
            path = each.path[3:]
            if tuned and path[0] == "algorithm":
                path = ("hyperparameters", *(part for part in path[1:] if part != "id"))
            problems.append(Problem(path=path_text(path), message=each.problem, value=shown(each.name)))
    if problems:
        raise InvalidTrial(problems)
