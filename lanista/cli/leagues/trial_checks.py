"""Checks of a trial file: its text, then its components, on a worker of the stack or in this process."""

from __future__ import annotations

import re
from collections.abc import Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Any

import typer
from rich.markup import escape

from lanista.cli.connection import address
from lanista.cli.exit_codes import ExitCode
from lanista.cli.leagues.code_upload import packed, shipped
from lanista.cli.stack_extra import stack_is_installed
from lanista.cli.terminal import errors, print_json
from lanista.client import Client, LanistaError, Retries
from lanista.client.code_packing import PackedCode, code_folders, file_folders
from lanista.client.errors import NotAllowed
from orchestrator.spec.reading.problems import InvalidTrial, Problem, path_text
from orchestrator.user_code.code_archives import plain_name

if TYPE_CHECKING:
    from api.schemas.trials import CheckedFile, SpecProblem
    from api.web.temporal.check_components import UnusableComponent
    from orchestrator.spec.trial import TrialFile, TrialSpec

ONCE = Retries(attempts=1)


def checked_file(file: Path, as_json: bool) -> TrialFile:
    """The trial of a file; exits with code 1 and lists the problems if it is invalid."""
    from orchestrator.spec.reading.loading import load_trial_file

    try:
        return load_trial_file(file)
    except InvalidTrial as error:
        _refuse(file, error, as_json)
        raise typer.Exit(ExitCode.FAILED) from None


def file_to_train(file: Path, as_json: bool) -> TrialFile:
    """The same, of a file that is there to be trained."""
    checked = checked_file(file, as_json)
    if checked.mode != "train":
        words = "must be train; lanista serve --trial FILE serves a file that says mode: serve"
        _refuse(file, InvalidTrial([Problem(path="mode", message=words, value=checked.mode)]), as_json)
        raise typer.Exit(ExitCode.FAILED)
    return checked


def try_components(file: Path, checked: TrialFile, home: Path | None, as_json: bool) -> str | None:
    """Have a worker try the components; returns why it did not. Exits with code 1 if they cannot be used."""
    text = file.read_text()
    spec = checked.spec.to_json()
    code = packed(file, spec)
    try:
        with Client(address(home), retries=ONCE) as client:
            tried = _tried(client, spec, code)
    except NotAllowed as error:
        return f"not checked: game, model and algorithm together ({error})"
    except (LanistaError, OSError, ValueError) as error:
        return _try_here(file, checked, text, as_json, f"no stack answers ({error})")
    if not tried.valid:
        problems = [_placed(problem, text, file) for problem in tried.problems]
        _refuse(file, InvalidTrial(problems), as_json)
        raise typer.Exit(ExitCode.FAILED)
    return tried.not_checked


def _tried(client: Client, spec: dict[str, Any], code: PackedCode | None) -> CheckedFile:
    """The stack's answer. A token that may not send code still has the rest of the file checked."""
    try:
        sent = shipped(client, spec, code)
    except NotAllowed as error:
        tried = client.validate_trial(spec=spec)
        unsent = f"not checked: own code, which was not sent ({error})"
        return tried.model_copy(update={"not_checked": "; ".join(filter(None, (unsent, tried.not_checked)))})
    return client.validate_trial(spec=sent)


def _try_here(file: Path, checked: TrialFile, text: str, as_json: bool, why: str) -> str:
    """Try the components in this process, where the stack's packages are installed; as `_try_components`."""
    not_checked = f"not checked: game, model and algorithm together, because {why}"
    if not stack_is_installed():
        return not_checked
    from lanista.checks.local_checks import try_here

    unusable = try_here(checked.spec, code_folders(file), file_folders(file))
    if unusable is None:
        return not_checked
    if unusable:
        _refuse(file, _invalid(file, text, unusable), as_json)
        raise typer.Exit(ExitCode.FAILED)
    return f"tried on this machine, and not on a worker, because {why}"


def invalid_components(file: Path, spec: TrialSpec) -> InvalidTrial | None:
    """What cannot be used of the components that the file names, with its lines; None where all can be used."""
    from lanista.checks.local_checks import try_here

    unusable = try_here(spec, code_folders(file), file_folders(file))
    return _invalid(file, file.read_text(), unusable) if unusable else None


def _invalid(file: Path, text: str, unusable: Sequence[UnusableComponent]) -> InvalidTrial:
    from api.schemas.trials import SpecProblem

    found = [
        SpecProblem(path=path_text(each.path), message=each.problem, value=each.name, line=None, column=None)
        for each in unusable
    ]
    return InvalidTrial([_placed(problem, text, file) for problem in found])


def _placed(problem: SpecProblem, text: str, file: Path) -> Problem:
    """The problem with its line and column in the file, and with the names that the file has."""
    from orchestrator.spec.reading.yaml_source import read_yaml

    path = tuple(int(part) if part.isdigit() else part for part in re.findall(r"[^.\[\]]+", problem.path))
    line, column = read_yaml(text).place(path)
    words, value = plain_name(problem.message), problem.value and plain_name(problem.value)
    return Problem(path=problem.path, message=words, value=value, line=line, column=column, source=str(file))


def _refuse(file: Path, error: InvalidTrial, as_json: bool) -> None:
    if as_json:
        problems = [problem.as_dict() for problem in error.problems]
        print_json({"ok": False, "file": str(file), "problems": problems})
        return
    for problem in error.problems:
        errors.print(str(problem), highlight=False, markup=False, soft_wrap=True)
    count = len(error.problems)
    errors.print(f"[red]{count} problem{'s' if count > 1 else ''}[/] in {escape(str(file))}", highlight=False)
