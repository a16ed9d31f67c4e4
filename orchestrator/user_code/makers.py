"""Checks what a name given by a user stands for, before it is called: calling any callable would run any command.

See docs/decisions/user-code.md.
"""

from __future__ import annotations

import inspect
import typing
from typing import Any


def makes(target: object, made: type) -> bool:
    """Whether calling the target makes a `made`: it is a subclass, or a Python function annotated to return one."""
    if isinstance(target, type):
        return issubclass(target, made)
    return inspect.isfunction(target) and _is_a(_returned(target), made)


def described(target: object) -> str:
    """What the target is, for an error message."""
    if isinstance(target, type):
        return f"the class {target.__module__}.{target.__qualname__}"
    if inspect.isfunction(target):
        returned = _returned(target)
        name = getattr(returned, "__qualname__", str(returned))
        return "a function without a return annotation" if returned is None else f"a function that returns {name}"
    return f"a {type(target).__name__}"


def _returned(function: Any) -> Any:
    """The class that a function is annotated to return; None without one."""
    try:
        hint = typing.get_type_hints(function).get("return")
    except Exception:  # an annotation may name what does not exist at run time
        return None
    return typing.get_origin(hint) or hint


def _is_a(found: Any, made: type) -> bool:
    return isinstance(found, type) and issubclass(found, made)
