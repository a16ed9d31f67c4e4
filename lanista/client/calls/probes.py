"""Calls about probes."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING

from lanista.client.calls.call import Call, Listing, change, drop_none, get, path_to

if TYPE_CHECKING:
    from api.schemas.probes import Probe


def probes(
    *,
    trial_id: str | None = None,
    version_id: str | None = None,
    status: Sequence[str] = (),
    page_size: int = 50,
) -> Listing[Probe]:
    """Probes, the newest first."""
    from api.schemas.probes import Probe

    query = drop_none({"trial_id": trial_id, "version_id": version_id, "status": list(status) or None})
    return Listing(path=path_to("probes"), item=Probe, query=query, page_size=page_size)


def probe(probe_id: str) -> Call[Probe]:
    """One probe with its responders."""
    from api.schemas.probes import Probe

    return get(path_to("probes", probe_id), Probe)


def create_probe(
    *,
    version_id: str | None = None,
    trial_id: str | None = None,
    responders: int = 3,
    steps: int = 200_000,
    games: int = 200,
    seed: int = 0,
) -> Call[Probe]:
    """Train fresh responders against a version, or against the mixture of a trial's snapshots."""
    from api.schemas.probes import Probe

    spec = {"responders": responders, "steps": steps, "games": games, "seed": seed}
    body = {"version_id": version_id, "trial_id": trial_id, "spec": spec}
    return change("POST", path_to("probes"), Probe, body)


def stop_probe(probe_id: str, *, reason: str | None = None) -> Call[Probe]:
    """Stop a probe, its trials and its games."""
    from api.schemas.probes import Probe

    return change("POST", path_to("probes", probe_id, "stop"), Probe, None if reason is None else {"reason": reason})
