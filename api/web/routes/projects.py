"""Projects: namespaces of trials and aliases."""

from __future__ import annotations

from fastapi import APIRouter, Response

from api.schemas.base import Page
from api.schemas.installation.projects import Project
from api.store.trials.projects import list_projects
from api.web.auth.scopes import Viewer
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
