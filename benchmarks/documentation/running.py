"""Runs what the pages mark with `<!-- run -->`, each page in a folder of its own, as a reader would."""

from __future__ import annotations

import os
import subprocess
import sys
import tempfile
from collections.abc import Iterator
from pathlib import Path

from benchmarks.documentation.blocks import ROOT, Block, blocks_of

LONGEST_SECONDS = 300


def runs_anything(page: Path) -> bool:
    """Whether a page has a block that is run."""
    return any(block.runs for block in blocks_of(page))


def problems_of_running(page: Path) -> Iterator[str]:
    """Write the page's files, run its commands in order, then its Python as one program."""
    blocks = list(blocks_of(page))
    with tempfile.TemporaryDirectory() as name:
        folder = Path(name)
        (folder / "examples").symlink_to(ROOT / "examples")
        for block in blocks:
            if block.file:
                (folder / block.file).write_text(block.text, encoding="utf-8")
        for block in blocks:
            if block.runs and block.language != "python":
                yield from _failure(block, ["/bin/bash", "-euo", "pipefail", "-c", _script(block)], folder)
        programs = [block for block in blocks if block.runs and block.language == "python"]
        if programs:
            text = "\n".join(block.text for block in programs)
            yield from _failure(programs[0], [sys.executable, "-c", text], folder)


def _script(block: Block) -> str:
    if block.language != "console":
        return block.text
    return "\n".join(line.removeprefix("$ ") for line in block.text.splitlines() if line.startswith("$ "))


def _failure(block: Block, command: list[str], folder: Path) -> Iterator[str]:
    environment = {
        **os.environ,
        "PATH": f"{Path(sys.executable).parent}{os.pathsep}{os.environ['PATH']}",
        "LANISTA_HOME": str(folder / "home"),
        "MPLBACKEND": "agg",
    }
    try:
        ran = subprocess.run(
            command, cwd=folder, env=environment, capture_output=True, text=True, check=False, timeout=LONGEST_SECONDS
        )
    except subprocess.TimeoutExpired:
        yield f"{block.place}: did not end within {LONGEST_SECONDS} seconds"
        return
    if ran.returncode:
        yield f"{block.place}: ended with {ran.returncode}\n{ran.stdout[-1500:]}\n{ran.stderr[-1500:]}"
