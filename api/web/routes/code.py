"""Archives of own code: stored here, imported by workers."""

from __future__ import annotations

import hashlib

from fastapi import APIRouter, Request, Response
from starlette.concurrency import run_in_threadpool

from api.schemas.code import CodeArchive
from api.store.core.engine import Session
from api.web.auth.scopes import Coder
from api.web.changes import AuditLine, Change, Reply
from api.web.problems import ProblemError
from api.web.responses.serialization import SerializingRoute
from orchestrator.artifacts import ArtifactStoreUnavailable
from orchestrator.code_archives import KIND, BadArchive, check_archive

router = APIRouter(route_class=SerializingRoute, prefix="/api/v1/code", tags=["trials"])


@router.post(
    "",
    summary="Store an archive of own code",
    status_code=201,
    response_model=CodeArchive,
    openapi_extra={
        "requestBody": {
            "required": True,
            "description": "a zip file of Python modules and packages",
            "content": {"application/octet-stream": {"schema": {"type": "string", "format": "binary"}}},
        }
    },
)
async def store(request: Request, principal: Coder, change: Change) -> Response:
    """Store Python modules under their hash. A trial names what is in them as `lanista_code_<sha256>.module:attr`.

    Nothing is imported here; workers import what a trial names. The same bytes twice are one archive.
    """
    data = await request.body()
    try:
        files = await run_in_threadpool(check_archive, data)
    except BadArchive as error:
        raise ProblemError(422, f"the body must be an archive of code: {error}") from None
    sha256 = hashlib.sha256(data).hexdigest()

    async def keep() -> None:
        try:
            await run_in_threadpool(change.services.artifacts.put, data, kind=KIND)
        except ArtifactStoreUnavailable:
            raise ProblemError(503, "the artifact store does not answer or is full") from None

    def work(session: Session, _: None) -> Reply:
        return Reply(
            status=201,
            body=CodeArchive(sha256=sha256, size=len(data), files=files),
            audit=AuditLine(action="code.upload", target=f"code/{sha256}", detail={"files": files[:100]}),
        )

    return await change.commit_after(keep, work)
