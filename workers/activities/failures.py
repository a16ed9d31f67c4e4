"""Error mapping of the data plane: exceptions become ApplicationErrors whose `Failure` workflows act on."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager

from ray.exceptions import RayError
from temporalio.exceptions import ApplicationError, CancelledError

from orchestrator.artifacts import ArtifactStoreFull, ArtifactStoreUnavailable, DamagedArtifact, MissingArtifact
from orchestrator.catalog import CatalogError
from orchestrator.contracts.errors import Failure
from orchestrator.import_folders import NotImportable
from workers.activities.user_traceback import user_traceback
from workers.algorithms.errors import BadAlgorithm
from workers.bots.protocol import BadBot
from workers.checkpoints import CheckpointMismatch, UnreadableCheckpoint
from workers.crews.errors import BadTask, CrewLost, CrewUnavailable
from workers.games.errors import GameError
from workers.matches.task import BadMatch
from workers.models.contract import BadModel
from workers.rollout.openings import BadOpenings

USER_INPUT_ERRORS = (
    BadTask,
    BadMatch,
    BadModel,
    BadAlgorithm,
    BadBot,
    BadOpenings,
    GameError,
    CatalogError,
    CheckpointMismatch,
    NotImportable,
)
"""Errors in what the user asked for or brought along: the same input fails the same way, so it is not retried."""

KINDS: tuple[tuple[Failure, tuple[type[Exception], ...]], ...] = (
    (Failure.STORE_FULL, (ArtifactStoreFull,)),
    (Failure.STORE_UNAVAILABLE, (ArtifactStoreUnavailable,)),
    (Failure.DAMAGED_CHECKPOINT, (DamagedArtifact, MissingArtifact, UnreadableCheckpoint)),
    (Failure.BAD_INPUT, USER_INPUT_ERRORS),
    (Failure.CREW_LOST, (CrewLost, CrewUnavailable, RayError)),
)


def failure_kind(error: BaseException) -> Failure:
    """The kind of failure; UNKNOWN for any other exception, such as a bug in a user's game."""
    return next((kind for kind, errors in KINDS if isinstance(error, errors)), Failure.UNKNOWN)


def failure_message(error: BaseException) -> str:
    """The message for people. Where the user's own code raised, its part of the traceback follows."""
    kind = failure_kind(error)
    message = f"{type(error).__name__}: {error}" if kind is Failure.UNKNOWN else str(error)
    if kind not in (Failure.UNKNOWN, Failure.BAD_INPUT):
        return message
    frames = user_traceback(error)
    return f"{message}\n{frames}" if frames else message


@contextmanager
def map_errors() -> Iterator[None]:
    """Raise every exception as an ApplicationError of its kind; only errors in user input are non-retryable."""
    try:
        yield
    except (ApplicationError, CancelledError):
        raise
    except Exception as error:
        kind = failure_kind(error)
        raise ApplicationError(failure_message(error), type=kind, non_retryable=kind is Failure.BAD_INPUT) from error
