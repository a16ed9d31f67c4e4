"""Archives of own code."""

from __future__ import annotations

from pydantic import Field

from api.schemas.base import Answer


class CodeArchive(Answer):
    """An archive of own code that was stored."""

    sha256: str = Field(description="its hash: a trial names its code as lanista_code_<sha256>.module:attr")
    size: int = Field(description="its size in bytes", examples=[2048])
    files: list[str] = Field(description="the files in it", examples=[["my_game.py"]])
