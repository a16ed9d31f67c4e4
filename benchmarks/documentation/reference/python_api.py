"""The reference of the Python API, from the public names and their docstrings."""

from __future__ import annotations

import inspect
import re
from collections.abc import Iterator
from importlib import import_module
from typing import Any

from pydantic import BaseModel

from benchmarks.documentation.reference.schemas import field_table

MODULES = ("", "games", "models", "algorithms", "buffers", "checkpoints", "matches", "crews", "agents")
"""The modules that users import from: `lanista` itself, `lanista.games`, ..."""
RETURNED = {"lanista": ("lanista.training.run:Run", "lanista.training.generation:Generation")}
"""Classes that calls return and that nobody imports."""
OURS = frozenset({"lanista", "workers", "orchestrator", "league"})
"""Packages whose methods are listed; those of torch and pydantic are their own documentation's."""


def page() -> str:
    """Every public name with its signature and docstring."""
    return "\n".join(_lines()) + "\n"


def _lines() -> Iterator[str]:
    yield "# Python names\n"
    yield "Written from the code: what `lanista` and its modules export for code of your own. All else may change."
    for name in MODULES:
        module = import_module(f"lanista.{name}".rstrip("."))
        yield f"\n## {module.__name__}\n"
        yield f"{inspect.getdoc(module) or ''}\n"
        for public in module.__all__:
            yield from _entry(public, getattr(module, public))
        for place in RETURNED.get(module.__name__, ()):
            home, _, returned = place.partition(":")
            yield from _entry(returned, getattr(import_module(home), returned))


def _entry(name: str, found: Any) -> Iterator[str]:
    yield f"\n### {name}\n"
    if inspect.isclass(found) and issubclass(found, BaseModel):
        yield f"{_docstring(found)}\n"
        yield from field_table(found.model_json_schema(), {})
    elif inspect.isclass(found) or inspect.isroutine(found):
        yield f"```text\n{'class ' if inspect.isclass(found) else ''}{name}{_signature(found)}\n```\n"
        yield _docstring(found)
    else:
        yield f"A value of type `{type(found).__name__}`."
    if inspect.isclass(found):
        yield from _methods(found)


def _docstring(found: Any) -> str:
    """Its own: a class without one says nothing, whatever its base says."""
    own = not inspect.isclass(found) or "__doc__" in vars(found)
    return (inspect.getdoc(found) or "") if own else ""


def _methods(found: type[Any]) -> Iterator[str]:
    """Public methods that Lanista defines, also those of its base classes."""
    yield ""
    for name, method in inspect.getmembers(found, inspect.isroutine):
        ours = str(getattr(method, "__module__", "")).partition(".")[0] in OURS
        if not name.startswith("_") and ours:
            said = " ".join((inspect.getdoc(method) or "").partition("\n\n")[0].split())
            yield f"- `{name}{_signature(method)}`" + (f": {said}" if said else "")


def _signature(found: Any) -> str:
    """Its parameters, without the quotes of annotations and the addresses of defaults."""
    try:
        text = str(inspect.signature(found))
    except (TypeError, ValueError):
        return "(...)"
    text = re.sub(r"\((self|/)(, )?", "(", re.sub(r"\(self, /", "(/", text))
    return re.sub(r"<[\w. ]*<?lambda.*? at 0x\w+>|<function .*? at 0x\w+>", "...", text).replace("'", "")
