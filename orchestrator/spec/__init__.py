"""The trial file as one typed tree. Reading YAML is in `orchestrator.spec.loading`, checks in `.checking`.

Pydantic and the standard library only: workflows import it.
"""

from orchestrator.spec.problems import InvalidTrial, Problem
from orchestrator.spec.trial import TrialFile, TrialSpec, trial_json_schema

__all__ = ["InvalidTrial", "Problem", "TrialFile", "TrialSpec", "trial_json_schema"]
