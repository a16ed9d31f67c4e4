"""A connection to a stack's Temporal, with the keys of its data folder."""

from __future__ import annotations

from temporalio.client import Client

from lanista.stack.home import Home
from lanista.stack.reach import reach
from orchestrator.contracts.workflows import player_workflow_id
from orchestrator.settings import TemporalSettings
from orchestrator.temporal import connect

player_workflow = player_workflow_id


async def temporal_client(home: Home) -> Client:
    """Connect as the API does: it can read and stop every workflow."""
    settings = TemporalSettings.load(
        temporal_address=reach(home)["LANISTA_TEMPORAL_ADDRESS"],
        temporal_key=home.secret("temporal.key"),
        temporal_train_key=home.secret("temporal-train.key"),
    )
    return await connect(settings)
