"""Trials: create, list, get, and check a trial file."""

from __future__ import annotations

from dataclasses import asdict
from typing import Annotated

from fastapi import APIRouter, Query, Response
from fastapi.responses import PlainTextResponse
from starlette.concurrency import run_in_threadpool

from api.schemas.base import Page
from api.schemas.creation import NewTrial
from api.schemas.enums import TrialSort, TrialStatus
from api.schemas.progress import TrialProgress
from api.schemas.trials import CheckedFile, FileToCheck, SpecProblem, Trial, TrialChange, TrialSummary
from api.store.core.commits import lock_trial
from api.store.core.engine import Session
from api.store.trials.change import change_trial
from api.store.trials.code_of_trials import inherited_code
from api.store.trials.create import create_trial
from api.store.trials.reads import TrialFilter, list_trials, read_trial, require_trial
from api.store.trials.troubles import troubles_of
from api.web.auth.code_scope import check_file_names, check_matchmaker, require_code
from api.web.auth.scopes import Operator, Viewer
from api.web.changes import AuditLine, Change, Reply
from api.web.live.crew_queue import shared_crew_queue, trials_ahead
from api.web.live.progress import ProgressPoller
from api.web.problems import problems_at
from api.web.responses.etags import IfMatch, etag, require_match
from api.web.responses.paging import EntityId, IdCursor, Limit, text_of
from api.web.responses.serialization import SerializingRoute, record_response, records_page
from api.web.services import Api
from api.web.temporal.check_components import ComponentsChecked
from api.web.temporal.try_components import try_trial
from api.web.validation.reading import ToRead
from orchestrator.spec import InvalidTrial, TrialSpec
from orchestrator.spec.code_names import code_in_trial
from orchestrator.spec.reading.checking import check_spec
from orchestrator.spec.reading.problems import Problem, path_text, shown
from orchestrator.spec.reading.writing import file_text
from orchestrator.spec.reading.yaml_source import read_yaml
from orchestrator.spec.trial import without_defaults

router = APIRouter(route_class=SerializingRoute, prefix="/api/v1/trials", tags=["trials"])


@router.post("", summary="Create a trial", status_code=201, response_model=Trial)
async def create(new: NewTrial, principal: Operator, change: Change) -> Response:
    """Record the trial and start its workflow. It is `pending` until the workflow runs.

    Names of your own code (`module:attr`) are first imported by the train worker, if one runs. If the API crashes in
    between, the workflow is started when an API runs again: a recorded trial always starts, and no trial runs
    unrecorded.
    """
    with problems_at("body.spec"):
        spec = check_spec(new.spec.to_json())
        check_matchmaker(spec, change.services.settings)
        check_file_names(spec, change.services.settings)
    code = require_code(principal, code_in_trial(spec), "body.spec")
    made: list[str] = []

    async def try_names() -> TrialSpec:
        tried = await try_trial(change, spec, "trial.create")
        with problems_at("body.spec"):
            _refuse(_problems(tried))
        return without_defaults(spec, tried.defaults)

    def work(session: Session, spec: TrialSpec) -> Reply:
        row = create_trial(session, project=new.project, name=new.name, spec=spec)
        inherited = require_code(principal, inherited_code(session, row), "body.spec")
        made.append(row.id)
        session.refresh(row)
        trial = Trial.model_validate(read_trial(session, row.id))
        return Reply(
            status=201,
            body=trial,
            headers={"Location": f"/api/v1/trials/{row.id}", **etag(row.revision)},
            audit=AuditLine(
                action="trial.create",
                target=f"trial/{row.id}",
                detail={"project": new.project, "name": new.name}
                | ({"code": code | inherited} if code | inherited else {}),
            ),
        )

    response = await change.commit_after(try_names, work)
    for trial_id in made:
        await change.services.trial_starter.start(trial_id)
    return response


@router.get("", summary="List trials", response_model=Page[TrialSummary])
def list_all(
    services: Api,
    principal: Viewer,
    project: Annotated[
        str | None, Query(max_length=63, pattern=r"^[^\x00]*$", description="only of this project")
    ] = None,
    name: Annotated[
        str | None,
        Query(max_length=63, pattern=r"^[^\x00]*$", description="only of this name, or that had it before a rename"),
    ] = None,
    q: Annotated[
        str | None,
        Query(
            max_length=200,
            pattern=r"^[^\x00]*$",
            description="only with each of these words in its project, name, game, tags or notes",
        ),
    ] = None,
    tag: Annotated[
        list[Annotated[str, Query(max_length=40, pattern=r"^[^\x00]*$")]] | None,
        Query(max_length=20, description="only with all these tags"),
    ] = None,
    status: Annotated[list[TrialStatus] | None, Query(description="only with one of these statuses")] = None,
    archived: Annotated[bool, Query(description="true: archived trials too")] = False,
    sort: Annotated[TrialSort, Query(description="their order; with a hyphen it falls")] = TrialSort.NEWEST,
    limit: Limit = 50,
    cursor: IdCursor = None,
) -> Response:
    """Trials, the newest first unless sorted otherwise."""
    which = TrialFilter(
        project=project,
        name=name,
        words=tuple((q or "").split()),
        tags=tuple(tag or ()),
        statuses=tuple(status or ()),
        archived=archived,
    )
    with services.reads() as session:
        rows = list_trials(session, which, before=text_of(cursor), limit=limit + 1, sort=sort)
    return records_page(rows, limit, TrialSummary)


@router.post("/validate", summary="Check a trial file")
async def validate(file: FileToCheck, principal: Viewer, change: Change) -> CheckedFile:
    """List all problems of a trial file with line and column. Nothing is created.

    Names of your own code (`module:attr`) are imported by the train worker, if one runs; that needs a token of scope
    `code`, and is written to the audit log. Other names that a worker must try need an operator's token.
    """
    # nothing is stored under the idempotency key: the call changes nothing
    try:
        spec = await change.services.spec_reader.read(principal.token_id, ToRead(text=file.text, spec=file.spec))
        check_matchmaker(spec, change.services.settings)
        check_file_names(spec, change.services.settings)
        tried = await try_trial(change, spec, "trial.validate")
        _refuse(await run_in_threadpool(_problems, tried, file.text))
    except InvalidTrial as error:
        problems = [SpecProblem.model_validate(asdict(problem)) for problem in error.problems]
        return CheckedFile(valid=False, problems=problems, spec=None, not_checked=None)
    return CheckedFile(valid=True, problems=[], spec=spec.to_json(), not_checked=tried.not_checked)


def _problems(tried: ComponentsChecked, text: str | None = None) -> list[Problem]:
    """Names that a worker could not use, each with its place in the text."""
    if not tried.unusable:
        return []
    document = None if text is None else read_yaml(text)
    found = []
    for each in tried.unusable:
        line, column = (None, None) if document is None else document.place(each.path)
        place = path_text(each.path)
        found.append(Problem(path=place, message=each.problem, value=shown(each.name), line=line, column=column))
    return found


def _refuse(problems: list[Problem]) -> None:
    if problems:
        raise InvalidTrial(problems)


@router.get("/{trial_id}/progress", summary="Get what a trial does now")
async def progress(trial_id: EntityId, services: Api, principal: Viewer) -> TrialProgress:
    """The generations under way, what they wait for, the speed, and failed attempts that are tried again."""

    def read() -> list[str]:
        with services.reads() as session:
            require_trial(session, str(trial_id))
            return troubles_of(session, str(trial_id))

    troubles = await run_in_threadpool(read)
    now = await ProgressPoller(services.sessions, services.temporal, services.feed).under_way(str(trial_id))
    waits = any((each.waiting or "").startswith("a crew") for each in now.generations)
    behind = trials_ahead(await shared_crew_queue(services), str(trial_id)) if waits else []
    return TrialProgress(generations=now.generations, troubles=troubles, speed=now.speed, behind=behind)


@router.get(
    "/{trial_id}/file",
    summary="Get a trial's file",
    response_class=PlainTextResponse,
    responses={200: {"content": {"text/plain": {}}, "description": "the trial file (YAML)"}},
)
def get_file(trial_id: EntityId, services: Api, principal: Viewer) -> Response:
    """The trial file as YAML text, defaults included, as `POST /trials/validate` reads it."""
    with services.reads() as session:
        trial = read_trial(session, str(trial_id))
    return PlainTextResponse(file_text(trial["project"], trial["name"], trial["spec"]))


@router.get("/{trial_id}", summary="Get a trial", response_model=Trial)
def get_one(trial_id: EntityId, services: Api, principal: Viewer) -> Response:
    """The trial with its file. The ETag is its revision."""
    with services.reads() as session:
        record = read_trial(session, str(trial_id))
    return record_response(record, Trial, etag(record["revision"]))


@router.patch("/{trial_id}", summary="Change a trial's name, tags, notes, priority or quota", response_model=Trial)
async def change_one(
    trial_id: EntityId, wanted: TrialChange, principal: Operator, change: Change, if_match: IfMatch = None
) -> Response:
    """Rename a trial, or change its tags, notes, priority or quota. Its league is not touched.

    Its former name still leads to it, and no other trial of the project can get it.
    """

    def work(session: Session) -> Reply:
        require_match(if_match, lock_trial(session, str(trial_id), key=wanted.name is not None).revision)
        _, changed = change_trial(session, str(trial_id), wanted)
        session.flush()
        shown = Trial.model_validate(read_trial(session, str(trial_id)))
        detail = {} if changed is None else changed.to_json()
        return Reply(
            body=shown,
            headers=etag(shown.revision),
            audit=AuditLine(action="trial.change", target=f"trial/{trial_id}", detail=detail),
        )

    return await change.commit(work)
