"""Sweeps: create, check, list, get, their trials, and orders to them."""

from __future__ import annotations

from dataclasses import asdict
from typing import Annotated, Any

from fastapi import APIRouter, Body, Query
from fastapi.responses import Response
from starlette.concurrency import run_in_threadpool

from api.schemas.base import Page
from api.schemas.creation import NewSweep
from api.schemas.enums import SweepStatus
from api.schemas.sweeps import Importances, StopSweep, Sweep, SweepSummary, SweepToCheck, SweepTrial
from api.schemas.trials import CheckedFile, SpecProblem
from api.store.core.engine import Session
from api.store.sweeps.create import code_of_weights, create_sweep
from api.store.sweeps.reads import (
    SweepFilter,
    list_sweep_trials,
    list_sweeps,
    read_sweep,
    sweep_importances,
)
from api.web.auth.code_scope import check_file_names, check_matchmaker, require_code
from api.web.auth.scopes import Operator, Viewer
from api.web.changes import AuditLine, Change, ChangeCall, Reply
from api.web.orders.sweeps import PauseSweep, ResumeSweep
from api.web.orders.sweeps import StopSweep as StopOrder
from api.web.problems import problems_at
from api.web.responses.paging import EntityId, IdCursor, Limit, SmallCursor, text_of
from api.web.responses.serialization import SerializingRoute
from api.web.services import Api
from api.web.temporal.try_components import try_trial
from orchestrator.spec import InvalidTrial, Problem
from orchestrator.spec.code_names import code_in_trial
from orchestrator.spec.reading.problems import path_text, shown
from orchestrator.spec.reading.sweep_loading import check_sweep, parse_sweep
from orchestrator.spec.sweeps.optuna_extra import optuna_problem
from orchestrator.spec.sweeps.points import corner_trials
from orchestrator.spec.sweeps.sweep import SweepSpec

router = APIRouter(route_class=SerializingRoute, prefix="/api/v1/sweeps", tags=["sweeps"])


@router.post("", summary="Create a sweep", status_code=201, response_model=Sweep)
async def create(new: NewSweep, principal: Operator, change: Change) -> Response:
    """Record the sweep and start its workflow, which creates the trials. It is `pending` until the workflow runs."""
    with problems_at("body.spec"):
        spec = await run_in_threadpool(_checked, new.spec.to_json(), change)
    code: dict[str, Any] = {}
    for trial in corner_trials(spec):
        code |= require_code(principal, code_in_trial(trial), "body.spec.trial")
    made: list[str] = []

    async def try_names() -> None:
        tried = await try_trial(change, next(corner_trials(spec)), "sweep.create")
        if tried.unusable:
            with problems_at("body.spec.trial"):
                raise InvalidTrial(
                    Problem(path=path_text(each.path), message=each.problem, value=shown(each.name))
                    for each in tried.unusable
                )

    def work(session: Session, _: None) -> Reply:
        inherited = code_of_weights(session, corner_trials(spec))
        named = code | require_code(principal, inherited, "body.spec.trial")
        row = create_sweep(session, project=new.project, name=new.name, spec=spec)
        made.append(row.id)
        return Reply(
            status=201,
            body=read_sweep(session, row.id),
            headers={"Location": f"/api/v1/sweeps/{row.id}"},
            audit=AuditLine(
                action="sweep.create",
                target=f"sweep/{row.id}",
                detail={"project": new.project, "name": new.name, "method": spec.method}
                | ({"code": named} if named else {}),
            ),
        )

    response = await change.commit_after(try_names, work)
    for sweep_id in made:
        await change.services.sweep_starter.start(sweep_id)
    return response


def _checked(data: dict[str, Any], change: ChangeCall, text: str | None = None) -> SweepSpec:
    spec = check_sweep(data) if text is None else parse_sweep(text, folder=None).spec
    if spec.drawn_by == "tpe" and (problem := optuna_problem()):
        raise InvalidTrial([Problem(path="sampler" if spec.stops_early else "method", message=problem, value="tpe")])
    for trial in corner_trials(spec):
        check_matchmaker(trial, change.services.settings)
        check_file_names(trial, change.services.settings)
    return spec


@router.post("/validate", summary="Check a sweep")
async def validate(sweep: SweepToCheck, principal: Viewer, change: Change) -> CheckedFile:
    """List all problems of a sweep. Nothing is created, and no code is imported."""
    # nothing is stored under the idempotency key: the call changes nothing
    try:
        spec = await run_in_threadpool(_checked, sweep.spec or {}, change, sweep.text)
    except InvalidTrial as error:
        problems = [SpecProblem.model_validate(asdict(problem)) for problem in error.problems]
        return CheckedFile(valid=False, problems=problems, spec=None, not_checked=None)
    return CheckedFile(valid=True, problems=[], spec=spec.to_json(), not_checked=None)


@router.get("", summary="List sweeps")
def list_all(
    services: Api,
    principal: Viewer,
    project: Annotated[
        str | None, Query(max_length=63, pattern=r"^[^\x00]*$", description="only of this project")
    ] = None,
    name: Annotated[
        str | None, Query(max_length=63, pattern=r"^[^\x00]*$", description="only of this name, in any project")
    ] = None,
    status: Annotated[list[SweepStatus] | None, Query(description="only with one of these statuses")] = None,
    limit: Limit = 50,
    cursor: IdCursor = None,
) -> Page[SweepSummary]:
    """Sweeps, the newest first."""
    which = SweepFilter(project=project, name=name, statuses=tuple(status or ()))
    with services.snapshots() as session:
        found = list_sweeps(session, which, before=text_of(cursor), limit=limit + 1)
    more = len(found) > limit
    return Page(items=found[:limit], next_cursor=found[limit - 1].id if more else None)


@router.get("/{sweep_id}", summary="Get a sweep")
def get_one(sweep_id: EntityId, services: Api, principal: Viewer) -> Sweep:
    """The sweep with its file, its rungs and its best trial so far."""
    with services.snapshots() as session:
        return read_sweep(session, str(sweep_id))


@router.get("/{sweep_id}/trials", summary="List a sweep's trials")
def trials(
    sweep_id: EntityId, services: Api, principal: Viewer, limit: Limit = 100, cursor: SmallCursor = None
) -> Page[SweepTrial]:
    """The trials by number, each with its values at rungs, and what was decided from which values."""
    with services.snapshots() as session:
        found = list_sweep_trials(session, str(sweep_id), after=cursor, limit=limit + 1)
    more = len(found) > limit
    return Page(items=found[:limit], next_cursor=str(found[limit - 1].number) if more else None)


@router.get("/{sweep_id}/importances", summary="Get the importance of each field")
def fields(sweep_id: EntityId, services: Api, principal: Viewer) -> Importances:
    """How much of the differences at the lowest rung each field explains."""
    with services.snapshots() as session:
        return sweep_importances(session, str(sweep_id))


@router.post("/{sweep_id}/pause", summary="Pause a sweep", response_model=Sweep)
async def pause(sweep_id: EntityId, principal: Operator, change: Change) -> Response:
    """Trials finish their generations and wait; no further trial starts."""
    return await PauseSweep(change, str(sweep_id)).carry_out()


@router.post("/{sweep_id}/resume", summary="Resume a sweep", response_model=Sweep)
async def resume(sweep_id: EntityId, principal: Operator, change: Change) -> Response:
    """Trials train again."""
    return await ResumeSweep(change, str(sweep_id)).carry_out()


@router.post("/{sweep_id}/stop", summary="Stop a sweep", response_model=Sweep)
async def stop(
    sweep_id: EntityId,
    principal: Operator,
    change: Change,
    stop: Annotated[StopSweep | None, Body()] = None,
) -> Response:
    """Stop every trial within seconds; what they recorded stays. The sweep becomes `stopped`."""
    return await StopOrder(change, str(sweep_id), stop or StopSweep()).carry_out()
