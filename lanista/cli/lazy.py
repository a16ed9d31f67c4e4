"""Commands that are imported when they are called, so that `lanista` starts fast.

See docs/decisions/client-and-command-line.md.
"""

from __future__ import annotations

import gc
import sys
from collections.abc import Iterator, MutableMapping
from dataclasses import dataclass, field
from importlib import import_module
from typing import Any

import typer
from typer.core import TyperCommand, TyperGroup
from typer.main import get_group

from lanista.cli.stack_extra import needs_stack, require_stack


@dataclass(frozen=True, kw_only=True)
class LazyCommand:
    """A command, or a group of commands, by the place of its code."""

    place: str
    """`module:attribute`."""
    help: str
    """Its line in `lanista --help`, which imports no command."""
    of_stack: bool = False
    """Whether it needs the extra `stack`."""
    context_settings: dict[str, Any] = field(default_factory=dict)

    def load(self, name: str) -> Any:
        """The command itself, as Typer makes it."""
        module, _, attribute = self.place.partition(":")
        found = getattr(_imported(module), attribute)
        holder = typer.Typer(add_completion=False)
        holder.callback()(_nothing)
        if isinstance(found, typer.Typer):
            if self.of_stack:
                holder.add_typer(found, name=name, callback=require_stack)
            else:
                holder.add_typer(found, name=name)
        else:
            command = needs_stack(found) if self.of_stack else found
            holder.command(name, context_settings=self.context_settings or None)(command)
        return get_group(holder).commands[name]


class LazyCommands(MutableMapping[str, Any]):
    """The commands by name; looking one up imports it."""

    def __init__(self, places: dict[str, LazyCommand]) -> None:
        self.places = places
        self.loaded: dict[str, Any] = {}

    def __getitem__(self, name: str) -> Any:
        if name not in self.loaded:
            self.loaded[name] = self.places[name].load(name)
        return self.loaded[name]

    def __iter__(self) -> Iterator[str]:
        return iter(self.places)

    def __len__(self) -> int:
        return len(self.places)

    def __setitem__(self, name: str, command: Any) -> None:
        self.loaded[name] = command

    def __delitem__(self, name: str) -> None:
        del self.places[name]


def lazy_group(places: dict[str, LazyCommand]) -> type[TyperGroup]:
    """A class of groups with these commands; the called one alone is imported."""

    class LazyGroup(TyperGroup):
        def __init__(self, **attributes: Any) -> None:
            super().__init__(**attributes)
            self.commands = LazyCommands(places)

        def list_commands(self, ctx: Any) -> list[str]:
            return list(places)

        def get_command(self, ctx: Any, cmd_name: str) -> Any:
            """For help and completion: the name and its line, unless it was called."""
            if cmd_name not in places:
                return None
            return TyperCommand(name=cmd_name, help=places[cmd_name].help)

        def resolve_command(self, ctx: Any, args: list[str]) -> Any:
            name, command, rest = super().resolve_command(ctx, args)
            return name, command and self.commands[name or ""], rest

    return LazyGroup


def _imported(module: str) -> Any:
    """The module, without what only takes time: looking for garbage, of which there is none yet, and httpx's own
    command line, which it leaves out where it cannot be imported.
    """
    gc.disable()
    left_out = sys.modules.setdefault("httpx._main", None)  # type: ignore[arg-type]
    try:
        return import_module(module)
    finally:
        if left_out is None:
            sys.modules.pop("httpx._main", None)
        gc.enable()


def _nothing() -> None:
    """Makes a Typer of one command a group."""
