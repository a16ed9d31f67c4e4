"""Packs the own code that a trial file names, and names it by its archive.

Modules are looked for beside the trial file, in the working folder and on PYTHONPATH, in this order. A module that is
found there is packed with all modules and packages of those folders that it imports. What is not found there is a
matter of the worker's own installation, and keeps its name. What was found and is not packed is listed.
"""

from __future__ import annotations

import ast
import hashlib
import os
import sys
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from lanista.checks.shadowing import PACKAGES
from orchestrator.user_code.code_archives import BadArchive, archived_name, pack

LARGEST_FILE = 1 << 20
"""Larger files of a package are data, and are left out."""
_NOT_OWN = frozenset({*sys.stdlib_module_names, *PACKAGES, "lanista"})
_NAMES = {"game": ("id", "env"), "model": ("id",), "algorithm": ("id",)}
"""Sections, and their options that are names of code."""
_LISTS = ("dataset", "validation_dataset", "render")
"""Options that list files, or names of code: what gives data, and what draws games."""
_LEFT_OUT = frozenset({"__pycache__", "node_modules"})


@dataclass(frozen=True, kw_only=True)
class PackedCode:
    """An archive and its name."""

    data: bytes
    sha256: str
    modules: frozenset[str]
    """The top modules and packages in it."""
    left_out: tuple[str, ...] = ()
    """Files that the code may need and that are not in it, each with the reason."""

    def names(self, name: str) -> str:
        """A name of code as a name in the archive; other names as they are."""
        return archived_name(self.sha256, name) if _is_code(name) and _top(name) in self.modules else name


def code_folders(file: Path | None = None) -> list[Path]:
    """Where modules of one's own are looked for, the first that has one first: the same for a stack and one process.

    A trial file is where it really is, not where a link to it is, as Python has it for scripts.
    """
    beside = [] if file is None else [file.resolve().parent]
    named = [Path(part) for part in os.environ.get("PYTHONPATH", "").split(os.pathsep) if part]
    return list(dict.fromkeys(path.resolve() for path in (*beside, Path.cwd(), *named)))


def file_folders(file: Path | None = None) -> tuple[Path, ...]:
    """Where weights and data that a trial names are looked for in one process: beside its file, here, anywhere."""
    beside = Path.cwd() if file is None else file.resolve().parent
    return tuple(dict.fromkeys((beside, Path.cwd(), Path("/"))))


def pack_code(spec: Mapping[str, Any], folders: Sequence[Path]) -> PackedCode | None:
    """The archive of what the trial names; None where nothing of it is found. Raises BadArchive."""
    found: dict[str, bytes] = {}
    modules: set[str] = set()
    left_out: list[str] = []
    waiting = [_top(name) for name in _names(spec)]
    while waiting:
        module = waiting.pop()
        if module in modules or module in _NOT_OWN:
            continue
        files, missing = _files_of(module, folders)
        left_out += missing
        if files:
            modules.add(module)
            found |= files
            waiting += [each for path, text in files.items() if path.endswith(".py") for each in _imported(path, text)]
    if not found:
        return None
    data = pack(found)
    sha256 = hashlib.sha256(data).hexdigest()
    return PackedCode(data=data, sha256=sha256, modules=frozenset(modules), left_out=tuple(sorted(left_out)))


def with_code(spec: Mapping[str, Any], code: PackedCode) -> dict[str, Any]:
    """The trial with the names of its archive."""
    return _renamed(spec, code.names)


def _names(spec: Mapping[str, Any]) -> list[str]:
    """Every name of code, as `module:attr`, that is imported by its name."""
    found: list[str] = []

    def note(name: str) -> str:
        if _is_code(name):
            found.append(name)
        return name

    _renamed(spec, note)
    return found


def _renamed(spec: Mapping[str, Any], rename: Callable[[str], str]) -> dict[str, Any]:
    """The trial with its names of games, models, algorithms, bots and matchmakers renamed."""

    def of(section: Any, *keys: str) -> Any:
        if not isinstance(section, Mapping):
            return section
        return {
            key: rename(value)
            if key in keys and isinstance(value, str)
            else [rename(each) for each in value]
            if key in _LISTS and isinstance(value, list | tuple)
            else value
            for key, value in section.items()
        }

    made = {key: of(value, *_NAMES[key]) if key in _NAMES else value for key, value in spec.items()}
    if isinstance(game := made.get("game"), Mapping):
        agent = {"agent": _agents(game["agent"], rename)} if "agent" in game else {}
        dump = {"dump": of(game["dump"], "render")} if "dump" in game else {}
        made["game"] = {**game, **agent, **dump}
    if isinstance(league := made.get("league"), Mapping):
        league = of(league, "preset")
        if isinstance(players := league.get("players"), list | tuple):
            league["players"] = [_player(player, of) for player in players]
        made["league"] = league
    if isinstance(budget := made.get("budget"), Mapping) and "until" in budget:
        made["budget"] = {**budget, "until": of(budget["until"], "opponent")}
    return made


def _agents(agent: Any, rename: Callable[[str], str]) -> Any:
    """The agents of a game that calls in: a name, `{id: name}`, several of them, or these by names of the game's."""
    if isinstance(agent, str):
        return rename(agent)
    if isinstance(agent, list | tuple):
        return [_agents(each, rename) for each in agent]
    if not isinstance(agent, Mapping):
        return agent
    if "id" in agent:
        return {**agent, "id": _agents(agent["id"], rename)}
    return {name: _agents(each, rename) for name, each in agent.items()}


def _player(player: Any, of: Callable[..., Any]) -> Any:
    player = of(player, "bot")
    if isinstance(player, Mapping):
        player = {key: of(value, "id") if key in ("model", "algorithm") else value for key, value in player.items()}
    return player


def _is_code(name: str) -> bool:
    """Whether a name is an import path; others are of the catalog, or of files."""
    return ":" in name and "/" not in name


def _top(name: str) -> str:
    return name.partition(":")[0].partition(".")[0]


def _files_of(module: str, folders: Iterable[Path]) -> tuple[dict[str, bytes], list[str]]:
    """The files of a module or package of the first folder that has it, and a line about each file that is left out."""
    for folder in folders:
        package, file = folder / module, folder / f"{module}.py"
        if (package / "__init__.py").is_file():
            return _files_below(package, folder)
        if file.is_file():
            text = file.read_bytes()
            return {file.name: text}, [
                f"{name}: {file.name} names it; files travel only inside a package, a folder with an __init__.py"
                for name in _mentioned(file.name, text, folder)
            ]
    return {}, []


def _files_below(package: Path, folder: Path) -> tuple[dict[str, bytes], list[str]]:
    files: dict[str, bytes] = {}
    left_out: list[str] = []
    for path in _plain_paths(package):
        size = 0 if path.is_symlink() else path.stat().st_size
        if path.is_symlink():
            left_out.append(f"{path}: a symbolic link; only plain files are packed")
        elif path.suffix == ".py" or size <= LARGEST_FILE:
            files[path.relative_to(folder).as_posix()] = path.read_bytes()
        else:
            left_out.append(f"{path}: {size:,} bytes; at most {LARGEST_FILE:,} are packed of a file")
    return files, left_out


def _plain_paths(package: Path) -> Iterator[Path]:
    """Files and symbolic links of a package and of the folders in it, but for hidden and compiled ones."""
    for path in sorted(package.iterdir()):
        if path.name in _LEFT_OUT or path.name.startswith("."):
            continue
        if path.is_dir() and not path.is_symlink():
            yield from _plain_paths(path)
        elif path.is_symlink() or path.is_file():
            yield path


def _mentioned(path: str, text: bytes, folder: Path) -> list[str]:
    """The files and folders beside a module that strings in it name; packages and modules are imported instead."""
    strings = {
        node.value
        for node in ast.walk(_parsed(path, text))
        if isinstance(node, ast.Constant) and isinstance(node.value, str)
    }
    names = {Path(each).parts[0] for each in strings if each.isprintable() and len(each) < 200 and Path(each).parts}
    beside = {entry.name: entry for entry in folder.iterdir()}
    return sorted(
        name
        for name in names & beside.keys()
        if not name.startswith(".") and beside[name].suffix != ".py" and not (beside[name] / "__init__.py").is_file()
    )


def _parsed(path: str, text: bytes) -> ast.Module:
    try:
        return ast.parse(text, path)
    except (SyntaxError, ValueError) as error:
        raise BadArchive(f"{path} is not Python: {error}") from None


def _imported(path: str, text: bytes) -> Iterator[str]:
    """The top modules that a file imports absolutely."""
    for node in ast.walk(_parsed(path, text)):
        if isinstance(node, ast.Import):
            yield from (_top(alias.name) for alias in node.names)
        elif isinstance(node, ast.ImportFrom) and node.module and not node.level:
            yield _top(node.module)
