"""The result of one check of `lanista doctor`."""

from __future__ import annotations

from dataclasses import dataclass


@dataclass(frozen=True)
class Finding:
    """The result of one check; `mend` says how to fix it and is empty if the part is well."""

    part: str
    ok: bool
    detail: str
    mend: str = ""
