"""Write the reference of trial files, commands, endpoints and Python names into a folder."""

from __future__ import annotations

import argparse
from collections.abc import Callable
from pathlib import Path

from benchmarks.documentation.reference import command_line, python_api, rest, trial_file

PAGES: dict[str, Callable[[], str]] = {
    "trial-file.md": trial_file.page,
    "commands.md": command_line.page,
    "endpoints.md": rest.page,
    "python.md": python_api.page,
}


def main() -> None:
    """Write all pages."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("folder", nargs="?", type=Path, default=Path("build/reference"))
    folder: Path = parser.parse_args().folder
    folder.mkdir(parents=True, exist_ok=True)
    for name, write in PAGES.items():
        (folder / name).write_text(write(), encoding="utf-8")
        print(folder / name)


if __name__ == "__main__":
    main()
