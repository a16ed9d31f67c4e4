"""Model versions: list, lineage, checkpoints, import."""

from __future__ import annotations

from collections.abc import AsyncIterator, Iterable, Iterator
from itertools import chain
from typing import Annotated
from uuid import UUID

from fastapi import APIRouter, Depends, Query, Request, Response
from fastapi.responses import StreamingResponse
from starlette.concurrency import run_in_threadpool

from api.schemas.base import Page
from api.schemas.versions import Version, VersionDetail
from api.store.checkpoints.damaged import is_known_damaged
from api.store.checkpoints.garbage import keep_checkpoint
from api.store.core.engine import Session
from api.store.players.import_weights import import_version
from api.store.players.pruned import pruned_at
from api.store.players.reads import (
    aliases_of,
    get_version,
    lineage,
    list_versions,
    read_version,
    returns_of,
)
from api.store.players.roster import player_named
from api.store.trials.reads import get_trial, require_trial
from api.store.trials.spec import algorithm_of, model_of, spec_of
from api.web.auth.scopes import Operator, Viewer
from api.web.changes import AuditLine, Change, Reply
from api.web.problems import ProblemError
from api.web.responses.paging import EntityId, IdCursor, Limit, text_of
from api.web.responses.serialization import SerializingRoute, record_response, records_page
from api.web.services import Api, Services
from api.web.temporal.ask_worker import ask
from league.types import CheckpointRef
from orchestrator.contracts.interactive import ImportWeights
from orchestrator.contracts.interactive import import_weights as question
from orchestrator.spec.values import NAME_PATTERN
from orchestrator.storage.artifacts import ArtifactStoreUnavailable, DamagedArtifact, MissingArtifact


async def _upload_slot(request: Request, services: Api) -> AsyncIterator[None]:
    declared = request.headers.get("content-length", "")
    with services.uploads.slot(int(declared) if declared.isdecimal() else None):
        yield


BINARY = "application/octet-stream"
SENT_BYTES = 1 << 20
UploadSlot = Annotated[None, Depends(_upload_slot)]
"""A parameter before `Change`, which reads the body: without a slot the body is not read."""

router = APIRouter(route_class=SerializingRoute, prefix="/api/v1", tags=["versions"])


@router.get("/trials/{trial_id}/versions", summary="List versions", response_model=Page[Version])
def list_all(
    trial_id: EntityId,
    services: Api,
    principal: Viewer,
    player_id: Annotated[UUID | None, Query(description="only of this player")] = None,
    limit: Limit = 50,
    cursor: IdCursor = None,
) -> Response:
    """Versions, the newest first."""
    with services.reads() as session:
        require_trial(session, str(trial_id))
        rows = list_versions(
            session, str(trial_id), before=text_of(cursor), limit=limit + 1, player_id=text_of(player_id)
        )
    return records_page(rows, limit, Version)


@router.get("/versions/{version_id}", summary="Get a version and its lineage", response_model=VersionDetail)
def get_one(version_id: EntityId, services: Api, principal: Viewer) -> Response:
    """The version, its aliases, and the versions its weights descend from."""
    with services.reads() as session:
        record = read_version(session, str(version_id))
        record["pruned_at"] = pruned_at(session, str(version_id))
        record["damaged"] = is_known_damaged(session, str(version_id))
        record["returns"] = returns_of(session, str(version_id))
        record["aliases"] = aliases_of(session, str(version_id))
        record["lineage"] = lineage(session, str(version_id))
    return record_response(record, VersionDetail)


@router.get(
    "/versions/{version_id}/checkpoint",
    summary="Download a checkpoint",
    response_class=Response,
    responses={
        200: {"content": {"application/octet-stream": {"schema": {"type": "string", "format": "binary"}}}},
        409: {"description": "The checkpoint is pruned, missing or damaged"},
    },
)
def checkpoint(version_id: EntityId, services: Api, principal: Viewer) -> Response:
    """The weights as safetensors, verified against their hash."""
    with services.reads() as session:
        version, player = get_version(session, str(version_id))
        pruned = pruned_at(session, str(version_id))
    if version.uri is None or version.sha256 is None or version.size is None:
        raise ProblemError(404, f"{player} is a bot and has no checkpoint")
    if pruned is not None:
        problem = f"the checkpoint of version {version_id} was pruned on {pruned:%Y-%m-%d}"
        raise ProblemError(409, problem, sha256=version.sha256)
    blocks = services.artifacts.blocks(CheckpointRef(uri=version.uri, sha256=version.sha256, size=version.size))
    try:
        first = next(blocks)
    except (MissingArtifact, DamagedArtifact) as error:
        words = "missing" if isinstance(error, MissingArtifact) else "damaged"
        raise ProblemError(409, f"the checkpoint of version {version_id} is {words}", sha256=version.sha256) from None
    except ArtifactStoreUnavailable:
        raise ProblemError(503, "the artifact store does not answer; try again") from None
    headers = {
        "ETag": f'"{version.sha256}"',
        "Content-Disposition": f'attachment; filename="{player}-{version.number}.safetensors"',
        "Cache-Control": "private, max-age=31536000, immutable",
    }
    if len(first) == version.size:
        return Response(first, headers=headers, media_type=BINARY)
    # Each block is checked before it is sent. Should a later one be damaged, the body ends before its declared length.
    headers["Content-Length"] = str(version.size)
    return StreamingResponse(_small(chain([first], blocks)), headers=headers, media_type=BINARY)


def _small(blocks: Iterable[bytes]) -> Iterator[bytes]:
    """The bytes in pieces of which the server may hold some for a caller that reads slowly."""
    for block in blocks:
        for start in range(0, len(block), SENT_BYTES):
            yield block[start : start + SENT_BYTES]


@router.post(
    "/versions",
    summary="Import weights",
    status_code=201,
    response_model=Version,
    openapi_extra={
        "requestBody": {
            "required": True,
            "description": "a safetensors file, such as a checkpoint that was downloaded",
            "content": {"application/octet-stream": {"schema": {"type": "string", "format": "binary"}}},
        }
    },
)
async def import_weights(
    request: Request,
    principal: Operator,
    slot: UploadSlot,
    change: Change,
    trial_id: Annotated[UUID, Query(description="the trial to add the player to")],
    name: Annotated[str, Query(pattern=NAME_PATTERN, description="name of the new player", examples=["veteran"])],
    like: Annotated[
        str | None,
        Query(max_length=63, description="the player whose model the weights are of; without it, the trial's model"),
    ] = None,
) -> Response:
    """Add a frozen player with weights made elsewhere. A worker checks them against the trial's or a player's model.

    The version's id can then be named as `weights` or `initial_weights` of other trials of this game and model.
    """
    services, trial = change.services, str(trial_id)
    data = await request.body()
    if not data:
        raise ProblemError(422, "the body must be a safetensors file")

    async def checked_weights() -> CheckpointRef:
        try:
            message = await run_in_threadpool(_keep_upload, services, trial, like, data)
        except ArtifactStoreUnavailable:
            raise ProblemError(503, "the artifact store does not answer or is full") from None
        try:
            return await ask(services.temporal, question, message)
        finally:
            await run_in_threadpool(services.uploads.discard, message.uploaded)

    def work(session: Session, checked: CheckpointRef) -> Reply:
        keep_checkpoint(session, services.artifacts, checked)
        row = import_version(session, trial, name, checked, like=like)
        session.refresh(row)
        return Reply(
            status=201,
            body=Version.model_validate(read_version(session, row.id)),
            headers={"Location": f"/api/v1/versions/{row.id}"},
            audit=AuditLine(
                action="version.import",
                target=f"version/{row.id}",
                detail={"trial_id": trial, "player": name, "sha256": checked.sha256},
            ),
        )

    return await change.commit_after(checked_weights, work)


def _keep_upload(services: Services, trial_id: str, like: str | None, data: bytes) -> ImportWeights:
    """Store the uploaded bytes; returns what a worker needs to check them."""
    with services.reads() as session:
        spec = spec_of(get_trial(session, trial_id))
        player = None if like is None else player_named(session, trial_id, like)
    model, algorithm = (None, None) if player is None else (player.model, player.algorithm)
    return ImportWeights(
        game=spec.game.component,
        model=model_of(spec, model).component,
        uploaded=services.uploads.keep(data),
        algorithm=algorithm_of(spec, algorithm, {}),
    )
