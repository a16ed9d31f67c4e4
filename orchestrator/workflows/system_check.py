"""A workflow that sends one activity through every queue, to prove that every part works."""

from __future__ import annotations

import asyncio

from temporalio import workflow

with workflow.unsafe.imports_passed_through():
    from orchestrator.contracts import SYSTEM_CHECKS, PartRequest, SystemReport


@workflow.defn
class SystemCheckWorkflow:
    """Asks the store, Ray (as trainer and as player of games) and the interactive queue for a proof of work."""

    @workflow.run
    async def run(self, request: PartRequest) -> SystemReport:
        parts = await asyncio.gather(*(check(request) for check in SYSTEM_CHECKS))
        return SystemReport(parts=list(parts))
