"""Types of values in a trial file. All are strict: text is not a number, and true is not 1."""

from __future__ import annotations

import re
import uuid
from datetime import timedelta
from typing import Annotated, Any

from pydantic import AfterValidator, BeforeValidator, Field, PlainSerializer, WithJsonSchema

NAME_PATTERN = r"^[a-z0-9][a-z0-9-]{0,62}$"
_UNITS = {"d": 86_400, "h": 3_600, "m": 60, "s": 1}
_DURATION = re.compile(r"(?:(\d{1,4})d)?(?:(\d{1,6})h)?(?:(\d{1,8})m)?(?:(\d{1,9})s)?")


def _whole(value: Any) -> Any:
    """2e6 is a whole number, though YAML reads it as a float."""
    return int(value) if isinstance(value, float) and value.is_integer() else value


def _name(value: str) -> str:
    if re.fullmatch(NAME_PATTERN, value) is None:
        raise ValueError("must be 1 to 63 small letters, digits and hyphens, not starting with a hyphen")
    return value


def _duration(value: Any) -> Any:
    if isinstance(value, timedelta):
        seconds = value.total_seconds()
    else:
        match = _DURATION.fullmatch(value) if isinstance(value, str) and value else None
        if match is None:
            raise ValueError("must be a time with its unit, as 90s, 30m, 2h, 1d or 1h30m")
        seconds = sum(int(part or 0) * unit for part, unit in zip(match.groups(), _UNITS.values(), strict=True))
    if not 1 <= seconds <= 366 * 86_400 or seconds % 1:
        raise ValueError("must be whole seconds, from 1s to 366d")
    return timedelta(seconds=seconds)


def duration_text(value: timedelta) -> str:
    """The duration as a trial file writes it: 90 minutes are 1h30m."""
    left, parts = int(value.total_seconds()), []
    for letter, unit in _UNITS.items():
        count, left = divmod(left, unit)
        parts += [f"{count}{letter}"] if count else []
    return "".join(parts)


def is_id(text: str) -> bool:
    """Whether the text has the form of an id; anything else names a file."""
    try:
        return str(uuid.UUID(text)) == text.lower()
    except ValueError:
        return False


def _even(games: int) -> int:
    if games % 2:
        raise ValueError("must be even: every game has a partner with the same seed and swapped seats")
    return games


WHOLE = BeforeValidator(_whole)
Priority = Annotated[float, Field(strict=True, gt=0, le=1000)]
Quota = Annotated[int, Field(strict=True, ge=1, le=100_000), WHOLE]
LARGEST = 2**63 - 1
"""The largest bigint of the database."""

Count = Annotated[int, Field(strict=True, ge=0, le=LARGEST), WHOLE]
TeamNumber = Annotated[int, Field(strict=True, ge=0, le=63)]
Positive = Annotated[int, Field(strict=True, ge=1, le=LARGEST), WHOLE]
Games = Annotated[int, Field(strict=True, ge=2, le=1000), WHOLE, AfterValidator(_even)]
Processes = Annotated[int, Field(strict=True, ge=1, le=4096), WHOLE]
ExtraProcesses = Annotated[int, Field(strict=True, ge=0, le=256), WHOLE]
Width = Annotated[int, Field(strict=True, ge=1, le=65_536), WHOLE]
Flag = Annotated[bool, Field(strict=True)]
NotNegative = Annotated[float, Field(strict=True, ge=0)]
Share = Annotated[float, Field(strict=True, ge=0, le=1)]
Number = Annotated[float, Field(strict=True, allow_inf_nan=False)]
PositiveShare = Annotated[float, Field(strict=True, gt=0, le=1)]
ErrorRate = Annotated[float, Field(strict=True, gt=0, lt=0.5)]
Name = Annotated[str, Field(json_schema_extra={"pattern": NAME_PATTERN}), AfterValidator(_name)]
Duration = Annotated[
    timedelta,
    BeforeValidator(_duration),
    PlainSerializer(duration_text, return_type=str, when_used="json"),
    WithJsonSchema({"type": "string", "pattern": r"^(\d+d)?(\d+h)?(\d+m)?(\d+s)?$", "examples": ["30m", "1h30m"]}),
]
