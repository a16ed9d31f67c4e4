"""The base of every part of a trial file: frozen, no unknown options, and errors written for a person.

Errors are put into words by the innermost section, which knows what it allows, and travel outwards unchanged.
"""

from __future__ import annotations

import difflib
from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from typing import Any, Self

from annotated_types import MaxLen
from pydantic import BaseModel, ConfigDict, ModelWrapValidatorHandler, ValidationError, model_validator
from pydantic_core import ErrorDetails, InitErrorDetails, PydanticCustomError

WORDED = "worded"
"""The type of errors whose message is final."""
UNKNOWN_OPTION = "unknown_option"
"""The same for an unknown key; its position is that of the key, not of the value."""

MOST_OPTIONS = 200
MOST_ITEMS = 10_000
"""The most items of a list without a limit of its own."""

_WORDS = {
    "int_type": "must be a whole number",
    "int_from_float": "must be a whole number",
    "float_type": "must be a number",
    "bool_type": "must be true or false",
    "string_type": "must be text",
    "tuple_type": "must be a list",
    "list_type": "must be a list",
    "finite_number": "must be a finite number",
}

_NUMBERS = ("int_type", "float_type")
_NUMBER_AS_TEXT = ", and this is text (PyYAML reads 3e-3 as text: write 3.0e-3, or let Lanista read the file)"


@dataclass(frozen=True, kw_only=True)
class Contradiction:
    """Two values of one section that contradict each other: the path and the reason."""

    path: tuple[str | int, ...]
    value: Any
    reason: str


class Section(BaseModel):
    """One mapping of a trial file."""

    model_config = ConfigDict(frozen=True, extra="forbid", allow_inf_nan=False)

    @classmethod
    def contradictions(cls, given: Mapping[str, Any]) -> Iterable[Contradiction]:
        """Contradictions in `given`, which is not validated yet; other problems of it are reported elsewhere."""
        return ()

    @model_validator(mode="wrap")
    @classmethod
    def _say_everything(cls, data: Any, handler: ModelWrapValidatorHandler[Self]) -> Self:
        if isinstance(data, Mapping) and (large := cls._oversized(data)):
            raise ValidationError.from_exception_data(cls.__name__, [large])
        found = cls.contradictions(data) if isinstance(data, Mapping) else ()
        problems = [_detail(WORDED, item.reason, item.path, item.value) for item in found]
        try:
            section = handler(data)
        except ValidationError as error:
            problems = [*(cls._worded(detail) for detail in error.errors(include_url=False)), *problems]
        if problems:
            raise ValidationError.from_exception_data(cls.__name__, problems)
        return section

    @classmethod
    def _oversized(cls, data: Mapping[str, Any]) -> InitErrorDetails | None:
        """A mapping or list that is too long to look at each of its items."""
        if len(data) > MOST_OPTIONS:
            return _detail(WORDED, f"has {len(data)} options, and at most {MOST_OPTIONS} are allowed", (), ...)
        for name, value in data.items():
            if isinstance(value, list | tuple) and name in cls.model_fields:
                limits = (limit.max_length for limit in cls.model_fields[name].metadata if isinstance(limit, MaxLen))
                if len(value) > (most := min(limits, default=MOST_ITEMS)):
                    return _detail(WORDED, f"has {len(value)} items, and at most {most} are allowed", (name,), ...)
        return None

    @classmethod
    def _worded(cls, error: ErrorDetails) -> InitErrorDetails:
        kind, message = error["type"], error["msg"]
        if kind in (WORDED, UNKNOWN_OPTION):
            return _detail(kind, message, error["loc"], error["input"])
        if kind == "extra_forbidden":
            wrong = str(error["loc"][-1])
            return _detail(UNKNOWN_OPTION, f"no such option{_nearest(wrong, cls.model_fields)}", error["loc"], ...)
        if kind == "missing":
            # of a pair that is too short the last part of the place is an item's number
            field = next(str(part) for part in reversed(error["loc"]) if part in cls.model_fields)
            needed = cls.model_fields[field].description
            return _detail(WORDED, f"is missing: {needed}", error["loc"], ...)
        return _detail(WORDED, _in_words(error), error["loc"], error["input"])

    def to_json(self) -> dict[str, Any]:
        """All values, defaults included, as JSON; validating it gives an equal section."""
        return self.model_dump(mode="json")


def one_of(value: object, allowed: Iterable[str]) -> str:
    """The message for a value that is not one of the allowed ones."""
    choices = list(allowed)
    near = difflib.get_close_matches(str(value), choices, n=1)
    hint = f"; did you mean {near[0]!r}?" if near else ""
    return f"must be one of {', '.join(choices)}{hint}"


def _nearest(wrong: str, allowed: Iterable[str]) -> str:
    choices = list(allowed)
    near = difflib.get_close_matches(wrong, choices, n=1)
    hint = f", did you mean {near[0]!r}?" if near else "."
    return f"{hint} Allowed: {', '.join(choices) or 'nothing'}"


def _in_words(error: ErrorDetails) -> str:
    kind, context = error["type"], error.get("ctx", {})
    if kind in ("literal_error", "enum"):
        quoted = str(context["expected"]).replace(" or ", ", ")
        return one_of(error["input"], [word.strip("'") for word in quoted.split(", ")])
    if kind in ("model_type", "model_attributes_type", "dict_type"):
        return "must be a mapping of options, as {name: value}"
    if kind == "value_error":
        return str(context["error"])
    words = _WORDS.get(kind) or error["msg"].replace("Input should", "must")
    return f"{words}{_NUMBER_AS_TEXT}" if kind in _NUMBERS and _is_number(error["input"]) else words


def _is_number(value: Any) -> bool:
    try:
        return isinstance(value, str) and bool(float(value) or True)
    except ValueError:
        return False


def _detail(kind: str, message: str, path: tuple[str | int, ...], value: Any) -> InitErrorDetails:
    # the message is passed as a value: in a template, its braces would be taken for placeholders
    return InitErrorDetails(type=PydanticCustomError(kind, "{message}", {"message": message}), loc=path, input=value)
