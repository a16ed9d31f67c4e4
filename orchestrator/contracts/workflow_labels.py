"""How people find a workflow in Temporal's Web UI: search attributes, memo, and a one-line summary.

Search attributes must be registered with the namespace (`orchestrator.search_attributes`). A start that sets an
unregistered one is refused, so the API sets them only where it knows them to be registered. A workflow that was
started with them hands them on to its children (`orchestrator.workflows.own_labels`). Trials carry project, trial
and status, and players add player and role (`api/store/trials/workflow_labels.py`). Tournaments carry those of
`api/store/tournaments/workflow_labels.py`.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import asdict, dataclass

from temporalio.common import SearchAttributeKey, SearchAttributePair, TypedSearchAttributes

PROJECT = SearchAttributeKey.for_keyword("LanistaProject")
TRIAL = SearchAttributeKey.for_keyword("LanistaTrial")
PLAYER = SearchAttributeKey.for_keyword("LanistaPlayer")
ROLE = SearchAttributeKey.for_keyword("LanistaRole")
STATUS = SearchAttributeKey.for_keyword("LanistaStatus")

SEARCH_ATTRIBUTES = (PROJECT, TRIAL, PLAYER, ROLE, STATUS)
"""All of type Keyword."""

_LONGEST_KEYWORD = 255
"""Characters; the width of the column in Temporal's SQL visibility stores."""
_LONGEST_SUMMARY = 400
"""Bytes; the server's limit."""


@dataclass(frozen=True, kw_only=True)
class WorkflowLabels:
    """The names of what a workflow runs, for people; an empty one is left out."""

    project: str = ""
    trial: str = ""
    trial_id: str = ""
    """In the memo only."""
    player: str = ""
    role: str = ""
    tournament: str = ""
    """In the memo only."""
    sweep: str = ""
    """In the memo only."""

    @property
    def memo(self) -> dict[str, str]:
        """What the workflow's memo holds."""
        return {name: value for name, value in asdict(self).items() if value}

    @classmethod
    def from_memo(cls, memo: Mapping[str, object]) -> WorkflowLabels:
        """The labels of a workflow that was started with such a memo."""
        return cls(**{name: str(memo.get(name, "")) for name in cls.__dataclass_fields__})

    def search_attributes(self, status: str = "") -> TypedSearchAttributes:
        """The labels, and the status that the workflow starts with, as search attributes."""
        values = (self.project, self.trial, self.player, self.role, status)
        return TypedSearchAttributes(
            [
                SearchAttributePair(key, value[:_LONGEST_KEYWORD])
                for key, value in zip(SEARCH_ATTRIBUTES, values, strict=True)
                if value
            ]
        )

    @property
    def summary(self) -> str:
        """One line: the trial, the player, the tournament or the sweep that the workflow runs."""
        league = "/".join(name for name in (self.project, self.trial) if name)
        member = f"{self.player} ({self.role})" if self.role else self.player
        return summary_line(": ".join(part for part in (league, member, self.tournament, self.sweep) if part))


class DisplayText(str):
    """Text for people in Temporal's Web UI. It is sent unsealed, and nothing reads it back."""


def summary_line(text: str) -> DisplayText:
    """The text as a summary that the server accepts: one line, not too long."""
    line = " ".join(text.split())
    return DisplayText(line.encode()[:_LONGEST_SUMMARY].decode(errors="ignore"))
