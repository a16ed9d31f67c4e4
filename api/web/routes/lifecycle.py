"""A trial's lifecycle: pause, resume, stop, fork, archive."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from fastapi import APIRouter, Response
from starlette.concurrency import run_in_threadpool

from api.schemas.trials import Fork, Stop, Trial, TrialSummary
from api.store.core.engine import Session
from api.store.forks.fork import fork_trial, without_default_options
from api.store.trials.archive import archive_trial
from api.store.trials.code_of_trials import code_of_trial
from api.store.trials.reads import get_trial, read_trial
from api.store.trials.spec import spec_of
from api.web.auth.code_scope import check_matchmaker, require_code
from api.web.auth.scopes import Operator
from api.web.changes import AuditLine, Change, ChangeCall, Reply
from api.web.orders.trials import PauseTrial, ResumeTrial, StopTrial
from api.web.problems import problems_at
from api.web.responses.etags import IfMatch, etag, require_match
from api.web.responses.paging import EntityId
from api.web.responses.serialization import SerializingRoute
from api.web.temporal.check_components import own_components
from api.web.temporal.try_components import try_components
from orchestrator.catalog import Kind
from orchestrator.spec import TrialSpec
from orchestrator.spec.reading.changes import merge_changes
from orchestrator.spec.reading.checking import check_spec

router = APIRouter(route_class=SerializingRoute, prefix="/api/v1/trials/{trial_id}", tags=["trials"])


@router.post("/pause", summary="Pause a trial", response_model=TrialSummary)
async def pause(trial_id: EntityId, principal: Operator, change: Change) -> Response:
    """Every player finishes its generation and then waits: the trial is `pausing`, then `paused`."""
    return await PauseTrial(change, str(trial_id)).carry_out()


@router.post("/resume", summary="Resume a trial", response_model=TrialSummary)
async def resume(trial_id: EntityId, principal: Operator, change: Change) -> Response:
    """Continue after a pause, or start a trial that was created with `start: paused`."""
    return await ResumeTrial(change, str(trial_id)).carry_out()


@router.post("/stop", summary="Stop a trial", response_model=TrialSummary)
async def stop(
    trial_id: EntityId,
    principal: Operator,
    change: Change,
    stop: Stop | None = None,
) -> Response:
    """End a trial for good, also one that has not started. A second stop with `now` ends a trial that is draining."""
    return await StopTrial(change, str(trial_id), stop or Stop()).carry_out()


@router.post("/fork", summary="Fork a trial", status_code=201, response_model=Trial)
async def fork(trial_id: EntityId, new: Fork, principal: Operator, change: Change) -> Response:
    """A new trial of the same project that starts from a commit of this one; checkpoints are shared, not copied."""
    made: list[str] = []

    async def without_defaults() -> Mapping[str, Any]:
        return await _without_defaults(change, str(trial_id), new.changes)

    def work(session: Session, changes: Mapping[str, Any]) -> Reply:
        require_code(principal, code_of_trial(session, get_trial(session, str(trial_id))), "trial")
        with problems_at("body.changes"):
            row = fork_trial(session, str(trial_id), name=new.name, at_commit=new.at_commit, changes=changes)
            check_matchmaker(spec_of(row), change.services.settings)
        code = require_code(principal, code_of_trial(session, row), "trial")
        session.flush()
        made.append(row.id)
        shown = Trial.model_validate(read_trial(session, row.id))
        return Reply(
            status=201,
            body=shown,
            headers={"Location": f"/api/v1/trials/{row.id}", **etag(shown.revision)},
            audit=AuditLine(
                action="trial.fork",
                target=f"trial/{row.id}",
                detail={"from": str(trial_id), "at_commit": shown.forked_at_commit, "changes": new.changes}
                | ({"code": code} if code else {}),
            ),
        )

    response = await change.commit_after(without_defaults, work)
    for fork_id in made:
        await change.services.trial_starter.start(fork_id)
    return response


async def _without_defaults(change: ChangeCall, trial_id: str, changes: Mapping[str, Any]) -> Mapping[str, Any]:
    """The changes of a fork without options of its own game that only say its defaults, which a worker knows."""
    if "game" not in changes:
        return changes

    def read() -> TrialSpec:
        with change.services.reads() as session:
            return spec_of(get_trial(session, trial_id))

    origin = await run_in_threadpool(read)
    with problems_at("body.changes"):
        spec = check_spec(merge_changes(origin.to_json(), changes))
    games = [each for each in own_components(spec) if each.check.kind is Kind.GAME]
    tried = await try_components(change, spec, "trial.fork", games)
    return without_default_options(origin, changes, tried.defaults)


@router.post("/archive", summary="Archive a trial", response_model=TrialSummary)
async def archive(trial_id: EntityId, principal: Operator, change: Change, if_match: IfMatch = None) -> Response:
    """Remove an ended trial from the lists. It can still be read and forked."""

    def work(session: Session) -> Reply:
        row = get_trial(session, str(trial_id))
        require_match(if_match, row.revision)
        archive_trial(session, str(trial_id))
        session.flush()
        shown = TrialSummary.model_validate(read_trial(session, str(trial_id)))
        return Reply(
            body=shown,
            headers=etag(shown.revision),
            audit=AuditLine(action="trial.archive", target=f"trial/{trial_id}"),
        )

    return await change.commit(work)
