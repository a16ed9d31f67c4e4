"""Options that many commands have."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated

import typer

HomeOption = Annotated[Path | None, typer.Option("--home", help="Data folder (LANISTA_HOME; default .lanista).")]
JsonOption = Annotated[bool, typer.Option("--json", help="Print JSON for programs.")]
LimitOption = Annotated[int, typer.Option("--limit", "-n", min=1, max=100_000, help="Show at most this many.")]
