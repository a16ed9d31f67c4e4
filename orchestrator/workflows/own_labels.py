"""Labels of a running workflow: it passes them on to its children, and its status follows its work.

A workflow that was started without search attributes never sets any: they may not be registered, and the server
would refuse the command again and again. Histories from before labels existed set none, so they replay unchanged.
"""

from __future__ import annotations

from temporalio import workflow
from temporalio.common import TypedSearchAttributes

with workflow.unsafe.imports_passed_through():
    from orchestrator.contracts.workflow_labels import SEARCH_ATTRIBUTES, STATUS, WorkflowLabels


def own_labels() -> WorkflowLabels:
    """The labels that this workflow was started with; all empty if it had none."""
    return WorkflowLabels.from_memo(workflow.memo())


def child_attributes(labels: WorkflowLabels, status: str = "") -> TypedSearchAttributes:
    """The search attributes to start a child with; none where this workflow has none itself."""
    return labels.search_attributes(status) if _has_attributes() else TypedSearchAttributes.empty


def show_status(status: str) -> None:
    """Set the workflow's status in Temporal's Web UI."""
    if _has_attributes():
        workflow.upsert_search_attributes([STATUS.value_set(status)])


def _has_attributes() -> bool:
    own = workflow.info().typed_search_attributes
    return any(pair.key in SEARCH_ATTRIBUTES for pair in own)
