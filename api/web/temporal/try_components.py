"""Asks a worker to try the components that a trial or a player names. Code that the caller may not run is left out."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace

from starlette.concurrency import run_in_threadpool

from api.schemas.enums import Scope
from api.store.players.weights import recorded_weights
from api.web.changes import AuditLine, ChangeCall
from api.web.temporal.check_components import (
    ComponentsChecked,
    OwnComponent,
    check_components,
    imported_names,
    missing_gpus,
    own_components,
    started_learners,
)
from league.types import CheckpointRef
from orchestrator.catalog import CatalogError, Kind
from orchestrator.spec import InvalidTrial, TrialSpec
from orchestrator.spec.reading.problems import Problem, path_text, shown


async def try_trial(change: ChangeCall, spec: TrialSpec, purpose: str) -> ComponentsChecked:
    """Have a worker try the trial's components, and the recorded weights that its players start from."""

    def find() -> dict[str, CheckpointRef]:
        with change.services.reads() as session:
            return recorded_weights(session, spec)

    weights = await run_in_threadpool(find)
    return await try_components(change, spec, purpose, [*own_components(spec), *started_learners(spec, weights)])


async def try_components(
    change: ChangeCall, spec: TrialSpec, purpose: str, own: Sequence[OwnComponent]
) -> ComponentsChecked:
    """Have a worker try those of these components that the caller may have imported: importing code runs it."""
    services, principal = change.services, change.principal
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
    try:
        own = [each for each in own_components(spec) if each.path[:3] == prefix or each.check.kind is Kind.ALGORITHM]
    except CatalogError as error:  # a plug-in that the trial names was removed
        raise InvalidTrial([Problem(path="", message=str(error))]) from error
    checked = await try_components(change, spec, purpose, own)
    problems = []
    for each in checked.unusable:
        if each.path[:3] == prefix:
            path = each.path[3:]
            if tuned and path[0] == "algorithm":
                path = ("hyperparameters", *(part for part in path[1:] if part != "id"))
            problems.append(Problem(path=path_text(path), message=each.problem, value=shown(each.name)))
    if problems:
        raise InvalidTrial(problems)
