"""The manifest of a backup: what it holds. It is written last, so a folder without one is no backup."""

from __future__ import annotations

from pathlib import Path

from pydantic import BaseModel, ConfigDict, Field, ValidationError

from api.store.core.errors import Conflict
from orchestrator.storage.durable_files import write_durably

MANIFEST = "backup.json"
FORMAT = 1


class TableFile(BaseModel):
    """The rows of one table, as Postgres writes them in text, compressed by gzip."""

    model_config = ConfigDict(frozen=True)

    name: str
    columns: list[str]
    rows: int
    sha256: str = Field(description="of the compressed file")


class Manifest(BaseModel):
    """What a backup holds."""

    model_config = ConfigDict(frozen=True)

    format: int = FORMAT
    made_at: str = Field(description="when the database was read, in UTC")
    revision: str = Field(description="the revision of the schema")
    last_event: int = Field(description="the newest event in it")
    commits: dict[str, int] = Field(description="the last commit of each trial, by the trial's id")
    tables: list[TableFile]
    sequences: dict[str, int]
    artifacts: int
    artifact_bytes: int

    def write(self, folder: Path) -> None:
        """Make the folder a backup."""
        write_durably(folder / MANIFEST, self.model_dump_json(indent=1).encode())

    @classmethod
    def read(cls, folder: Path) -> Manifest:
        """The manifest of a backup; Conflict if the folder is none, or of a newer kind."""
        try:
            found = cls.model_validate_json((folder / MANIFEST).read_bytes())
        except FileNotFoundError:
            raise Conflict(f"{folder} is no complete backup: it has no {MANIFEST}, which is written last") from None
        except ValidationError as error:
            raise Conflict(f"{folder / MANIFEST} cannot be read: {error.errors()[0]['msg']}") from None
        if found.format != FORMAT:
            raise Conflict(f"{folder} is a backup of format {found.format}; this release reads format {FORMAT}")
        return found


def table_file(folder: Path, table: str) -> Path:
    """Where the rows of a table are."""
    return folder / "tables" / f"{table}.gz"


def artifact_folder(folder: Path) -> Path:
    """Where the artifacts are: an artifact store of its own."""
    return folder / "artifacts"
