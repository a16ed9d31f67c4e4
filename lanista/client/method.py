"""Makes methods of a client from functions that describe calls."""

from __future__ import annotations

import inspect
from collections.abc import Callable
from typing import Any, TypeVar

Method = TypeVar("Method", bound=Callable[..., Any])

_SELF = inspect.Parameter("self", inspect.Parameter.POSITIONAL_ONLY)


def as_method(method: Method, describe: Callable[..., Any]) -> Method:
    """Give a method the name, docstring and parameters of the call it makes, for `help()` and editors."""
    method.__name__ = describe.__name__
    method.__qualname__ = describe.__name__
    method.__doc__ = describe.__doc__
    signature = inspect.signature(describe)
    parameters = [_SELF, *signature.parameters.values()]
    described = signature.replace(parameters=parameters, return_annotation=inspect.Signature.empty)
    method.__signature__ = described  # type: ignore[attr-defined]
    return method
