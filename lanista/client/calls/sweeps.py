"""Calls about sweeps."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import TYPE_CHECKING, Any

from lanista.client.calls.call import Call, Listing, change, drop_none, get, path_to

if TYPE_CHECKING:
    from api.schemas.sweeps import Importances, Sweep, SweepSummary, SweepTrial
    from api.schemas.trials import CheckedFile


def sweeps(
    *, project: str | None = None, name: str | None = None, status: Sequence[str] = (), page_size: int = 100
) -> Listing[SweepSummary]:
    """Sweeps, the newest first."""
    from api.schemas.sweeps import SweepSummary

    query = drop_none({"project": project, "name": name, "status": list(status) or None})
    return Listing(path=path_to("sweeps"), item=SweepSummary, query=query, page_size=page_size)


def sweep(sweep_id: str) -> Call[Sweep]:
    """One sweep with its file."""
    from api.schemas.sweeps import Sweep

    return get(path_to("sweeps", sweep_id), Sweep)


def create_sweep(*, name: str, spec: Mapping[str, Any], project: str = "default") -> Call[Sweep]:
    """Create a sweep. `spec` is a sweep file without `project` and `sweep`, with the trial itself as `trial`."""
    from api.schemas.sweeps import Sweep

    return change("POST", path_to("sweeps"), Sweep, {"project": project, "name": name, "spec": dict(spec)})


def validate_sweep(*, spec: Mapping[str, Any] | None = None, text: str | None = None) -> Call[CheckedFile]:
    """All problems of a sweep, or of a sweep file (`text`) with the trial itself as `trial`; nothing is created."""
    from api.schemas.trials import CheckedFile

    return change("POST", path_to("sweeps", "validate"), CheckedFile, {"spec": spec, "text": text})


def sweep_trials(sweep_id: str, *, page_size: int = 100) -> Listing[SweepTrial]:
    """The sweep's trials by number, with their values at rungs."""
    from api.schemas.sweeps import SweepTrial

    return Listing(path=path_to("sweeps", sweep_id, "trials"), item=SweepTrial, page_size=page_size)


def sweep_importances(sweep_id: str) -> Call[Importances]:
    """How much each field of the space matters."""
    from api.schemas.sweeps import Importances

    return get(path_to("sweeps", sweep_id, "importances"), Importances)


def pause_sweep(sweep_id: str) -> Call[Sweep]:
    """Pause a sweep and its trials."""
    from api.schemas.sweeps import Sweep

    return change("POST", path_to("sweeps", sweep_id, "pause"), Sweep)


def resume_sweep(sweep_id: str) -> Call[Sweep]:
    """Resume a paused sweep."""
    from api.schemas.sweeps import Sweep

    return change("POST", path_to("sweeps", sweep_id, "resume"), Sweep)


def stop_sweep(sweep_id: str, *, reason: str | None = None) -> Call[Sweep]:
    """Stop a sweep and its trials; what they recorded stays."""
    from api.schemas.sweeps import Sweep

    return change("POST", path_to("sweeps", sweep_id, "stop"), Sweep, {"reason": reason})
