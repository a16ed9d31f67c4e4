"""Checks a running system with one workflow that uses every queue."""

from __future__ import annotations

import uuid
from datetime import timedelta

from temporalio.client import Client

from orchestrator.contracts import PartRequest, Queue, SystemReport


async def check_system(client: Client, *, patience: timedelta = timedelta(seconds=60)) -> SystemReport:
    """Run SystemCheckWorkflow and return the answer of each part."""
    check = uuid.uuid4().hex
    report: SystemReport = await client.execute_workflow(
        "SystemCheckWorkflow",
        PartRequest(check=check),
        id=f"system-check-{check}",
        task_queue=Queue.LEAGUE,
        result_type=SystemReport,
        execution_timeout=patience,
    )
    return report
