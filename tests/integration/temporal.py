"""A real Temporal server for tests: the dev server that is installed with Lanista, without its brake."""

from __future__ import annotations

import sys
from datetime import timedelta
from pathlib import Path

from temporalio.contrib.pydantic import pydantic_data_converter
from temporalio.testing import WorkflowEnvironment

TEMPORAL = Path(sys.executable).with_name("temporal")
UNBRAKED = ("--dynamic-config-value", "history.transferProcessorMaxPollRPS=10000")
"""The dev server has one shard, which hands out 20 tasks a second unless it is told otherwise."""


async def local_temporal(*extra_args: str) -> WorkflowEnvironment:
    """A server in memory that speaks the project's messages; it may take its time to start on a busy machine."""
    return await WorkflowEnvironment.start_local(
        dev_server_existing_path=str(TEMPORAL),
        dev_server_startup_timeout=timedelta(seconds=120),
        dev_server_extra_args=[*UNBRAKED, *extra_args],
        data_converter=pydantic_data_converter,
    )
