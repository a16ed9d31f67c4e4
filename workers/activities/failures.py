"""Error mapping of the data plane: exceptions become ApplicationErrors whose `Failure` workflows act on."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager

from ray.exceptions import RayError
from temporalio.exceptions import ApplicationError, CancelledError

from orchestrator.catalog import CatalogError
from orchestrator.contracts.errors import Failure
from orchestrator.storage.artifacts import ArtifactStoreFull, ArtifactStoreUnavailable, DamagedArtifact, MissingArtifact
from orchestrator.user_code.code_archives import plain_name
from orchestrator.user_code.import_folders import NotImportable
from workers.algorithms.errors import BadAlgorithm
from workers.bots.protocol import BadBot
from workers.buffers.errors import BadData
from workers.checkpoints import CheckpointMismatch, UnreadableCheckpoint
from workers.crews.errors import BadTask, CrewLost, CrewUnavailable
from workers.games.errors import GameError
from workers.gateway.recording.errors import RecordingError
from workers.matches.task import BadMatch
from workers.models.contract import BadModel
from workers.rollout.openings import BadOpenings
from workers.search.errors import BadSearch
from workers.user_errors import UserCodeError, as_user_error
from workers.user_traceback import user_traceback

USER_INPUT_ERRORS = (
    BadTask,
    BadMatch,
    BadModel,
    BadAlgorithm,
    BadBot,
    BadData,
    BadOpenings,
    BadSearch,
    GameError,
    CatalogError,
    CheckpointMismatch,
    NotImportable,
    RecordingError,
)
"""Errors in what the user asked for or brought along: the same input fails the same way, so it is not retried."""

KINDS: tuple[tuple[Failure, tuple[type[Exception], ...]], ...] = (
    (Failure.STORE_FULL, (ArtifactStoreFull,)),
    (Failure.STORE_UNAVAILABLE, (ArtifactStoreUnavailable,)),
    (Failure.DAMAGED_CHECKPOINT, (DamagedArtifact, MissingArtifact, UnreadableCheckpoint)),
    (Failure.BAD_INPUT, USER_INPUT_ERRORS),
    (Failure.USER_CODE, (UserCodeError,)),
    (Failure.CREW_LOST, (CrewLost, CrewUnavailable, RayError)),
)


def failure_kind(error: BaseException) -> Failure:
    """The kind of failure; UNKNOWN for any exception that neither has a kind nor comes from user code."""
    return next((kind for kind, errors in KINDS if isinstance(error, errors)), Failure.UNKNOWN)


def failure_message(error: BaseException) -> str:
    """The message for people. Where the user's own code raised, its part of the traceback follows."""
    if isinstance(error, Exception):
        error = as_user_error(error)
    kind = failure_kind(error)
    message = plain_name(f"{type(error).__name__}: {error}" if kind is Failure.UNKNOWN else str(error))
    if kind not in (Failure.UNKNOWN, Failure.BAD_INPUT, Failure.USER_CODE):
        return message
    frames = error.frames if isinstance(error, UserCodeError) else user_traceback(error)
    return f"{message}\n{frames}" if frames else message


@contextmanager
def map_errors() -> Iterator[None]:
    """Raise every exception as an ApplicationError of its kind; only errors in user input are non-retryable."""
    try:
        yield
    except (ApplicationError, CancelledError):
        raise
    except Exception as raised:
        error = as_user_error(raised)
        kind = failure_kind(error)
        final = kind is Failure.BAD_INPUT
        raise ApplicationError(failure_message(error), type=kind, non_retryable=final) from raised
