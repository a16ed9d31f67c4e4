"""How long the histories of a stack's workflows are."""

from __future__ import annotations

import asyncio
from collections import defaultdict

from temporalio.client import Client
from temporalio.contrib.pydantic import pydantic_data_converter


def longest_histories(address: str) -> dict[str, int]:
    """Events of the longest run of each kind of workflow."""
    return asyncio.run(_longest(address))


async def _longest(address: str) -> dict[str, int]:
    client = await Client.connect(address, data_converter=pydantic_data_converter)
    longest: dict[str, int] = defaultdict(int)
    async for run in client.list_workflows():
        # a running workflow's history length is only in its description
        described = await client.get_workflow_handle(run.id, run_id=run.run_id).describe()
        longest[run.workflow_type] = max(longest[run.workflow_type], described.history_length)
    return dict(longest)
