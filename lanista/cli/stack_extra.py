"""The extra `stack`: which commands need it, and what they say where it is not installed.

`pip install lanista` installs the Python client and the commands that call the REST API. Commands that start parts of
the stack, or open its database, need `pip install 'lanista[stack]'`.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from functools import wraps
from importlib.util import find_spec
from typing import ParamSpec, TypeVar

from lanista.stack.errors import StackError

P = ParamSpec("P")
Result = TypeVar("Result")

INSTALL = "pip install 'lanista[stack]'"
PACKAGES = ("temporalio", "sqlalchemy", "fastapi", "ray", "torch")
"""Packages of the extra that every part of the stack needs."""


class StackNotInstalled(StackError):
    """The command needs the extra `stack`."""


def missing_packages(names: Sequence[str] = PACKAGES) -> list[str]:
    """Packages of the stack, or those of them that are named, that are not installed."""
    return [name for name in names if find_spec(name) is None]


def stack_is_installed() -> bool:
    return not missing_packages()


def require_stack() -> None:
    """Raise StackNotInstalled if packages of the stack are missing."""
    require_packages(PACKAGES)


def require_packages(names: Sequence[str]) -> None:
    """Raise StackNotInstalled if one of these packages of the stack is missing."""
    missing = missing_packages(names)
    if missing:
        raise StackNotInstalled(f"This command needs the stack ({', '.join(missing)} not installed): {INSTALL}")


def needs_stack(command: Callable[P, Result]) -> Callable[P, Result]:
    """The command, refused where the stack is not installed."""

    @wraps(command)
    def checked(*args: P.args, **kwargs: P.kwargs) -> Result:
        require_stack()
        return command(*args, **kwargs)

    return checked
