"""The reference of the command line, from the commands themselves."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

from benchmarks.documentation.commands import lanista_command
from benchmarks.documentation.reference.schemas import cell


def page() -> str:
    """Every command with its arguments and options."""
    return "\n".join(_lines()) + "\n"


def _lines() -> Iterator[str]:
    yield "# Commands\n"
    yield "Written from the code. By subject, with exit codes and how things are named: [the command"
    yield "line](../guides/command-line.md)."
    for path, command in walk(lanista_command(), "lanista"):
        yield f"\n## {path}\n"
        yield f"{' '.join((command.help or '').split())}\n"
        arguments = [one for one in command.params if not one.opts[0].startswith("-")]
        usage = " ".join(_shown(one) for one in arguments)
        yield f"```text\n{path} {usage}".rstrip() + " [OPTIONS]\n```\n"
        yield "| argument or option | default | what it is |"
        yield "| --- | --- | --- |"
        for one in command.params:
            yield _row(one)


def walk(command: Any, path: str) -> Iterator[tuple[str, Any]]:
    """Every command below this one, with the words that call it."""
    if not hasattr(command, "commands"):
        yield path, command
        return
    for name in command.commands:
        yield from walk(command.commands[name], f"{path} {name}")


def _shown(argument: Any) -> str:
    name = argument.metavar or argument.name.upper()
    return name if argument.required else f"[{name}]"


def _row(parameter: Any) -> str:
    options = [f"`{name}`" for name in (*parameter.opts, *parameter.secondary_opts) if name.startswith("-")]
    name = ", ".join(options) or f"`{_shown(parameter)}`"
    default = parameter.default
    if parameter.required:
        shown = "required"
    elif default is None or default is False or callable(default) or default in ((), []):
        shown = ""
    else:
        shown = f"`{getattr(default, 'value', default)}`"
    said = cell(parameter.help or "")
    return f"| {name} | {shown} | {said}{' (repeatable)' if parameter.multiple else ''} |"
