"""Projects: namespaces of trials and aliases."""

from __future__ import annotations

from fastapi import APIRouter

from api.schemas.base import Page
from api.schemas.projects import Project
from api.store.trials.projects import CountedProject, list_projects
from api.web.auth.scopes import Viewer
from api.web.responses.paging import Limit, NameCursor, page_of
from api.web.responses.serialization import ReadyRoute
from api.web.services import Api

router = APIRouter(route_class=ReadyRoute, prefix="/api/v1/projects", tags=["projects"])


@router.get("", summary="List projects")
def projects(services: Api, principal: Viewer, limit: Limit = 100, cursor: NameCursor = None) -> Page[Project]:
    """Projects by name. A project is made with its first trial."""
    with services.reads() as session:
        rows = list_projects(session, after=cursor, limit=limit + 1)
        return page_of(rows, limit, _shown, lambda project: project.name)


def _shown(row: CountedProject) -> Project:
    project, trials, running = row
    return Project(id=project.id, name=project.name, created_at=project.created_at, trials=trials, running=running)
