"""Projects: namespaces of trials and aliases."""

from __future__ import annotations

from fastapi import APIRouter, Response

from api.schemas.base import Page
from api.schemas.installation.projects import Project, ProjectChange
from api.store.core.engine import Session
from api.store.trials.change import change_project
from api.store.trials.projects import list_projects, read_project
from api.web.auth.scopes import Admin, Viewer
from api.web.changes import AuditLine, Change, Reply
from api.web.responses.paging import Limit, NameCursor
from api.web.responses.serialization import SerializingRoute, records_page
from api.web.services import Api

router = APIRouter(route_class=SerializingRoute, prefix="/api/v1/projects", tags=["projects"])


@router.get("", summary="List projects", response_model=Page[Project])
def projects(services: Api, principal: Viewer, limit: Limit = 100, cursor: NameCursor = None) -> Response:
    """Projects by name. A project is created with its first trial."""
    with services.reads() as session:
        rows = list_projects(session, after=cursor, limit=limit + 1)
    return records_page(rows, limit, Project, "name")


@router.patch("/{name}", summary="Change a project's priority or quota", response_model=Project)
async def change_one(name: str, wanted: ProjectChange, principal: Admin, change: Change) -> Response:
    """How much of scarce crews the trials of a project get. It counts from each player's next generation."""

    def work(session: Session) -> Reply:
        changed = change_project(session, name, priority=wanted.priority, quota=wanted.quota)
        session.flush()
        shown = Project.model_validate(read_project(session, name))
        return Reply(body=shown, audit=AuditLine(action="project.change", target=f"project/{shown.id}", detail=changed))

    return await change.commit(work)
