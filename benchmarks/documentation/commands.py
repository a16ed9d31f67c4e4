"""Commands that the documentation shows: each is parsed by what would run it, and none is run."""

from __future__ import annotations

import re
import shlex
import subprocess
import tomllib
from collections.abc import Iterator
from functools import cache
from importlib.util import find_spec
from typing import Any

import typer

from benchmarks.documentation.blocks import ROOT
from lanista.cli import app

OTHER_PROGRAMS = frozenset(
    {"$EDITOR", "cat", "cd", "cp", "curl", "docker", "export", "for", "done", "git", "grep", "jq", "openssl", "pytest"}
    | {"install", "python", "ray", "sed", "tail", "tar", "temporal", "useradd"}
    | {"kubectl", "deploy/kubernetes/make-secrets.sh", "sbatch", "scancel", "squeue", "df", "chronyc", "psql"}
)
"""Programs of others: their commands are read by bash alone."""
USAGE_ERROR: Any = typer.BadParameter.__base__
"""What the command line raises for arguments that it does not take."""
_ENDS = {"&&", "||", ";", "|", "&", "(", ")", ";;"}
_ASSIGNMENT = re.compile(r"\w+=")


def problems_of_script(text: str) -> list[str]:
    """What is wrong with a shell script, or with one of its commands."""
    read = subprocess.run(["/bin/bash", "-n"], input=text, capture_output=True, text=True, check=False)
    if read.returncode:
        return [f"bash does not read it: {read.stderr.strip()}"]
    return [problem for words in commands_in(text) for problem in problems_of_command(words)]


def commands_in(text: str) -> Iterator[list[str]]:
    """The simple commands of a script, without assignments before them and redirections after."""
    for line in re.sub(r"\\\n", " ", text).splitlines():
        lexer = shlex.shlex(line, posix=True, punctuation_chars=True)
        lexer.wordchars += "$@%:+[]{},^"
        lexer.commenters = "#"
        words: list[str] = []
        for token in [*lexer, ";"]:
            if token not in _ENDS:
                words.append(token)
                continue
            command = _bare(words)
            if command:
                yield command
            words = []


def _bare(words: list[str]) -> list[str]:
    """A command without `NAME=value` before it and `> file` after it."""
    while words and (_ASSIGNMENT.match(words[0]) or words[0] in ("do", "sudo")):
        words = words[1:]
    cut = next((place for place, word in enumerate(words) if set(word) <= set("<>") and word), len(words))
    return words[:cut]


def problems_of_command(words: list[str]) -> list[str]:
    """What is wrong with one command."""
    program = words[0].removeprefix(".venv/bin/")
    missing = [word for word in words[1:] if re.match(r"(examples|docs|benchmarks)/[\w/.-]+$", word)]
    problems = [f"{word} does not exist" for word in missing if not (ROOT / word).exists()]
    if program == "lanista":
        return problems + problems_of_lanista(words[1:])
    if program == "make":
        return problems + [f"make has no target {word}" for word in words[1:] if _is_no_target(word)]
    if program in ("python", "python3") and words[1:2] == ["-m"]:
        return problems + _problems_of_module(words[2])
    if program == "pip":
        return problems + _problems_of_extras(words)
    if program in OTHER_PROGRAMS or program.startswith("./"):  # ./ is the reader's own program
        return problems
    return [*problems, f"no rule for the program {program}: see benchmarks/documentation/commands.py"]


def _is_no_target(word: str) -> bool:
    return not word.startswith("-") and "=" not in word and word not in _targets()


@cache
def _targets() -> frozenset[str]:
    """Targets of the Makefile here, and of the projects that `lanista new` makes."""
    files = [ROOT / "Makefile", *(ROOT / "lanista" / "new" / "templates").rglob("Makefile*")]
    text = "".join(path.read_text(encoding="utf-8") for path in files)
    return frozenset(re.findall(r"^([a-z-]+):", text, re.M))


def _problems_of_module(module: str) -> list[str]:
    try:
        found = find_spec(module)
    except ModuleNotFoundError:
        found = None
    return [] if found or module in ("venv", "pip") else [f"python has no module {module}"]


def _problems_of_extras(words: list[str]) -> list[str]:
    named = {extra for word in words for found in re.findall(r"^lanista\[(.+)\]", word) for extra in found.split(",")}
    declared = tomllib.loads((ROOT / "pyproject.toml").read_text(encoding="utf-8"))["project"]["optional-dependencies"]
    return [f"lanista has no extra {extra}" for extra in sorted(named - set(declared))]


@cache
def lanista_command() -> Any:
    """The command line as click has it."""
    return typer.main.get_command(app)


def problems_of_lanista(arguments: list[str]) -> list[str]:
    """What the command line itself says about these arguments, files that are missing aside."""
    command, name, rest = lanista_command(), "lanista", list(arguments)
    context: Any = None
    try:
        while True:
            _allow_missing_files(command)
            context = command.make_context(name, rest, parent=context)
            if not hasattr(command, "commands"):
                return []
            rest = [*context._protected_args, *context.args]
            if not rest:
                return (
                    [] if command.invoke_without_command else [f"lanista {' '.join(arguments)}: a command is missing"]
                )
            found, command, rest = command.resolve_command(context, rest)
            name = found or ""
    except typer.Exit:
        return []  # --help
    except USAGE_ERROR as error:
        return [f"lanista {' '.join(arguments)}: {error.format_message()}"]


def _allow_missing_files(command: Any) -> None:
    """A guide's files are its readers': only the form of a command is checked."""
    for parameter in command.params:
        parameter.type_descriptor.parameter_info.exists = False


def problems_of_mention(text: str) -> list[str]:
    """What is wrong with a command in the middle of a sentence, whose arguments may be left out or be placeholders."""
    words = text.split()[1:]
    command = lanista_command()
    while words and hasattr(command, "commands") and re.fullmatch(r"[a-z][a-z-]*", words[0]):
        if words[0] not in command.commands:
            return [f"`{text}`: there is no command {words[0]}"]
        command = command.commands[words.pop(0)]
    if command.context_settings.get("ignore_unknown_options"):
        return []
    known = {"--help", "-h", "--install-completion", "--show-completion"}
    known |= {option for parameter in command.params for option in (*parameter.opts, *parameter.secondary_opts)}
    named = [word.partition("=")[0] for word in words if re.match(r"--?[a-z]", word)]
    return [f"`{text}`: there is no option {option}" for option in named if option not in known]
