"""Problems of a trial, as text for people and as fields for programs."""

from __future__ import annotations

import reprlib
from collections.abc import Iterable
from dataclasses import asdict, dataclass, replace
from typing import Any

_shorten = reprlib.Repr()
_shorten.maxstring = _shorten.maxother = 80


@dataclass(frozen=True, kw_only=True)
class Problem:
    """One problem. Lines and columns count from 1; they are None without a text."""

    path: str
    """The path, such as `league.players[2].role`; empty for the whole trial."""
    message: str
    """What is wrong and what is allowed."""
    value: str | None = None
    """The wrong value as given; None if a value is missing."""
    line: int | None = None
    column: int | None = None
    source: str = ""
    """Name of the file."""

    def __str__(self) -> str:
        place = ":".join(str(part) for part in (self.source, self.line, self.column) if part)
        subject = self.path if self.value is None else f"{self.path or 'value'} = {self.value}"
        return ": ".join(part for part in (place, subject, self.message) if part)

    def as_dict(self) -> dict[str, Any]:
        """The fields, for JSON."""
        return asdict(self)


MOST_REPORTED = 50
"""Problems that are reported; the rest is a number."""


class InvalidTrial(ValueError):
    """A trial that is refused; `problems` has its problems in order, and after 50 of them how many more there are."""

    def __init__(self, problems: Iterable[Problem]) -> None:
        found = sorted(problems, key=lambda problem: (problem.line or 0, problem.column or 0))
        if len(found) > MOST_REPORTED + 1:
            last = found[MOST_REPORTED - 1]
            more = replace(last, path="", value=None, message=not_listed(len(found) - MOST_REPORTED))
            found = [*found[:MOST_REPORTED], more]
        self.problems = tuple(found)
        super().__init__("\n".join(str(problem) for problem in self.problems))

    def __reduce__(self) -> tuple[type[InvalidTrial], tuple[tuple[Problem, ...]]]:
        return type(self), (self.problems,)


def not_listed(count: int) -> str:
    """The last message of a list of problems that was cut."""
    return f"{count} more problems are not listed; mend these first"


def path_text(path: Iterable[str | int]) -> str:
    """`("league", "players", 2, "role")` as `league.players[2].role`."""
    text = ""
    for part in path:
        text += f"[{part}]" if isinstance(part, int) else f".{part}" if text else part
    return text


def shown(value: Any) -> str:
    """The value as text for people, shortened if long."""
    words = {True: "true", False: "false", None: "null"}
    return words[value] if value is None or isinstance(value, bool) else _shorten.repr(value)
