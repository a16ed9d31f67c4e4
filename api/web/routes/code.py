"""Archives of own code: stored here, imported by workers."""

from __future__ import annotations

import hashlib
from typing import Annotated

from fastapi import APIRouter, Path, Request, Response
from starlette.concurrency import run_in_threadpool

from api.schemas.installation.code import CodeArchive
from api.store.core.engine import Session
from api.web.auth.scopes import Coder, Operator
from api.web.changes import AuditLine, Change, Reply
from api.web.problems import ProblemError
from api.web.responses.serialization import SerializingRoute
from api.web.services import Api
from league.types import CheckpointRef
from orchestrator.storage.artifacts import ArtifactError, ArtifactStoreUnavailable
from orchestrator.user_code.code_archives import KIND, BadArchive, check_archive

router = APIRouter(route_class=SerializingRoute, prefix="/api/v1/code", tags=["trials"])

Sha256 = Annotated[str, Path(pattern="^[0-9a-f]{64}$", description="the archive's hash")]


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


@router.get(
    "/{sha256}",
    summary="Download an archive of own code",
    response_class=Response,
    responses={200: {"content": {"application/zip": {}}, "description": "The archive"}},
)
def download(sha256: Sha256, services: Api, principal: Operator) -> Response:
    """An archive by its hash: processes that serve a version import the code that its trial recorded."""
    ref = CheckpointRef(uri=f"{KIND}/{sha256[:2]}/{sha256}", sha256=sha256, size=0)
    try:
        data = services.artifacts.get(ref)
    except ArtifactStoreUnavailable:
        raise ProblemError(503, "the artifact store does not answer") from None
    except ArtifactError:
        raise ProblemError(404, f"there is no archive of code {sha256}") from None
    return Response(data, media_type="application/zip", headers={"ETag": f'"{sha256}"'})
