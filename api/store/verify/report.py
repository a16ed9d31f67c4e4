"""The report of an audit.

See docs/decisions/store.md.
"""

from __future__ import annotations

from collections import Counter
from dataclasses import asdict, dataclass
from enum import StrEnum
from typing import Any


class FindingKind(StrEnum):
    """The kinds of findings: how a record can be wrong."""

    LOST = "lost"
    """Something that must have been recorded is missing."""
    DOUBLED = "doubled"
    """Something was recorded or counted more than once."""
    ORPHANED = "orphaned"
    """A row without its parent, or a file that is referred to and missing."""
    DAMAGED = "damaged"
    """A checkpoint that does not match its hash."""
    DISAGREEING = "disagreeing"
    """A stored number that differs from a recomputation."""


@dataclass(frozen=True, kw_only=True)
class Finding:
    """One discrepancy that the audit found."""

    wrong: FindingKind
    subject: str
    """What it is about: trial, player, gate, file."""
    detail: str


@dataclass(frozen=True, kw_only=True)
class AuditReport:
    """Everything that an audit checked and found."""

    counts: dict[str, int]
    """The number of rows and files that were checked."""
    garbage: int
    """Files that nothing refers to; they are no findings, since they are collected later."""
    findings: tuple[Finding, ...]

    @property
    def agrees(self) -> bool:
        """Whether there are no findings."""
        return not self.findings

    def number(self, wrong: FindingKind) -> int:
        """How many findings of this kind there are."""
        return sum(finding.wrong is wrong for finding in self.findings)

    def as_dict(self) -> dict[str, Any]:
        """For JSON: the number of findings of every kind, and each of them."""
        numbers = Counter(finding.wrong for finding in self.findings)
        return {
            "ok": self.agrees,
            **{wrong.value: numbers[wrong] for wrong in FindingKind},
            "garbage": self.garbage,
            "counts": self.counts,
            "findings": [asdict(finding) for finding in self.findings],
        }
