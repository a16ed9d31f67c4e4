"""Writes a trial file from a trial's spec."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any


def file_text(project: str, name: str, spec: Mapping[str, Any]) -> str:
    """The trial file as YAML, in the order of the spec."""
    import yaml

    text: str = yaml.safe_dump({"project": project, "trial": name, **spec}, sort_keys=False, allow_unicode=True)
    return text
