"""Which kind of failure an error of the data plane is, in the words that workflows act upon."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager

from ray.exceptions import RayError
from temporalio.exceptions import ApplicationError, CancelledError

from orchestrator.artifacts import ArtifactStoreFull, ArtifactStoreUnavailable, DamagedArtifact, MissingArtifact
from orchestrator.catalog import CatalogError
from orchestrator.contracts.errors import Failure
from workers.bots.protocol import BadBot
from workers.checkpoints import CheckpointMismatch, UnreadableCheckpoint
from workers.crews.errors import BadTask, CrewLost, CrewUnavailable
from workers.games.errors import BadGame
from workers.matches.task import BadMatch
from workers.models.contract import BadModel

KINDS: tuple[tuple[Failure, tuple[type[Exception], ...]], ...] = (
    (Failure.STORE_FULL, (ArtifactStoreFull,)),
    (Failure.STORE_UNAVAILABLE, (ArtifactStoreUnavailable,)),
    (Failure.DAMAGED_CHECKPOINT, (DamagedArtifact, MissingArtifact, UnreadableCheckpoint)),
    (Failure.BAD_INPUT, (BadTask, BadMatch, BadModel, BadGame, BadBot, CatalogError, CheckpointMismatch)),
    (Failure.CREW_LOST, (CrewLost, CrewUnavailable, RayError)),
)


def failure_kind(error: BaseException) -> Failure:
    """The kind, or UNKNOWN for what nobody foresaw, such as a bug in a user's game."""
    return next((kind for kind, errors in KINDS if isinstance(error, errors)), Failure.UNKNOWN)


@contextmanager
def named_failures() -> Iterator[None]:
    """Turn errors of the data plane into failures with a kind and a message for a person."""
    try:
        yield
    except (ApplicationError, CancelledError):
        raise
    except Exception as error:
        kind = failure_kind(error)
        words = str(error) if kind is not Failure.UNKNOWN else f"{type(error).__name__}: {error}"
        raise ApplicationError(words, type=kind, non_retryable=kind is Failure.BAD_INPUT) from error
