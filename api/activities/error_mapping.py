"""Maps the store's errors to application errors with a type, which workflows handle."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager
from datetime import timedelta

from pydantic import ValidationError
from sqlalchemy.exc import DataError, StatementError
from temporalio.exceptions import ApplicationError, ApplicationErrorCategory

from api.store.core.errors import Conflict, NotFound, NotYet
from league.errors import LeagueError
from orchestrator.catalog import CatalogError
from orchestrator.contracts import Failure
from orchestrator.spec import InvalidTrial
from orchestrator.storage.artifacts import ArtifactStoreFull, DamagedArtifact, MissingArtifact
from orchestrator.storage.played_games import GamesLost

RETRY_DELAY = timedelta(seconds=0.5)


@contextmanager
def map_errors() -> Iterator[None]:
    """Raise permanent errors as non-retryable application errors. Others, such as a lost database, pass through."""
    try:
        yield
    except NotFound as error:
        raise _final(error, Failure.NOT_FOUND) from error
    except NotYet as error:
        # not a failure: Temporal retries at a fixed delay, and the category keeps it out of the logs
        category = ApplicationErrorCategory.BENIGN
        raise ApplicationError(str(error), next_retry_delay=RETRY_DELAY, category=category) from error
    except (Conflict, InvalidTrial, ValidationError, LeagueError, CatalogError, DataError) as error:
        raise _final(error, Failure.BAD_INPUT) from error
    except (DamagedArtifact, MissingArtifact) as error:
        raise _final(error, Failure.DAMAGED_CHECKPOINT) from error
    except GamesLost as error:
        raise _final(error, Failure.GAMES_LOST) from error
    except ArtifactStoreFull as error:
        raise ApplicationError(str(error), type=Failure.STORE_FULL) from error
    except StatementError as error:
        if isinstance(error.orig, ValueError | TypeError):  # a value that no column can hold, such as a malformed id
            raise _final(error, Failure.BAD_INPUT) from error
        raise


def _final(error: Exception, failure: Failure) -> ApplicationError:
    return ApplicationError(str(error), type=failure, non_retryable=True)
