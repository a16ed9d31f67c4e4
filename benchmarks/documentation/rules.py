"""What is checked of each block of code, by its language."""

from __future__ import annotations

import ast
import json
import re
import tempfile
import tomllib
from collections.abc import Callable, Iterator
from importlib import import_module
from pathlib import Path
from typing import Any

import yaml

from benchmarks.documentation.blocks import Block, blocks_of, prose_of
from benchmarks.documentation.commands import problems_of_mention, problems_of_script
from lanista.cli.local.bray_config import NotBray, convert_bray
from lanista.settings import ALL_SETTINGS
from orchestrator.spec.reading.loading import parse_trial
from orchestrator.spec.reading.problems import InvalidTrial
from orchestrator.spec.reading.sweep_loading import parse_sweep
from orchestrator.spec.reading.tournament_loading import load_tournament_file
from orchestrator.spec.trial import TrialFile

ROOT = Path(__file__).parents[2]
OURS = ("lanista",)
"""Packages whose names are looked up; those of a reader's own files cannot be."""

NOT_CHECKED = {
    "text": "diagrams, formulas, output: no command may hide in it",
    "proto": "tests/unit/rpc/test_guide.py generates code from it and calls it",
    "cpp": "tests/unit/docs/test_docs_check.py lists its calls in clients/cpp/lanista_gamecore.hpp",
}
"""The languages that no rule reads, and what checks them instead."""


def problems_of_page(page: Path) -> Iterator[str]:
    """What is wrong with a page's blocks, and with the commands in its sentences."""
    for block in blocks_of(page):
        for problem in problems_of_block(block):
            yield f"{block.place}: {problem}"
    for number, line in enumerate(prose_of(page).splitlines(), start=1):
        for mention in re.findall(r"`(lanista [a-z-][^`]*)`", line):
            for problem in problems_of_mention(mention):
                yield f"{page}:{number}: {problem}"


def problems_of_block(block: Block) -> list[str]:
    """What is wrong with a block; a language without a rule is wrong too."""
    rule = RULES.get(block.language)
    if rule is None:
        allowed = ", ".join(sorted(RULES))
        return [f"no rule for the language {block.language!r}; allowed are {allowed}"]
    return rule(block)


def _python(block: Block) -> list[str]:
    """It compiles, and what it imports from Lanista exists."""
    try:
        tree = ast.parse(block.text)
    except SyntaxError as error:
        return [f"Python does not read it: {error}"]
    return [problem for node in ast.walk(tree) for problem in _problems_of_import(node)]


def _problems_of_import(node: ast.AST) -> list[str]:
    if isinstance(node, ast.Import):
        return [problem for name in node.names for problem in _missing(name.name, [])]
    if isinstance(node, ast.ImportFrom) and node.module and not node.level:
        return _missing(node.module, [name.name for name in node.names])
    return []


def _missing(module: str, names: list[str]) -> list[str]:
    if module.partition(".")[0] not in OURS:
        return []
    try:
        found = import_module(module)
    except ModuleNotFoundError:
        return [f"there is no module {module}"]
    return [f"{module} has no {name}" for name in names if not hasattr(found, name) and not _is_module(module, name)]


def _is_module(package: str, name: str) -> bool:
    try:
        import_module(f"{package}.{name}")
    except ModuleNotFoundError:
        return False
    return True


def _yaml(block: Block) -> list[str]:
    """A trial, tournament or sweep file, or sections of a trial file: checked as such. All else must be YAML."""
    try:
        data = yaml.safe_load(block.text)
    except yaml.YAMLError as error:
        return [f"this is no YAML: {error}"]
    keys = set(data) if isinstance(data, dict) else set()
    if "entrants" in keys:
        return _tournament(block.text)
    if "space" in keys:
        return _sweep(block.text)
    if keys and any(isinstance(part, dict) and "kind" in part for part in data.values()):
        return _bray(data)
    if keys and keys <= set(TrialFile.model_fields):
        return _trial(block.text if "game" in keys else f"{block.text}\ngame: {{id: connect_four}}\n")
    return [f"neither a trial file nor a tournament or sweep file: {sorted(keys)}"]


def _sweep(text: str) -> list[str]:
    """A sweep file; a base is named from the folder of the examples of sweeps."""
    try:
        parse_sweep(text, folder=ROOT / "examples" / "sweeps")
    except InvalidTrial as error:
        return [str(problem) for problem in error.problems]
    return []


def _bray(config: dict[str, Any]) -> list[str]:
    """A configuration of Bray's: what the converter makes of it is a trial file."""
    try:
        return _trial(convert_bray(config).text)
    except NotBray as error:
        return [str(error)]


def _trial(text: str) -> list[str]:
    try:
        parse_trial(text)
    except InvalidTrial as error:
        return [str(error)]
    return []


def _tournament(text: str) -> list[str]:
    with tempfile.TemporaryDirectory() as folder:
        path = Path(folder) / "field.yaml"
        path.write_text(text, encoding="utf-8")
        try:
            load_tournament_file(path)
        except ValueError as error:
            return [str(error)]
    return []


def _shell(block: Block) -> list[str]:
    return problems_of_script(block.text)


def _console(block: Block) -> list[str]:
    """Lines with a prompt are commands, the others their output."""
    lines = [line.removeprefix("$ ") for line in block.text.splitlines() if line.startswith("$ ")]
    return problems_of_script("\n".join(lines)) if lines else ["no line has the prompt '$ '"]


def _json(block: Block) -> list[str]:
    try:
        json.loads(block.text)
    except ValueError as error:
        return [f"this is no JSON: {error}"]
    return []


def _toml(block: Block) -> list[str]:
    """A `lanista.toml`: each key is a setting."""
    try:
        keys = set(tomllib.loads(block.text))
    except tomllib.TOMLDecodeError as error:
        return [f"this is no TOML: {error}"]
    known = {field for group in ALL_SETTINGS for field in group.model_fields}
    return [f"{key} is no setting" for key in sorted(keys - known)]


def _text(block: Block) -> list[str]:
    hidden = [line for line in block.text.splitlines() if re.match(r"(\$ |lanista |make |pip install )", line)]
    return [f"a command in a block of text: {line}" for line in hidden]


def _left_out(block: Block) -> list[str]:
    return []


RULES: dict[str, Callable[[Block], list[str]]] = {
    "python": _python,
    "yaml": _yaml,
    "sh": _shell,
    "bash": _shell,
    "console": _console,
    "json": _json,
    "toml": _toml,
    "text": _text,
    "proto": _left_out,
    "cpp": _left_out,
}
