"""A trial file that explains every field: those that it sets, and all others with their defaults, commented out."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from typing import Any

import yaml

from orchestrator.spec import TrialFile
from orchestrator.spec.reading.checking import known_names
from orchestrator.spec.section import Section

FIRST = ("project", "trial")


def commented_trial(given: Mapping[str, Any], title: str) -> str:
    """The text of a trial file that sets these values; raises ValidationError if they are no trial."""
    trial = TrialFile.model_validate(given, context=known_names(given))
    lines = [f"# {line}".rstrip() for line in title.splitlines()]
    note = "# A field that is commented out has the value shown; remove the # to change it."
    return "\n".join([*lines, "#", note, "", *_section(trial, given)]) + "\n"


def _section(section: Section, given: Mapping[str, Any], *, active: bool = True, depth: int = 0) -> Iterator[str]:
    fields = type(section).model_fields
    names = [*(name for name in FIRST if name in fields), *(name for name in fields if name not in FIRST)]
    for name in names:
        meaning = fields[name].description or ""
        yield from _field(name, getattr(section, name), given.get(name), meaning, active and name in given, depth)
        if depth == 0 and name not in FIRST[:1]:
            yield ""
    for name, value in (section.model_extra or {}).items():
        yield _line(name, _text(value), "", active, depth)


def _field(name: str, value: Any, given: Any, meaning: str, active: bool, depth: int) -> Iterator[str]:
    if isinstance(value, Section):
        inner = given if isinstance(given, Mapping) else {}
        yield _line(name, "", meaning, active, depth)
        yield from _section(value, inner, active=active, depth=depth + 1)
    elif isinstance(given, list) and any(isinstance(item, Mapping) for item in given):
        yield _line(name, "", meaning, active, depth)
        for item in given:
            yield f"{'  ' * (depth + 1)}- {_text(item)}"
    else:
        plain = value if given is None else given
        yield _line(name, _text(_json(plain)), meaning, active, depth)


def _json(value: Any) -> Any:
    """A value of a section as YAML has it."""
    if isinstance(value, list | tuple):
        return [_json(item) for item in value]
    if isinstance(value, Section):
        return value.to_json()
    return value if value is None or isinstance(value, bool | int | float | str | dict) else str(value)


def _text(value: Any) -> str:
    plain: str = yaml.safe_dump(value, default_flow_style=True, width=10_000, sort_keys=False, allow_unicode=True)
    return plain.removesuffix("\n").removesuffix("\n...").strip()


def _line(name: str, value: str, meaning: str, active: bool, depth: int) -> str:
    text = f"{name}: {value}".rstrip()
    mark = "" if active else "# "
    comment = f"  # {meaning}" if meaning else ""
    return f"{'  ' * depth}{mark}{text}{comment}"
