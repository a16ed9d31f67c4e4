"""The trial file as one typed tree. `orchestrator.spec.reading` reads and checks files of it.

Pydantic and the standard library only: workflows import it.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from orchestrator.spec.reading.problems import InvalidTrial, Problem
    from orchestrator.spec.trial import TrialFile, TrialSpec, trial_json_schema

__all__ = ["InvalidTrial", "Problem", "TrialFile", "TrialSpec", "trial_json_schema"]


def __getattr__(name: str) -> Any:
    """Builds the tree on first use: most commands need only a module of values."""
    if name in ("InvalidTrial", "Problem"):
        from orchestrator.spec.reading import problems

        return getattr(problems, name)
    if name in __all__:
        from orchestrator.spec import trial

        return getattr(trial, name)
    raise AttributeError(f"module 'orchestrator.spec' has no attribute {name!r}")
