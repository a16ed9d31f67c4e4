"""When a long workflow continues as new, so that its history stays small.

See docs/decisions/temporal.md.
"""

from __future__ import annotations

from temporalio import workflow


def new_run_is_due(counted: bool) -> bool:
    """Whether the workflow's own count or the server, which checks the history's size, calls for a new run.

    The count comes first: the server suggests a new run only after some thousand events.
    """
    if counted:
        return True
    # runs of an earlier release did not ask the server, and their histories may hold its suggestion already
    return workflow.info().is_continue_as_new_suggested() and workflow.patched("continue-when-suggested")
